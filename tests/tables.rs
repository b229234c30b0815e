//! The CSV files: exact bytes of a small case, and awkward texts that must read back.

use crate::analyse::starts::{hosted, private};
use crate::analyse::{add_metric, add_variant, fail, results, row};
use shakedown::analyse::analyse;
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::{Outcome, Phase};
use shakedown::model::plan::{FactorSummary, primer_id};
use shakedown::model::results::Results;
use shakedown::report::tables::{effects_csv, factors_csv, metrics_csv, summary_csv, trials_csv};

/// Two CPU limits over two blocks, an A/A copy, one failed and replaced attempt.
fn small() -> Results {
    let mut results = results("cpus", "wall", Unit::SECOND, Better::Lower, &[("1", &[2.0, 4.0]), ("0.50", &[4.0, 8.0])]);
    add_metric(&mut results, "memory_peak", Unit::BYTE, None);
    let copy = add_variant(&mut results, "1#aa", &["workload"]);
    let mut first = row(&results, copy, 1, &[("wall", 2.5), ("memory_peak", 1048576.0)]);
    first.row.taints = vec!["too-short".into(), "neighbour".into()];
    let mut failed = row(&results, 1, 3, &[]);
    fail(&mut failed, Phase::Measure, "exit code 1, \"cannot\"\nbind");
    failed.superseded = true;
    let mut gone = row(&results, 0, 3, &[("wall", 0.1)]);
    gone.variant = None;
    results.rows.extend([first, failed, gone]);
    results
}

fn lines(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).expect("UTF-8").to_owned()
}

#[test]
fn primers_and_too_few_engine_starts_are_told() {
    let mut results = results("driver", "wall", Unit::SECOND, Better::Lower, &[("overlay2", &[2.0, 4.0]), ("vfs", &[4.0, 10.0])]);
    hosted(&mut results, &[private("overlay2"), private("vfs")], 2, 2);
    let mut primer = results.rows[0].clone();
    primer.row.trial = primer_id(&primer.row.trial);
    primer.row.outcome = Outcome::Primer;
    results.rows.insert(0, primer);
    let analysis = analyse(&results);
    let effects = lines(&effects_csv(&results, &analysis));
    let row = effects.lines().nth(1).expect("row");
    assert!(row.starts_with("driver=vfs,vfs,wall,driver=overlay2,2,2.236067977"), "{row}");
    assert!(row.ends_with(",\"undecided, insufficient engine starts\""), "{row}");
    let trials = lines(&trials_csv(&results));
    assert_eq!(trials.lines().nth(1), Some("2026-01-01-box-aaaa,b1p1-primer,driver=overlay2,1,1,1,primer,,,,1,overlay2,2"));
    assert!(lines(&summary_csv(&results, &analysis)).contains("driver=overlay2,overlay2,wall,s,2,3,"), "the primer is no observation");
    assert!(lines(&factors_csv(&results)).contains(",overlay2,true,1,2\n"), "nor a trial");
}

#[test]
fn trials_are_wide() {
    let expected = "\
run,trial,variant,block,position,attempt,outcome,phase,reason,tainted,cpus,wall,memory_peak
2026-01-01-box-aaaa,b1p1,cpus=1,1,1,1,ok,,,,1,2,
2026-01-01-box-aaaa,b2p1,cpus=1,2,1,1,ok,,,,1,4,
2026-01-01-box-aaaa,b1p2,cpus=0.50,1,2,1,ok,,,,0.50,4,
2026-01-01-box-aaaa,b2p2,cpus=0.50,2,2,1,ok,,,,0.50,8,
2026-01-01-box-aaaa,b1p3,cpus=1#aa,1,3,1,ok,,,too-short;neighbour,1,2.5,1048576
2026-01-01-box-aaaa,b3p2,cpus=0.50,3,2,1,failed,measure,\"exit code 1, \"\"cannot\"\"
bind\",,0.50,,
2026-01-01-box-aaaa,b3p1,cpus=1,3,1,1,ok,,,,,0.1,
";
    assert_eq!(lines(&trials_csv(&small())), expected);
}

#[test]
fn summary_and_effects_are_long() {
    let results = small();
    let analysis = analyse(&results);
    let summary = "\
variant,cpus,metric,unit,n,median,low,high,min,max
cpus=1,1,wall,s,2,3,,,2,4
cpus=0.50,0.50,wall,s,2,6,,,4,8
cpus=1#aa,1,wall,s,1,2.5,,,2.5,2.5
cpus=1#aa,1,memory_peak,B,1,1048576,,,1048576,1048576
";
    assert_eq!(lines(&summary_csv(&results, &analysis)), summary);
    // Both ratios are exactly 2: nothing varies, so there is neither an interval nor a test.
    let effects = "\
variant,cpus,metric,baseline,n,ratio,low,high,p_adjusted,verdict,kind,fragile,simultaneous_low,simultaneous_high,hodges_lehmann,clean_n,clean_ratio,clean_low,clean_high,clean_verdict
cpus=0.50,0.50,wall,cpus=1,2,2,,,,undecided,primary,false,,,2,2,2,,,undecided
cpus=1#aa,1,wall,cpus=1,1,1.25,,,,undecided,control,true,,,,0,,,,undecided
";
    assert_eq!(lines(&effects_csv(&results, &analysis)), effects);
}

