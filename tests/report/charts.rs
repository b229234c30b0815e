//! Declared charts in whole reports: exactly these, in their order, and a caution for what the record cannot give.

use super::{committed, files, pictures, text};
use crate::analyse::{add_metric, add_variant, row};
use shakedown::analyse::analyse;
use shakedown::model::chart::{ChartDecl, ChartKind};
use shakedown::model::estimate::Analysis;
use shakedown::model::metric::{Better, Unit};
use shakedown::model::results::Results;
use shakedown::model::sequence::{Drift, Residual};
use shakedown::model::spec::ParseSpec;
use shakedown::report::charts::Fonts;
use shakedown::report::page::Own;
use shakedown::report::{CHARTS, makes, render};

fn of(kind: ChartKind) -> ChartDecl {
    ChartDecl::of(kind)
}

/// The sentences about declared charts that a record cannot give.
fn absent_charts(results: &Results, analysis: &Analysis) -> Vec<String> {
    render(results, analysis, &Fonts::embedded(), &Own::default(), false).expect("a report").absent
}

/// The SVG of every chart.
fn vectors(results: &Results, analysis: &Analysis) -> Vec<(String, Vec<u8>)> {
    let made = render(results, analysis, &Fonts::embedded(), &Own::default(), true).expect("a report").files;
    made.into_iter().filter(|(name, _)| name.ends_with(".svg")).collect()
}

fn with(charts: Vec<ChartDecl>) -> Results {
    let mut results = committed();
    results.presentation.charts = Some(charts);
    results
}

#[test]
fn exactly_the_declared_charts_are_drawn_in_their_order() {
    let user = ChartDecl { metric: Some("user".into()), title: Some("Who <b>runs</b>?".into()), svg: true, ..of(ChartKind::Bars) };
    let line = ChartDecl { x: Some("cpus".into()), ..of(ChartKind::Line) };
    let results = with(vec![user, of(ChartKind::Trials), line, of(ChartKind::Trials)]);
    let made = files(&results);
    assert_eq!(pictures(&made), ["user-bars.png", "real-trials.png", "real-by-cpus.png", "real-trials-again-2.png"]);
    let page = text(&made, "README.md");
    let places: Vec<usize> = pictures(&made).iter().map(|file| page.find(&format!("({file})")).expect("on the page")).collect();
    assert!(places.is_sorted(), "{places:?}");
    let svg = text(&made, "user-bars.svg");
    assert!(svg.contains("<title>median user by variant as bars from zero, every trial a point</title>"), "{}", &svg[..400]);
    assert!(svg.contains("aria-label=\"Who &lt;b&gt;runs&lt;/b&gt;?\""));
    assert!(made.iter().all(|(name, _)| makes(name)), "an earlier report's files are known by their names");
    assert!(made == files(&results), "the same record gives the same bytes");
}

#[test]
fn an_empty_list_draws_nothing_and_everything_else_stays() {
    let made = files(&with(Vec::new()));
    assert_eq!(pictures(&made), Vec::<&str>::new());
    assert!(absent_charts(&committed(), &analyse(&committed())).is_empty(), "what nobody asked for is missed by nobody");
    let others = |made: &[(String, Vec<u8>)]| made.iter().filter(|(name, _)| name.ends_with(".csv")).cloned().collect::<Vec<_>>();
    assert_eq!(others(&made), others(&files(&committed())));
}

#[test]
fn what_the_record_cannot_give_is_a_caution_and_no_failure() {
    let never = ChartDecl { metric: Some("latency_p99".into()), ..of(ChartKind::Trials) };
    let gone = ChartDecl { x: Some("network".into()), ..of(ChartKind::Line) };
    let results = with(vec![never, gone, of(ChartKind::Cpu), of(ChartKind::Series), of(ChartKind::Trials)]);
    let expected = [
        "the declared chart `trials` of `latency_p99` is missing: no trial that counts has `latency_p99`",
        "the declared chart `line` is missing: there is no factor `network`",
        "the declared chart `cpu` is missing: no trial tells it",
        "the declared chart `series` is missing: no trial tells it",
    ];
    assert_eq!(absent_charts(&results, &analyse(&results)), expected);
    let made = files(&results);
    assert_eq!(pictures(&made), ["real-trials.png"]);
    let page = text(&made, "README.md");
    assert!(page.contains("The declared chart `trials` of `latency_p99` is missing: no trial that counts has `latency_p99`"), "{page}");
}

#[test]
fn every_kind_gives_a_chart_or_says_why_not() {
    for info in CHARTS {
        let results = with(vec![of(info.kind)]);
        let said = absent_charts(&results, &analyse(&results));
        assert_eq!(pictures(&files(&results)).is_empty(), !said.is_empty(), "{}: {said:?}", info.kind.word());
    }
}

#[test]
fn all_charts_come_as_vectors_when_somebody_wants_them() {
    let results = committed();
    let made = vectors(&results, &analyse(&results));
    assert_eq!(made.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["real-effects.svg", "real-by-cpus.svg", "real-trials.svg"]);
}

