//! Whole reports: a committed record gives the committed files, and what a person must not miss is said wherever they look.

mod charts;
mod cpu;
mod effects;

use crate::analyse::{add_metric, add_variant, fail, results, row};
use shakedown::analyse::analyse;
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::Phase;
use shakedown::model::results::Results;
use shakedown::record::{self, Store};
use shakedown::report::charts::Fonts;
use shakedown::report::page::Own;
use shakedown::report::{answers, render};
use std::path::Path;

/// The record of a real run: four CPU limits and the A/A copy, three blocks.
fn committed() -> Results {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/record");
    let store = Store::new(&folder, "cpus");
    record::results(&store, "cpus", record::load(&store).expect("a record")).expect("results")
}

fn files(results: &Results) -> Vec<(String, Vec<u8>)> {
    render(results, &analyse(results), &Fonts::embedded(), &Own::default(), false).expect("a report").files
}

fn text(files: &[(String, Vec<u8>)], name: &str) -> String {
    let (_, bytes) = files.iter().find(|(file, _)| file == name).expect(name);
    String::from_utf8(bytes.clone()).expect("text")
}

fn pictures(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).filter(|name| name.ends_with(".png")).collect()
}

#[test]
fn a_committed_record_gives_the_committed_files() {
    let results = committed();
    let made = files(&results);
    assert!(made == files(&committed()), "the same record gives the same bytes");
    assert_eq!(pictures(&made), ["real-effects.png", "real-by-cpus.png", "real-trials.png"]);
    for name in ["trials.csv", "summary.csv", "effects.csv", "factors.csv", "metrics.csv", "README.md"] {
        let path = format!("{}/tests/fixtures/record/cpus/{name}", env!("CARGO_MANIFEST_DIR"));
        snapbox::assert_data_eq!(text(&made, name), snapbox::Data::read_from(Path::new(&path), None).raw());
    }
}

#[test]
fn the_images_of_a_run_stand_beside_its_engine() {
    let page = text(&files(&committed()), "README.md");
    assert!(page.contains("\n| image | `pack /usr/bin/bash /usr/bin/dd /usr/bin/md5sum` → `sha256:590551ee933c…` |\n"), "{page}");
}

#[test]
fn answers_for_a_terminal_hold_no_markup_and_no_control_characters() {
    let (base, twice) = ([3.41, 3.44, 3.40, 3.52, 3.47, 3.43], [6.85, 6.91, 6.78, 7.09, 6.98, 6.92]);
    let results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &base), ("\x1b[31m`b`\n*c*", &twice)]);
    let said = answers(&results, &analyse(&results));
    // ln of the six ratios: 0.69754 0.69750 0.69020 0.70022 0.69889 0.70186; their mean 0.69770 is that of 2.009.
    assert_eq!(said, ["f=⟨U+001B⟩[31m`b` *c* takes 2.009 times as long as f=a (2.001 to 2.018, n = 6): different (worse)"]);
}

#[test]
fn few_blocks_are_a_reason_that_is_said_once() {
    let results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[1.0, 1.5, 1.2]), ("b", &[1.4, 1.1, 1.6]), ("c", &[1.1; 3])]);
    let said = answers(&results, &analyse(&results));
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].contains("undecided; n = 3 cannot reliably show anything smaller than a factor of "), "{said:?}");
    assert_eq!(said[2], "So few blocks (n = 3) decide little: measure more, 10 are a good start.");
}

#[test]
fn one_variant_alone_is_answered_by_its_levels() {
    let mut results = results("f", "share", Unit::ONE, Better::Higher, &[("a", &[0.5, 0.51, 0.49, 0.52, 0.48, 0.5])]);
    add_metric(&mut results, "pause", Unit::SECOND, None);
    results.rows[0].row.metrics.push(Observation { name: "pause".into(), value: 0.25, unit: Unit::SECOND });
    let said = answers(&results, &analyse(&results));
    assert_eq!(said, ["share is 0.5000 (median, 95 % interval 0.4800 to 0.5200, n = 6)", "pause is 250 ms (median, n = 1)"]);
}

/// An interval of 95 % may leave the margin where that of 90 %, which the verdict is about, does not.
#[test]
fn equivalence_names_the_interval_that_it_is_about() {
    // Log ratios of mean 0 and sd 0.0357: half-widths of 0.0255 (95 %) and 0.0207 (90 %) at n = 10, so ends of 1.026 and 1.021.
    let logs = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0].map(|sign: f64| (sign * 0.0339).exp());
    let mut results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[1.0; 10]), ("b", &logs)]);
    let said = answers(&results, &analyse(&results));
    assert!(said[0].ends_with("n = 10): equivalent within 3 %"), "{said:?}");
    results.design.margin = 0.025;
    let said = answers(&results, &analyse(&results));
    assert!(said[0].ends_with("n = 10): equivalent within 2.5 % (by its 90 % interval, 0.979 to 1.021)"), "{said:?}");
}

