//! What factors do, alone and to each other, and whether the machine held still: from numbers that are made up.

use super::{example, in_html, page};
use shakedown::analyse::analyse;
use shakedown::model::estimate::{Analysis, Effect, Verdict};
use shakedown::model::factorial::{Interaction, MainEffect, SimpleEffect, Trend};
use shakedown::model::plan::FactorSummary;
use shakedown::model::results::Results;
use shakedown::model::sequence::{Drift, Modes, Residual};
use shakedown::report::answers;

fn effect(ratio: f64, verdict: Verdict) -> Effect {
    Effect {
        n: 10,
        ratio,
        low: Some(ratio * 0.98),
        high: Some(ratio * 1.02),
        simultaneous: Some((ratio * 0.97, ratio * 1.03)),
        hodges_lehmann: Some(ratio * 1.001),
        fragile: false,
        equivalence: None,
        p: Some(0.002),
        p_adjusted: Some(0.004),
        verdict,
        detectable: None,
    }
}

fn two_factors() -> (Results, Analysis) {
    let mut results = example();
    results.factors.push(FactorSummary { name: "net".into(), levels: vec!["host".into(), "bridge".into()] });
    let main = |factor, level, effect, depends_on, simple| MainEffect {
        metric: "wall".into(),
        factor,
        level,
        against: 0,
        combinations: 2,
        effect,
        engine_starts: None,
        lost: None,
        too_short: false,
        depends_on,
        simple,
    };
    let simple = |level, ratio| SimpleEffect { factor: 0, level, effect: effect(ratio, Verdict::Undecided) };
    let fragile = Effect { fragile: true, ..effect(1.30, Verdict::Different) };
    let analysis = Analysis {
        main_effects: vec![
            main(0, 1, effect(2.0, Verdict::Different), vec![], vec![]),
            main(1, 1, fragile, vec![0], vec![simple(0, 1.1), simple(1, 1.6)]),
        ],
        interactions: vec![Interaction {
            metric: "wall".into(),
            factors: (0, 1),
            levels: (1, 1),
            against: (0, 0),
            combinations: 1,
            effect: effect(1.45, Verdict::Different),
            engine_starts: Some(3),
            lost: Some((1, 10)),
        }],
        trends: vec![Trend {
            metric: "wall".into(),
            factor: 0,
            doubling: effect(0.52, Verdict::Different),
            bend: effect(1.2, Verdict::Different),
        }],
        drift: Some(Drift {
            residuals: (0..24).map(|row| Residual { row, log: 0.0 }).collect(),
            p: Some(0.002),
            change: -0.06,
            autocorrelation: Some(0.45),
        }),
        modes: vec![Modes { variant: Some(1), n: 24, lower: 0.3, gap: 1.054 }, Modes { variant: None, n: 60, lower: 0.25, gap: 1.1 }],
        ..Analysis::default()
    };
    (results, analysis)
}

#[test]
fn factors_have_their_tables() {
    let (results, analysis) = two_factors();
    let made = page(&results, &analysis, &[], None).expect("a page");
    for said in [
        "\n## Factors\n\n### Main effects\n\n| what | compared with | metric | ratio |",
        "\n| `cpus=0.5` | `cpus=1` | `wall` | 2.000 | 1.960 to 2.040 | +100 % | 10 | 0.0040 | **different** (worse) |\n",
        "| 0.0040 | **different** (worse); depends on `cpus`; *fragile* |\n| … at `cpus=1` | | | 1.100 | 1.078 to 1.122 | +10 % | 10 | | |\n",
        "\n### Interactions\n\n| what | compared with | metric | ratio of ratios |",
        "\n| `cpus=0.5` with `net=bridge` | `cpus=1` with `net=host` | `wall` | 1.450 |",
        "| 3 engine starts | 0.0040 | **different**; 1 of 10 blocks lack a trial that it needs |\n",
        "\n### Trends\n\n| what | compared with | metric | ratio per doubling |",
        "\n| `cpus` doubled | `cpus` | `wall` | 0.520 |",
        "**different** (better); not straight: the ratio itself changes by 1.200 times per doubling |\n",
        "Fragile: the verdict hangs on few trials",
    ] {
        assert!(made.contains(said), "{said}\n{made}");
    }
    super::assert_tables_hold(&made);
    let html = in_html(&results, &analysis);
    for said in [
        "<caption>Main effects</caption>",
        "<span class=\"pill different worse\"><span class=\"mark\" aria-hidden=\"true\">≠</span>different (worse)</span> <em>fragile</em>",
        "<td class=\"n\" data-value=\"1.3\">1.300<span class=\"also\">Hodges-Lehmann 1.301</span></td>",
        "<tr class=\"sub\"><th scope=\"row\">at <code dir=\"auto\">cpus=1</code></th>",
        "<span class=\"also\">depends on <code dir=\"auto\">cpus</code></span>",
    ] {
        assert!(html.contains(said), "{said}\n{html}");
    }
}