/// Two variants and the A/A copy with five trials each, whose percentiles stand on so many requests.
fn served(requests: f64) -> Results {
    let mut results = crate::analyse::results("network", "latency_p99", Unit::SECOND, Better::Lower, &[]);
    for name in ["latency_p50", "latency_p90", "latency_p999", "requests"] {
        add_metric(&mut results, name, if name == "requests" { Unit::ONE } else { Unit::SECOND }, None);
        results.metrics.last_mut().expect("a metric").declared = false;
    }
    for (text, base) in [("host", 0.004), ("bridge", 0.006), ("host#aa", 0.004)] {
        let variant = add_variant(&mut results, text, &["workload"]);
        results.variants[variant].spec.workloads[0].parse = vec![ParseSpec::Tool("wrk".into())];
        for block in 1..=5 {
            let value = base * (1.0 + 0.01 * f64::from(block));
            let metrics = [
                ("latency_p50", value),
                ("latency_p90", value * 1.5),
                ("latency_p99", value * 2.0),
                ("latency_p999", value * 9.0),
                ("requests", requests),
            ];
            let row = row(&results, variant, block, &metrics);
            results.rows.push(row);
        }
    }
    results
}

/// The words on the charts of a kind, drawn as vectors.
fn words(results: &Results, analysis: &Analysis, kind: ChartKind) -> Vec<String> {
    let mut results = results.clone();
    results.presentation.charts = Some(vec![of(kind)]);
    let drawn = vectors(&results, analysis);
    let written = |(_, svg): &(String, Vec<u8>)| {
        let text = String::from_utf8(svg.clone()).expect("text");
        let document = roxmltree::Document::parse(&text).expect("XML");
        document.descendants().filter_map(|node| node.attribute("aria-label").map(str::to_owned)).collect::<Vec<_>>()
    };
    drawn.iter().flat_map(written).collect()
}

#[test]
fn percentiles_of_a_declared_family_are_drawn_as_far_as_the_requests_support_them() {
    let results = served(5000.0);
    assert_eq!(pictures(&files(&results)), ["latency_p99-effects.png", "latency_p99-trials.png", "latency-percentiles.png"]);
    let said = words(&results, &analyse(&results), ChartKind::Percentiles);
    let says = |words: &str| said.iter().any(|said| said.contains(words));
    assert!(says("p99") && !says("p99.9"), "5000 requests have 5 beyond p99.9: {said:?}");
    assert!(
        says("of N requests not beyond 1 − 10/N") && says("closed loop: service time at saturation") && says("n = 5 trials per variant")
    );
    assert!(says("network=host (baseline)") && says("network=bridge") && !says("A/A"));
    let enough = words(&served(10_000.0), &analyse(&results), ChartKind::Percentiles);
    assert!(enough.iter().any(|said| said == "p99.9") && !enough.iter().any(|said| said.contains("10/N")), "{enough:?}");
    let mut open = served(5000.0);
    open.variants[0].spec.workloads[0].unit.command = vec!["sh".into(), "-c".into(), "wrk2 -R2000 http://x/".into()];
    assert!(!words(&open, &analyse(&open), ChartKind::Percentiles).iter().any(|said| said.contains("closed loop")));
    let few = served(9.0);
    let said = absent_charts(&Results { presentation: with(vec![of(ChartKind::Percentiles)]).presentation, ..few.clone() }, &analyse(&few));
    assert_eq!(said, ["the declared chart `percentiles` is missing: no percentile has ten requests beyond it"]);
    let mut undeclared = served(5000.0);
    undeclared.metrics[0].declared = false;
    assert_eq!(pictures(&files(&undeclared)), ["latency_p99-effects.png", "latency_p99-trials.png"], "nobody declared a percentile");
}

/// The rows in the order in which they stand, falling by `fall` from the first to the last.
fn drift(results: &Results, p: f64, fall: f64) -> Drift {
    let n = results.rows.len();
    let residual = |row: usize| Residual { row, log: fall * (0.5 - row as f64 / (n - 1) as f64) };
    Drift { residuals: (0..n).map(residual).collect(), p: Some(p), change: -fall, autocorrelation: Some(0.42) }
}

#[test]
fn drift_is_drawn_where_there_is_one_and_where_it_is_asked_for() {
    let results = served(5000.0);
    let mut analysis = analyse(&results);
    let drawn = |results: &Results, analysis: &Analysis| {
        let made = render(results, analysis, &Fonts::embedded(), &Own::default(), false).expect("a report").files;
        pictures(&made).into_iter().filter(|name| name.starts_with("drift")).count()
    };
    analysis.drift = Some(drift(&results, 0.4, 0.0));
    assert_eq!(drawn(&results, &analysis), 0);
    let calm = words(&results, &analysis, ChartKind::Drift);
    let said = "no drift shown, Mann-Kendall p = 0.40; lag-1 autocorrelation 0.42 · ";
    assert!(calm.iter().any(|words| words.starts_with(said)) && !calm.iter().any(|words| words.contains("least-squares")), "{calm:?}");
    analysis.drift = Some(drift(&results, 0.000_001, 0.2));
    assert_eq!(drawn(&results, &analysis), 1);
    let told = words(&results, &analysis, ChartKind::Drift);
    assert!(told.iter().any(|words| words.starts_with("drift, Mann-Kendall p < 0.0001")), "{told:?}");
    assert!(told.iter().any(|words| words == "least-squares line of a run") && told.iter().any(|words| words == "n = 15 trials"));
    analysis.drift = None;
    assert_eq!(absent_charts(&Results { presentation: with(vec![of(ChartKind::Drift)]).presentation, ..results }, &analysis).len(), 1);
}

#[test]
fn the_subtitle_counts_the_blocks_that_have_a_trial_that_counts() {
    let mut results = served(5000.0);
    crate::analyse::add_run(&mut results);
    let mut elsewhere = row(&results, 0, 1, &[("latency_p99", 1.0)]);
    elsewhere.variant = None;
    results.rows.push(elsewhere);
    let said = words(&results, &analyse(&results), ChartKind::Trials);
    assert!(said.iter().any(|words| words.starts_with("5 randomised blocks, seed 7 · clean 15 of 15 trials")), "{said:?}");
}