#[test]
fn lost_blocks_are_the_reason_for_no_verdict() {
    let mut results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[1.0, 1.01, 0.99]), ("b", &[2.0, 2.01, 1.97])]);
    let mut failed = row(&results, 1, 4, &[]);
    fail(&mut failed, Phase::Measure, "exit code 1");
    results.rows.push(failed);
    let said = answers(&results, &analyse(&results));
    assert!(said[0].contains("undecided; 1 of 4 blocks have no ratio (a trial failed"), "{said:?}");
    assert_eq!(said.len(), 1, "and more blocks are not what helps: {said:?}");
}

/// Two variants with a clear difference, of which the second was measured over a blink.
fn short() -> Results {
    let mut results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[1.0, 1.01, 0.99]), ("b", &[0.05, 0.051, 0.049])]);
    for row in &mut results.rows[3..] {
        row.row.taints.push("too-short".into());
    }
    results
}

#[test]
fn what_was_too_short_is_marked_wherever_it_is_read() {
    let results = short();
    let made = files(&results);
    let page = text(&made, "README.md");
    assert!(page.contains("\n> [!CAUTION]\n> - Too short to trust: `f=b` (median window 0.05 s, 3 of 3 trials); below 1 s"), "{page}");
    assert!(page.contains("**too short to trust**; the numbers alone would say different (better)\n"), "{page}");
    assert!(page.contains(" | **too short** to trust: different (better) |\n"), "{page}");
    assert!(page.contains("\n| `f=b` | 3 | 3 too-short | 0.0500 |") && page.contains("\n| `f=a` (baseline) | 3 | 0 | "), "{page}");
    assert!(answers(&results, &analyse(&results))[0].ends_with("too short to trust; the numbers alone would say different (better)"));
    let effects = text(&made, "effects.csv");
    assert!(effects.contains(",\"different, too short\",primary,") && effects.ends_with(",0,,,,undecided\n"), "nobody selects `different`");
}

/// Three workloads in two variants; `c` gets a quarter in the second one.
fn contended() -> Results {
    let mut results = results("shares", "a.cpu_seconds", Unit::SECOND, Better::Higher, &[]);
    for name in ["b.cpu_seconds", "c.cpu_seconds", "a_over_c", "b.wall"] {
        add_metric(&mut results, name, Unit::SECOND, None);
    }
    results.metrics[4].declared = false;
    for (variant, share) in [("even", 1.0), ("uneven", 0.25)] {
        let variant = add_variant(&mut results, variant, &["a", "b", "c"]);
        for block in 1..=6_u32 {
            let noise = 1.0 + 0.001 * f64::from(block);
            let values = [("a.cpu_seconds", 1.0), ("b.cpu_seconds", noise), ("c.cpu_seconds", share * noise), ("a_over_c", 1.0 / share)];
            let mut row = row(&results, variant, block, &values);
            row.row.metrics.push(Observation { name: "b.wall".into(), value: 4.0, unit: Unit::SECOND });
            results.rows.push(row);
        }
    }
    results
}

#[test]
fn workloads_are_told_and_drawn_beside_each_other() {
    let made = files(&contended());
    assert_eq!(pictures(&made), ["a_cpu_seconds-effects.png", "cpu_seconds-workloads.png", "a_over_c-trials.png"]);
    let page = text(&made, "README.md");
    assert!(page.contains("\n- In `shares=uneven`, `c` gets 0.2509 times the CPU time of `a` in the same trials ("), "{page}");
    assert!(page.contains("\n| `c` in `shares=uneven` | `a` | `cpu_seconds` | 0.2509 | "), "{page}");
    assert!(!page.contains("(better)") && !page.contains("(worse)"), "no workload is meant to win: {page}");
    let (shown, folded) = page.split_once("<details>").expect("other metrics");
    assert!(shown.contains("**`a_over_c`**") && folded.contains("**`b.wall`**"), "declared metrics are not folded away: {page}");
}

#[test]
fn metrics_that_no_trial_has_get_no_column() {
    let mut results = short();
    add_metric(&mut results, "never", Unit::ONE, None);
    let made = files(&results);
    assert!(text(&made, "trials.csv").starts_with("run,trial,variant,block,position,attempt,outcome,phase,reason,tainted,f,wall\n"));
    assert!(text(&made, "metrics.csv").ends_with("\n,never,1,,false,\n"));
}

#[test]
fn charts_name_what_varies_and_no_two_share_a_file() {
    let mut results = contended();
    add_metric(&mut results, "a/over/c", Unit::ONE, None);
    for row in &mut results.rows {
        row.row.metrics.push(Observation { name: "a/over/c".into(), value: 2.0, unit: Unit::ONE });
    }
    assert_eq!(
        pictures(&files(&results)),
        ["a_cpu_seconds-effects.png", "cpu_seconds-workloads.png", "a_over_c-trials.png", "a_over_c-trials-again-2.png"]
    );
}