#[test]
fn it_is_told_whether_the_machine_held_still() {
    let (results, mut analysis) = two_factors();
    let made = page(&results, &analysis, &[], None).expect("a page");
    for said in [
        "\n## Did the machine hold still?\n\n- **It drifted**: from the first to the last trial of a run the level changed by about -6.0 % (",
        "over n = 24 trials in the order in which they ran: p = 0.0020)",
        "\n- **Its noise is slow**: trials that ran one after the other are alike (correlation 0.45)",
        "\n- **Two groups**: the trials of `cpus=0.5` fall into two groups 5.4 % apart, 30 % of n = 24 in the lower one",
        "\n- **Two groups**: the trials of all variants, each over its own level, fall into",
    ] {
        assert!(made.contains(said), "{said}\n{made}");
    }
    let banner = "<strong>The level drifted while it was measured.</strong>";
    let html = in_html(&results, &analysis);
    let (at, method) = (html.find(banner).expect(banner), html.find("<h2 id=\"method\">").expect("method"));
    assert!(at < method && html.contains("<a href=\"#stillness\">") && html.contains("<h2 id=\"stillness\">"), "{html}");
    let drift = analysis.drift.as_mut().expect("made above");
    (drift.p, drift.autocorrelation) = (Some(0.4), Some(0.1));
    analysis.modes.clear();
    let made = page(&results, &analysis, &[], None).expect("a page");
    assert!(made.contains("\n## Did the machine hold still?\n\n- No drift was found (Mann-Kendall test over n = 24 trials"), "{made}");
    assert!(!in_html(&results, &analysis).contains(banner));
    assert!(!made.contains("noise is slow") && !made.contains("Two groups"), "{made}");
}

#[test]
fn factors_are_answered_before_variants_and_say_why_they_are_not() {
    let (results, mut analysis) = two_factors();
    analysis.comparisons = analyse(&results).comparisons;
    let said = |analysis: &Analysis| answers(&results, analysis);
    let both = said(&analysis);
    assert_eq!(
        both[..2],
        [
            "cpus=0.5 takes 2.000 times as long as cpus=1 over 2 combinations of the other factors (1.960 to 2.040, n = 10): different (worse)",
            "net=bridge takes 1.300 times as long as net=host over 2 combinations of the other factors (1.274 to 1.326, n = 10): different (worse); but it depends: 1.100 at cpus=1, 1.600 at cpus=0.5",
        ]
    );
    assert!(both[2].contains(" takes ") && !both[2].contains("combinations"), "{both:?}");
    let end = |analysis: &Analysis| said(analysis)[1].rsplit_once("): ").expect("an end").1.to_owned();
    analysis.main_effects[1].effect.verdict = Verdict::Undecided;
    analysis.main_effects[1].engine_starts = Some(3);
    assert_eq!(end(&analysis), "undecided; insufficient engine starts: 3 of 5");
    analysis.main_effects[1].engine_starts = None;
    analysis.main_effects[1].lost = Some((3, 10));
    assert_eq!(end(&analysis), "undecided; 3 of 10 blocks lack a trial that it needs");
    analysis.main_effects[1].too_short = true;
    assert_eq!(end(&analysis), "too short to trust");
}
