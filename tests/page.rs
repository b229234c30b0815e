//! The page of a report: a whole one, hostile texts, and templates of other people.

mod factors;
mod hostile;
mod html;

use crate::analyse::starts::{hosted, private};
use crate::analyse::{add_metric, add_run, add_variant, fail, results, row};
use shakedown::analyse::analyse;
use shakedown::model::estimate::Analysis;
use shakedown::model::event::Attested;
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::{Outcome, Phase};
use shakedown::model::plan::primer_id;
use shakedown::model::results::Results;
use shakedown::report::answers;
use shakedown::report::page::{ChartRef, Own, PageError, pages};
use std::error::Error;

/// CPU limits over six blocks with an A/A copy, a second metric, settings read back, a failure and a second run.
pub fn example() -> Results {
    let base = [3.41, 3.44, 3.40, 3.52, 3.47, 3.43];
    let noise = [1.0, 1.004, 0.997, 1.002, 0.999, 1.003];
    let scaled = |by: f64| base.iter().zip(noise).map(|(b, e)| b * e * by).collect::<Vec<f64>>();
    let (half, double, near, loose) = (scaled(2.01), scaled(0.995), scaled(1.002), [3.1, 3.9, 3.3, 3.6, 3.2, 3.8]);
    let variants: [(&str, &[f64]); 4] = [("1", &base), ("0.5", &half), ("2", &double), ("loose", &loose)];
    let mut results = results("cpus", "wall", Unit::SECOND, Better::Lower, &variants);
    results.presentation.title = "What `--cpus` does to one thread".into();
    results.presentation.question = "Is half the CPU twice the time?".into();
    add_metric(&mut results, "memory_peak", Unit::BYTE, Some(Better::Lower));
    let copy = add_variant(&mut results, "1#aa", &["workload"]);
    for (block, value) in (1..).zip(&near) {
        let row = row(&results, copy, block, &[("wall", *value)]);
        results.rows.push(row);
    }
    for row in &mut results.rows {
        let bytes = f64::from(1_000_000 + 1000 * row.row.block * row.row.position);
        row.row.metrics.push(Observation { name: "memory_peak".into(), value: bytes, unit: Unit::BYTE });
        let found = if row.row.position == 2 { "50000/100000" } else { "max" };
        let attested = |setting: &str, asked: &str, found: Option<&str>| Attested {
            unit: "workload".into(),
            setting: setting.into(),
            asked: asked.into(),
            found: found.map(str::to_owned),
            source: "cpu.max".into(),
        };
        row.row.attested = vec![attested("cpu.quota", found, Some(found)), attested("network_mode", "host", None)];
    }
    add_run(&mut results);
    let mut failed = row(&results, 1, 1, &[]);
    fail(&mut failed, Phase::Measure, "`dd` ended with exit code 1");
    results.rows.push(failed);
    results.runs[1].finished = false;
    results.warnings = vec!["a neighbour used the CPU".into()];
    results
}

/// The page in Markdown; `template` is a person's own.
fn page(results: &Results, analysis: &Analysis, charts: &[ChartRef], template: Option<&str>) -> Result<String, PageError> {
    let own = Own { markdown: template.map(str::to_owned), html: None };
    let [(name, made), _] = pages(results, analysis, charts, &own)?.try_into().expect("two pages");
    assert_eq!(name, "README.md");
    Ok(made)
}

/// The page in HTML, without charts.
pub fn html_of(results: &Results) -> String {
    in_html(results, &analyse(results))
}

fn in_html(results: &Results, analysis: &Analysis) -> String {
    let [_, (name, made)] = pages(results, analysis, &[], &Own::default()).expect("pages").try_into().expect("two pages");
    assert_eq!(name, "index.html");
    made
}

fn charts() -> [ChartRef<'static>; 1] {
    [ChartRef { file: "wall effects.png".into(), alt: "Ratios of wall to cpus=1".into(), ..ChartRef::default() }]
}

#[test]
fn a_whole_page_reads_like_this() {
    let results = example();
    let analysis = analyse(&results);
    let made = page(&results, &analysis, &charts(), None).expect("a page");
    assert_eq!(page(&results, &analysis, &charts(), None).expect("a page"), made);
    snapbox::assert_data_eq!(made, snapbox::file!["pages/cpus.md"].raw());
}