#[test]
fn dictionaries_explain_the_columns() {
    let results = small();
    let factors = "\
column,factor,place,level,baseline,variants,trials
cpus,cpus,1,1,true,1,2
cpus,cpus,2,0.50,false,1,2
";
    assert_eq!(lines(&factors_csv(&results)), factors);
    let metrics = lines(&metrics_csv(&results));
    assert!(metrics.starts_with("column,metric,unit,better,primary,about\nwall,wall,s,lower,true,\"from the engine's own"), "{metrics}");
    assert!(metrics.contains("\nmemory_peak,memory_peak,B,,false,\"largest memory"), "{metrics}");
}

#[test]
fn workload_pairs_name_the_metric_below_the_line() {
    let mut results = results("cpus", "a.real", Unit::SECOND, Better::Lower, &[]);
    add_metric(&mut results, "b.real", Unit::SECOND, Some(Better::Lower));
    let variant = add_variant(&mut results, "1", &["a", "b"]);
    for (block, value) in [(1, 1.0), (2, 1.0), (3, 1.0)] {
        let row = row(&results, variant, block, &[("a.real", value), ("b.real", 2.0)]);
        results.rows.push(row);
    }
    let effects = lines(&effects_csv(&results, &analyse(&results)));
    assert!(effects.ends_with("\ncpus=1,1,b.real,a.real,3,2,,,,undecided,workloads,false,,,2,3,2,,,undecided\n"), "{effects}");
}

fn read(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
    reader.records().map(|record| record.expect("a record of equal length").iter().map(str::to_owned).collect()).collect()
}

#[test]
fn awkward_texts_read_back() {
    let texts = [
        "a,b",
        "say \"hi\"",
        "line1\nline2",
        "line1\r\nline2",
        "trailing ",
        " leading",
        "semi;colon",
        "tab\there",
        "日本語",
        "3.10",
        "-5",
        "a|b",
        "",
    ];
    let ones: Vec<(&str, &[f64])> = texts.iter().map(|text| (*text, [1.0].as_slice())).collect();
    let awkward = results("level, with \"comma\"", "wall", Unit::SECOND, Better::Lower, &ones);
    let bytes = trials_csv(&awkward);
    let table = read(&bytes);
    assert_eq!(table.len(), texts.len() + 1);
    assert_eq!(table[0][10], "level, with \"comma\"");
    for (row, text) in table[1..].iter().zip(texts) {
        assert_eq!((row[10].as_str(), row[11].as_str()), (text, "1"));
    }
    let marked = results("f", "wall", Unit::SECOND, Better::Lower, &[("\u{feff}mark\0", &[1.0])]);
    assert_eq!(read(&trials_csv(&marked))[1][10], "⟨U+FEFF⟩mark⟨U+0000⟩", "what nobody sees is named");
    assert!(!bytes.starts_with(&[0xEF, 0xBB, 0xBF]), "no byte order mark");
}

#[test]
fn formulas_in_texts_are_neutralised_and_numbers_kept() {
    let mut results = results("f", "delta", Unit::custom("@x"), Better::Lower, &[("=1+1", &[-5.0, -1e-7, 3.5]), ("-2", &[])]);
    let mut failed = row(&results, 1, 1, &[]);
    fail(&mut failed, Phase::Start, "@SUM(A1)");
    results.rows.push(failed);
    let table = read(&trials_csv(&results));
    let cells: Vec<&str> = table[1..].iter().flat_map(|row| [row[8].as_str(), row[10].as_str(), row[11].as_str()]).collect();
    assert_eq!(cells, ["", "'=1+1", "-5", "", "'=1+1", "-1e-7", "", "'=1+1", "3.5", "'@SUM(A1)", "-2", ""]);
    assert_eq!(read(&summary_csv(&results, &analyse(&results)))[1][3], "'@x");
}

#[test]
fn clashing_names_are_resolved_the_same_way_every_time() {
    let mut results = results("run", "wall", Unit::SECOND, Better::Lower, &[("1", &[2.0])]);
    for name in ["metric", "factor.metric", "port"] {
        results.factors.push(FactorSummary { name: name.into(), levels: vec!["x".into()] });
    }
    results.variants[0].levels = vec![0, 0, 0, 0];
    for name in ["port", "variant", "ratio"] {
        add_metric(&mut results, name, Unit::ONE, None);
        results.rows[0].row.metrics.push(Observation { name: name.into(), value: 7.0, unit: Unit::ONE });
    }
    let header = &read(&trials_csv(&results))[0];
    assert_eq!(header[10..14], ["factor.run", "factor.metric", "factor.factor.metric", "port"]);
    assert_eq!(header[14..], ["wall", "metric.port", "metric.variant", "ratio"]);
    let analysis = analyse(&results);
    for bytes in [summary_csv(&results, &analysis), effects_csv(&results, &analysis)] {
        let header = &read(&bytes)[0];
        assert_eq!(header[1..5], ["factor.run", "factor.metric", "factor.factor.metric", "port"]);
    }
    let columns: Vec<String> = read(&metrics_csv(&results))[1..].iter().map(|row| row[0].clone()).collect();
    assert_eq!(columns, ["wall", "metric.port", "metric.variant", "ratio"]);
}

#[test]
fn values_that_are_not_numbers_are_empty() {
    let results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[f64::NAN, f64::INFINITY, 1.0])]);
    let walls: Vec<String> = read(&trials_csv(&results))[1..].iter().map(|row| row[11].clone()).collect();
    assert_eq!(walls, ["", "", "1"]);
}
