//! Declared charts: what is wrong with them is said at plan time, all at once, and what is right is in the plan.

use super::{saved_plan, wrong};
use shakedown::model::chart::{ChartDecl, ChartKind, Sort};
use shakedown::model::plan::SavedPlan;

const BASE: &str = "\
matrix: {network: [host, bridge], cpus: [0.5, 1], memory: [64m, 1g]}
workload: {image: tool, command: ab, parse: ab}
metrics: {requests_per_second: {primary: true}, latency_p99: {}}
";

fn with(charts: &str) -> String {
    format!("{BASE}charts:\n{charts}")
}

#[test]
fn what_a_chart_cannot_have_is_an_error_with_its_place_and_the_nearest_name() {
    let cpus = "`trials`, `bars` and `effects` have a row for every variant";
    let table: [(&str, &str); 14] = [
        ("{kind: trials, metric: latency_p9}", "5:26: there is no metric `latency_p9` / did you mean `latency_p90`?"),
        ("{kind: line, x: cpu}", "5:19: there is no factor `cpu` / did you mean `cpus`?"),
        ("{kind: line, x: zzzz}", "5:19: there is no factor `zzzz` / known: network, cpus, memory"),
        ("{kind: line, x: network}", &format!("5:19: a line goes over a factor of numbers, and `network` has the level `host` / {cpus}")),
        ("{kind: line, x: memory}", &format!("5:19: a line goes over a factor of numbers, and `memory` has the level `64m` / {cpus}")),
        ("{kind: trials, x: cpus}", "5:21: a chart `trials` has no `x` / it shows all trials of every variant; known: metric, title, svg"),
        (
            "{kind: heat-map, x: cpus, y: network, sort: effect}",
            "5:47: a chart `heat-map` has no `sort` / it shows the ratio to the baseline over two factors; known: metric, x, y, title, svg",
        ),
        ("{kind: interactions, x: cpus, y: cpus}", "5:36: `x` and `y` are both `cpus` / name two factors"),
        ("{kind: heat-map, x: cpus, y: netwrk}", "5:32: there is no factor `netwrk` / did you mean `network`?"),
        ("{kind: cpu, metric: wall}", "5:23: a chart `cpu` has no `metric` / it shows where the CPU time went; known: title, svg"),
        ("{kind: effects, metric: wall}", "5:27: `wall` is not compared, so there are no effects to draw / declare it under `metrics:`"),
        ("{kind: percentiles, metric: latency_p9}", "5:31: there is no metric `latency_p9` / did you mean `latency_p90`?"),
        (
            "{kind: percentiles, metric: requests_per_second}",
            "5:31: `requests_per_second` is no percentile / known: latency_p50, latency_p66, latency_p75, latency_p80, latency_p90, latency_p95, latency_p98, latency_p99",
        ),
        ("{kind: bars, title: Bars, svg: true, metric: wall}", ""),
    ];
    for (chart, expected) in table {
        let said = wrong(&with(&format!("- {chart}\n")));
        let expected: Vec<&str> = Some(expected).filter(|expected| !expected.is_empty()).into_iter().collect();
        assert_eq!(said, expected, "{chart}");
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once_beside_other_problems() {
    let charts = "- {kind: line, x: cpu}\n- {kind: trials, metric: wal}\n- {kind: cpu, sort: effect}\n";
    let said = wrong(&with(charts).replace("latency_p99: {}", "latency_p9: {}, ten: {expr: wal * 10}"));
    assert_eq!(said.len(), 5, "{said:#?}");
    let unbound = wrong(&with(charts).replace("command: ab", "command: 'ab {{ nam }}'"));
    assert!(unbound.iter().any(|problem| problem.contains("no factor `cpu`")), "{unbound:#?}");
    let mut rules = wrong(&format!("{}exclude: [{{when: cpus + }}]\n", with(charts)));
    rules.retain(|problem| problem.contains("no factor `cpu`"));
    assert_eq!(rules.len(), 1, "rules that are wrong hide no chart");
}

#[test]
fn charts_are_saved_in_their_order_and_only_where_they_are_declared() {
    let text = with(
        "- {kind: effects, sort: effect, title: Who wins?}\n- {kind: line, metric: latency_p99, x: cpus, svg: true}\n- {kind: heat-map, x: network, y: cpus}\n",
    );
    let saved = serde_json::to_string(&saved_plan(&text)).expect("JSON");
    let expected = r#""charts":[{"kind":"effects","title":"Who wins?","sort":"effect"},{"kind":"line","metric":"latency_p99","x":"cpus","svg":true},{"kind":"heat-map","x":"network","y":"cpus"}]"#;
    assert!(saved.contains(expected), "{saved}");
    let back: SavedPlan = serde_json::from_str(&saved).expect("a plan");
    let charts = back.presentation.charts.expect("charts");
    let effects = ChartDecl { title: Some("Who wins?".into()), sort: Some(Sort::Effect), ..ChartDecl::of(ChartKind::Effects) };
    assert_eq!((charts.len(), &charts[0]), (3, &effects));

    let without = serde_json::to_string(&saved_plan(BASE)).expect("JSON");
    assert!(!without.contains("charts"), "plans that declare none stay what they were");
    assert_eq!(serde_json::from_str::<SavedPlan>(&without).expect("an old plan").presentation.charts, None);
    assert_eq!(saved_plan(&format!("{BASE}charts: []\n")).presentation.charts, Some(Vec::new()), "none are other than the usual ones");
    assert_eq!(saved_plan(&format!("{BASE}charts: {{kind: cpu}}\n")).presentation.charts.map(|charts| charts.len()), Some(1));
}