/// Six blocks on three storage drivers, the copy of the baseline on an engine of its own.
fn drivers(starts: u32) -> Results {
    let base = [3.41, 3.44, 3.40, 3.52, 3.47, 3.43];
    let noise = [1.0, 1.004, 0.997, 1.002, 0.999, 1.003];
    let scaled = |by: f64| base.iter().zip(noise).map(|(b, e)| b * e * by).collect::<Vec<f64>>();
    let (slow, same) = (scaled(1.31), scaled(1.0));
    let mut results = results("driver", "wall", Unit::SECOND, Better::Lower, &[("overlay2", &base), ("vfs", &slow), ("cpus", &same)]);
    let copy = add_variant(&mut results, "overlay2#aa", &["workload"]);
    for (block, value) in (1..).zip(&same) {
        let row = row(&results, copy, block, &[("wall", *value)]);
        results.rows.push(row);
    }
    hosted(&mut results, &[private("overlay2"), private("vfs"), private("overlay2"), private("overlay2")], starts, 6);
    let mut primer = results.rows[0].clone();
    primer.row.trial = primer_id(&primer.row.trial);
    primer.row.outcome = Outcome::Primer;
    results.rows.insert(0, primer);
    results
}

#[test]
fn engine_starts_are_what_a_page_counts_where_engines_differ() {
    let made = |starts: u32| {
        let results = drivers(starts);
        page(&results, &analyse(&results), &[], None).expect("a page")
    };
    let (few, enough) = (made(3), made(6));
    for said in [
        "- Insufficient engine starts (3 of 5): no verdict on `driver=vfs`, of another engine than the baseline;",
        "n = 3 engine starts): **undecided**; insufficient engine starts: 3 of 5; so few reliably show only a difference of",
        "- A/A control: a second copy of the baseline is 1.0008 times the baseline (0.9977 to 1.0040, n = 3 engine starts); insufficient engine \
         starts: 3 of 5; so few",
        "| 3 engine starts | < 0.0001 | undecided (insufficient engine starts: 3 of 5) |",
        "| 6 | 0.48 | **equivalent** |",
        "as A/A control, on an engine that is started for it alone: what",
        "10 blocks under 3 starts of each private engine, seed 7.",
        "a trial was measured and thrown away (`primer` in trials.csv)",
        "the engine start is what is repeated: the logarithms of its blocks are averaged first",
    ] {
        assert!(few.contains(said), "{said}\n{few}");
    }
    for said in
        ["n = 6 engine starts): **different (worse)**", "| 6 engine starts | < 0.0001 | **different** (worse) |", "under 6 starts of each"]
    {
        assert!(enough.contains(said), "{said}\n{enough}");
    }
    let plain = answers(&drivers(3), &analyse(&drivers(3)));
    assert!(plain[0].contains("n = 3 engine starts): undecided; insufficient engine starts: 3 of 5;"), "{plain:?}");
    assert_eq!(plain.len(), 3, "nothing is advised twice: {plain:?}");
    assert!(!enough.to_lowercase().contains("insufficient"), "{enough}");
}

#[test]
fn an_experiment_without_trials_has_a_page_too() {
    let mut results = results("cpus", "wall", Unit::SECOND, Better::Lower, &[("1", &[]), ("2", &[])]);
    results.presentation = Default::default();
    results.runs.clear();
    let made = page(&results, &analyse(&results), &[], None).expect("a page");
    assert!(made.starts_with("# example\n\n> [!WARNING]\n> - No trial has finished"), "{made}");
    for absent in ["## Answer", "## Verdicts", "## Levels", "## Charts", "## Failed", "## Environment", "\n\n\n"] {
        assert!(!made.contains(absent), "{absent}: {made}");
    }
    assert!(page(&results, &Analysis::default(), &[], None).expect("a page").starts_with("# example\n\n## Method"));
}

/// The cells of the page's tables: every row of a table must have as many as its header.
fn assert_tables_hold(made: &str) {
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = made.lines().collect();
    let mut tables = 0;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("|---") || line.starts_with("|--:")) {
        tables += 1;
        let header = cells(lines[at - 1]);
        assert_eq!(cells(line), header, "{line}");
        for row in lines[at + 1..].iter().take_while(|row| !row.is_empty()) {
            assert!(row.starts_with("| ") && row.ends_with(" |"), "{row}");
            assert_eq!(cells(row), header, "{row}");
        }
    }
    assert!(tables > 3, "{made}");
}

