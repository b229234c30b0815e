//! Declared charts in whole reports: exactly these, in their order, and a caution for what the record cannot give.

use super::{committed, files, pictures, text};
use shakedown::analyse::analyse;
use shakedown::model::chart::{ChartDecl, ChartKind};
use shakedown::model::results::Results;
use shakedown::report::charts::Fonts;
use shakedown::report::{CHARTS, absent_charts, makes, vectors};

fn of(kind: ChartKind) -> ChartDecl {
    ChartDecl::of(kind)
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
    let made = vectors(&results, &analyse(&results), &Fonts::embedded()).expect("drawn");
    assert_eq!(made.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["real-effects.svg", "real-by-cpus.svg", "real-trials.svg"]);
}
