//! Derived metrics: computed from what was recorded, absent where something is absent.

use super::wrong;
use shakedown::model::experiment::MetricDecl;
use shakedown::model::metric::{Observation, Unit};
use shakedown::model::tree::Span;
use shakedown::plan::derive::Derived;

fn metric(name: &str, expr: &str) -> MetricDecl {
    let unit = Some(Unit::SECOND);
    MetricDecl { name: name.into(), better: None, primary: false, expr: Some(expr.into()), unit, about: None, span: Span::default() }
}

fn observed(pairs: &[(&str, f64)]) -> Vec<Observation> {
    pairs.iter().map(|(name, value)| Observation::finite(*name, *value, Unit::ONE).expect("finite")).collect()
}

/// What formulas add to observations, and what they complain of.
fn add(formulas: &[(&str, &str)], given: &[(&str, f64)]) -> (Vec<(String, f64)>, Vec<String>) {
    let declared: Vec<MetricDecl> = formulas.iter().map(|(name, expr)| metric(name, expr)).collect();
    let (derived, mut problems) = Derived::new(&declared);
    let serde_json::Value::Object(names) = serde_json::json!({"size": 4, "mode": "fast", "price": {"month": 20.5}}) else { unreachable!() };
    let mut observations = observed(given);
    problems.extend(derived.add(&names, &mut observations).into_iter().map(|(_, problem)| problem));
    let added = observations.split_off(given.len());
    assert!(added.iter().all(|observation| observation.unit == Unit::SECOND));
    (added.into_iter().map(|observation| (observation.name, observation.value)).collect(), problems)
}

#[test]
fn formulas_read_metrics_factors_and_vars() {
    let given = &[("wall", 2.0), ("zero", 0.0), ("a.real", 3.0), ("b.real", 6.0), ("b.user", 1.0)];
    let table: &[(&str, Option<f64>)] = &[
        ("wall * 10", Some(20.0)),
        ("wall / size", Some(0.5)),
        ("wall / price.month", Some(2.0 / 20.5)),
        ("b.real / a.real", Some(2.0)),
        ("b.real / a.user", None),
        ("c.real / a.real", None),
        ("absent * 2", None),
        ("wall if mode == 'fast' else absent2", None),
        ("wall if mode == 'fast' else zero", Some(2.0)),
        ("-wall", Some(-2.0)),
    ];
    for (expr, expected) in table {
        let (added, problems) = add(&[("x", expr)], given);
        assert_eq!(added.first().map(|(_, value)| *value), *expected, "{expr}");
        assert_eq!(problems, Vec::<String>::new(), "{expr}");
    }
}

#[test]
fn a_division_by_zero_is_no_number() {
    for expr in ["wall / zero", "zero / zero", "wall // zero", "wall % zero", "1 / (wall - wall)"] {
        let (added, problems) = add(&[("x", expr), ("y", "wall")], &[("wall", 2.0), ("zero", 0.0)]);
        assert_eq!(added, [("y".to_owned(), 2.0)], "{expr}");
        assert!(problems.len() <= 1, "{expr}: {problems:?}");
    }
}

#[test]
fn one_bad_formula_does_not_hide_the_others() {
    let (added, problems) = add(&[("a", "wall + mode"), ("b", "wall <"), ("c", "wall * 2"), ("d", "mode")], &[("wall", 2.0)]);
    assert_eq!(added, [("c".to_owned(), 4.0)]);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].starts_with("metric `b`: `wall <` cannot be read"), "{problems:?}");
    assert!(problems[1].starts_with("metric `a`: `wall + mode`"), "{problems:?}");
    assert_eq!(problems[2], "metric `d`: `mode` gives string, not a number");
}

#[test]
fn formulas_may_stand_before_those_they_read() {
    let (added, problems) = add(&[("c", "b + 1"), ("b", "a + 1"), ("a", "wall + 1")], &[("wall", 1.0)]);
    assert_eq!(added, [("a".to_owned(), 2.0), ("b".to_owned(), 3.0), ("c".to_owned(), 4.0)]);
    assert_eq!(problems, Vec::<String>::new());
    let (added, problems) = add(&[("a", "b"), ("b", "a"), ("c", "wall")], &[("wall", 1.0)]);
    assert_eq!(added, [("c".to_owned(), 1.0)]);
    assert_eq!(problems, ["metric `a`: its formula needs itself", "metric `b`: its formula needs itself"]);
}

#[test]
fn declared_metrics_are_checked_when_planning() {
    let table = [
        ("metrics: {walls: {better: lower}}", "1:11: no parser yields a metric `walls` / did you mean `wall`?"),
        ("metrics: {x: {expr: wal * 2}}", "1:11: `wal` in `wal * 2` is not known; did you mean `wall`?"),
        ("metrics: {x: {expr: wall *}}", "1:11: `wall *` cannot be read: "),
        (
            "metrics: {wall: {expr: wall * 2}}",
            "1:11: `wall` is measured already, so no formula can give it / give the derived metric a name of its own",
        ),
        (
            "metrics: {wall: {unit: ms}}",
            "1:11: `wall` is measured and has its unit: none can be declared / drop `unit`; a metric of your own may convert it: `expr: ... * 1000`",
        ),
        ("metrics: {x: {expr: x + wall}}", "1:11: metric `x`: its formula needs itself"),
        ("metrics: {x: {expr: y}, y: {expr: wall}, z: {expr: 'a * wall / host.cpus'}}", ""),
    ];
    for (metrics, expected) in table {
        let found = wrong(&format!("{metrics}\nmatrix: {{a: [1, 2]}}\nworkload: {{image: tool}}\n"));
        match expected {
            "" => assert_eq!(found, Vec::<String>::new()),
            _ => assert!(found.len() == 1 && found[0].starts_with(expected), "{metrics}: {found:?}"),
        }
    }
    let several = "metrics: {x: {expr: a.wall / b.wall}, a.wall: {better: lower}}\nworkloads: {a: {image: t}, b: {image: t}}\n";
    assert_eq!(wrong(several), Vec::<String>::new());
    assert_eq!(wrong(&several.replace("b.wall}", "c.wall}")).len(), 1);
}

#[test]
fn services_and_engines_have_metrics_too() {
    let setup = "services: {web: {image: t, ports: ['80']}}\nengine: {storage_driver: vfs}\nworkload: {image: t}\n";
    let with = |metric: &str, setup: &str| wrong(&format!("metrics: {{{metric}: {{better: lower}}}}\n{setup}"));
    let native = "workload: {on: host, command: x}\n";
    let table = [
        ("web.cpu_seconds", setup.to_owned(), true),
        ("web.wall", setup.to_owned(), false),
        ("engine_cpu_seconds", setup.to_owned(), true),
        ("engine_cpu_seconds", native.to_owned(), false),
        // One variant that can have it is enough.
        ("old.memory_peak", format!("matrix: {{p: {{a: {{}}, b: {{services: {{old: {{image: t}}}}}}}}}}\n{setup}"), true),
    ];
    for (metric, setup, known) in table {
        let found = with(metric, &setup);
        let refused = found.len() == 1 && found[0].contains(&format!("no parser yields a metric `{metric}`"));
        assert!(if known { found.is_empty() } else { refused }, "{metric}: {found:?}\n{setup}");
    }
}