/// The page without code blocks, code spans and escaped backticks.
fn outside_of_code(made: &str) -> String {
    let prose = made.split("```console").next().expect("text before the block");
    let mut rest = prose.replace("\\`", "");
    let mut outside = String::new();
    while let Some(at) = rest.find('`') {
        let fence: String = rest[at..].chars().take_while(|c| *c == '`').collect();
        let inside = &rest[at + fence.len()..];
        let end = inside.find(&fence).expect("every span is closed");
        outside.push_str(&rest[..at]);
        rest = inside[end + fence.len()..].to_owned();
    }
    outside + &rest
}

#[test]
fn texts_of_other_people_break_nothing() {
    let hostile = "<script>alert(1)</script> | a`b`` **c** [d](javascript:e)\n# f ${g} ```\n\n| h |";
    let noise = [2.0, 2.02, 2.01, 1.99, 2.0, 2.03];
    let mut results = results(hostile, hostile, Unit::custom("<b>|"), Better::Lower, &[(hostile, &[1.0; 6]), ("x|`y", &noise)]);
    results.experiment = "it's <b>`".into();
    results.presentation.title = hostile.into();
    results.presentation.question = hostile.into();
    results.warnings = vec![hostile.into()];
    results.runs[0].started.host.name = hostile.into();
    let mut failed = row(&results, 1, 7, &[]);
    fail(&mut failed, Phase::Start, &hostile.repeat(9));
    results.rows.push(failed);
    results.rows[0].row.attested = vec![Attested {
        unit: hostile.into(),
        setting: hostile.into(),
        asked: hostile.into(),
        found: Some("|".into()),
        source: String::new(),
    }];
    let charts = [ChartRef { file: "a)b <c>.png".into(), alt: hostile.into(), ..ChartRef::default() }];
    let made = page(&results, &analyse(&results), &charts, None).expect("a page");
    assert_tables_hold(&made);
    let outside = outside_of_code(&made);
    for (at, _) in outside.match_indices('<').filter(|(at, _)| !outside[*at..].starts_with("< ")) {
        let tag: String = outside[at..].chars().take_while(|c| *c != '>').collect();
        assert!(["<details", "</details", "<summary", "</summary", "<code", "</code"].contains(&tag.as_str()), "{tag}");
    }
    assert!(
        made.starts_with("# &lt;script&gt;alert(1)&lt;/script&gt; \\| a\\`b\\`\\` \\*\\*c\\*\\* \\[d\\](javascript:e) # f \\${g}"),
        "{made}"
    );
    assert!(made.contains("(a%29b%20%3Cc%3E.png)"), "{made}");
    assert!(made.contains("$ shakedown run 'experiments/it'\\''s <b>`.yaml'"), "{made}");
    let headings: Vec<&str> = made.lines().filter(|line| line.starts_with('#')).skip(1).collect();
    assert!(headings.iter().all(|heading| !heading.contains("f ")), "{headings:?}");
}

#[test]
fn tables_of_the_example_hold() {
    let results = example();
    assert_tables_hold(&page(&results, &analyse(&results), &charts(), None).expect("a page"));
}

#[test]
fn many_variants_are_named_in_tables_and_not_all_in_sentences() {
    let names: Vec<String> = (0..60).map(|level| level.to_string()).collect();
    let variants: Vec<(&str, &[f64])> = names.iter().map(|name| (name.as_str(), [1.0, 1.0, 1.0].as_slice())).collect();
    let results = results("f", "wall", Unit::SECOND, Better::Lower, &variants);
    let made = page(&results, &analyse(&results), &[], None).expect("a page");
    assert_eq!(made.lines().filter(|line| line.starts_with("- `f=")).count(), 20);
    assert!(made.contains("\n… and 39 more comparisons in the tables below.\n"), "{made}");
    assert_eq!(made.lines().filter(|line| line.starts_with("| `f=") && line.contains("equivalent")).count(), 59);
}

#[test]
fn a_template_of_another_person_is_used_or_refused() {
    let results = example();
    let analysis = analyse(&results);
    let with = |template: &str| page(&results, &analysis, &[], Some(template));
    assert_eq!(with("{{ title }}: {{ answers | length }}\n").expect("a page"), "What \\`--cpus\\` does to one thread: 4\n");
    for (template, expected) in [
        ("line\n{{ titel }}", "cannot be rendered, line 2"),
        ("{% if %}", "not valid, line 1"),
        ("{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}", "cannot be rendered"),
        ("{% include 'etc/passwd' %}", "cannot be rendered"),
    ] {
        let refused = with(template).expect_err(template);
        assert!(refused.to_string().contains(expected), "{template}: {refused}");
        assert!(refused.source().is_some(), "{template}");
    }
}
