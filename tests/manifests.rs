//! Manifests: good ones become experiments, bad ones give all their problems, and no text at all makes the reader panic or hang.
//!
//! `SNAPSHOTS=rewrite cargo test manifests` writes the expected diagnostics anew; read the difference before committing it.

use shakedown::manifest::{Source, parse_tree, read};
use shakedown::model::diagnostic::{Diagnostic, Severity};
use shakedown::model::experiment::{Experiment, Problems, RuleKind};
use shakedown::model::tree::{Node, Tree};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests").join(name)
}

fn files(name: &str) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder(name)).expect("folder");
    let paths = entries.map(|entry| entry.expect("entry").path()).filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    let mut files: Vec<_> = paths.map(|path| (path.clone(), std::fs::read_to_string(path).expect("UTF-8"))).collect();
    files.sort();
    files
}

fn read_text(text: &str) -> Result<(Experiment, Vec<Diagnostic>), Problems> {
    let source = Source { name: "network", folder: Path::new("experiments"), text };
    let text = |name: &str| match name {
        "bench.conf.j2" => Some("{%- include 'listen.j2' %}{% include \"absent.j2\" ignore missing %}"),
        "listen.j2" => Some("{% include 'bench.conf.j2' %}listen {{ port }};"),
        "torn.j2" => Some("{% extends \"base.j2\" %}{% include name %}{% include '../x' %}{% include '"),
        _ => None,
    };
    read(&source, &|name| text(name).map(str::to_owned))
}

fn good(name: &str) -> Experiment {
    let text = std::fs::read_to_string(folder("good").join(name).with_extension("yaml")).expect("good manifest");
    read_text(&text).map(|(experiment, _)| experiment).unwrap_or_else(|problems| panic!("{name}: {}", shown(&problems.0)))
}

fn shown(found: &[Diagnostic]) -> String {
    let mut text = String::new();
    for problem in found {
        let place = problem.span.map_or_else(|| "-".to_owned(), |span| format!("{}:{}", span.line, span.column));
        let warning = if problem.severity == Severity::Warning { "warning: " } else { "" };
        let help = problem.help.as_ref().map_or_else(String::new, |help| format!(" / {help}"));
        writeln!(text, "{place}: {warning}{}{help}", problem.message).expect("text");
        for (span, label) in &problem.related {
            writeln!(text, "    {}:{}: {label}", span.line, span.column).expect("text");
        }
    }
    text
}

#[test]
fn every_bad_manifest_gives_its_diagnostics() {
    let rewrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "rewrite");
    let files = files("bad");
    assert!(files.len() >= 40, "{}", files.len());
    let mut wrong = Vec::new();
    for (path, text) in files {
        let Err(problems) = read_text(&text) else {
            wrong.push(format!("{} was accepted", path.display()));
            continue;
        };
        assert!(problems.0.iter().any(|problem| problem.severity == Severity::Error), "{}", path.display());
        let (actual, expected) = (shown(&problems.0), path.with_extension("txt"));
        if rewrite {
            std::fs::write(expected, actual).expect("snapshot");
        } else if std::fs::read_to_string(expected).unwrap_or_default() != actual {
            wrong.push(format!("{}:\n{actual}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_span_points_into_the_text() {
    for (path, text) in files("bad") {
        let Err(problems) = read_text(&text) else { continue };
        let related = problems.0.iter().flat_map(|problem| problem.related.iter().map(|(span, _)| *span));
        for span in problems.0.iter().filter_map(|problem| problem.span).chain(related) {
            let before = text.get(..span.start as usize).unwrap_or_else(|| panic!("{}: {span:?}", path.display()));
            let line = before.rsplit('\n').next().unwrap_or(before).trim_start_matches('\u{feff}');
            assert_eq!(span.line as usize, before.matches('\n').count() + 1, "{}", path.display());
            assert_eq!(span.column as usize, line.chars().count() + 1, "{}: {span:?}", path.display());
            assert!(text.get(span.start as usize..(span.start + span.len) as usize).is_some(), "{}: {span:?}", path.display());
        }
    }
}

#[test]
fn three_mistakes_give_three_diagnostics() {
    let (_, text) = files("bad").into_iter().find(|(path, _)| path.ends_with("three_mistakes.yaml")).expect("file");
    let problems = read_text(&text).expect_err("mistakes").0;
    assert_eq!(problems.len(), 3, "{}", shown(&problems));
}

#[test]
fn a_manifest_becomes_an_experiment() {
    let experiment = good("network");
    assert_eq!(experiment.presentation.title, "What the bridge costs");
    let levels = |factor: usize| experiment.factors[factor].levels.iter().map(|level| &*level.text).collect::<Vec<_>>();
    assert_eq!(experiment.factors.iter().map(|factor| &*factor.name).collect::<Vec<_>>(), ["network", "tag", "flag", "cpus"]);
    assert_eq!(levels(1), ["3.10", "3.9", "1e3", "on", "007", "1_000", "12:30:45", "9022:22", "2", "yes", "2024-01-02"]);
    assert_eq!(levels(2), ["", "-k"]);
    assert_eq!(experiment.factors[1].levels[8].value, serde_json::json!("2"), "a quoted number is a text");
    assert_eq!(experiment.factors[3].levels[0].value, serde_json::json!(2));
    let patches: Vec<bool> = experiment.factors[0].levels.iter().map(|level| level.patch.is_some()).collect();
    assert_eq!(patches, [true, true, false]);

    assert_eq!(experiment.exclude[0].kind, RuleKind::Keys(vec![(0, vec![0, 1]), (2, vec![0])]));
    assert_eq!(experiment.exclude[1].kind, RuleKind::When("network == 'bridge' and cpus > 1".to_owned()));
    assert_eq!(experiment.include[0].kind, RuleKind::Keys(vec![(0, vec![0]), (1, vec![0, 1]), (2, vec![0]), (3, vec![0])]));
    assert_eq!(experiment.baseline.as_ref().map(|rule| &rule.kind), Some(&RuleKind::Keys(vec![(0, vec![1]), (2, vec![1])])));

    let design = &experiment.design;
    assert_eq!((design.blocks, design.seed, design.min_effect, design.margin), (4, Some(7), 0.02, 0.05));
    assert_eq!((design.min_window, design.max_variants), (Duration::from_millis(500), 64));
    let limits = &experiment.limits;
    assert_eq!((limits.images, limits.create, limits.attempts), (Duration::from_secs(3600), Duration::from_secs(30), 1));
    assert_eq!((limits.start.as_secs(), limits.collect.as_secs(), limits.teardown.as_secs()), (31, 32, 33));
    assert_eq!(experiment.templates.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["bench.conf.j2", "listen.j2"]);
    let keys: Vec<&str> = experiment.setup.entries().iter().map(|(key, _)| &*key.name).collect();
    assert_eq!(keys, ["vars", "engine", "workload"]);
    assert_eq!(experiment.presentation.metrics.iter().map(|metric| metric.primary).collect::<Vec<_>>(), [true, false]);
    assert_eq!(experiment.presentation.metrics[1].expr.as_deref(), Some("score / cpus"));
}

#[test]
fn what_is_not_given_has_its_default() {
    let experiment = good("smallest");
    assert_eq!(experiment.presentation.title, "network", "the file's name");
    assert_eq!((experiment.design.blocks, experiment.design.seed), (10, None));
    assert!(experiment.factors.is_empty() && experiment.baseline.is_none());
}

#[test]
fn written_keys_beat_merged_ones_wherever_they_stand() {
    let experiment = good("anchors");
    let unit = |tree: &Tree, name: &str, key: &str| {
        tree.get("workloads").and_then(|w| w.get(name)).and_then(|w| w.get(key)).and_then(Tree::text).map(str::to_owned)
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(unit(&experiment.setup, "b", "cpu_shares"), text("8"));
    assert_eq!(unit(&experiment.setup, "b", "image"), text("busybox"));
    assert_eq!(unit(&experiment.setup, "b", "user"), text("root"));
    let patch = |level: usize| experiment.factors[0].levels[level].patch.clone().expect("patch");
    assert_eq!(unit(&patch(0), "b", "cpu_shares"), text("1024"));
    assert_eq!(unit(&patch(1), "b", "cpu_shares"), text("4"));
    assert_eq!(unit(&patch(1), "b", "image"), None, "merging is not deep");
    assert_eq!(unit(&patch(1), "a", "cpu_shares"), text("2"));
}

#[test]
fn scalars_keep_their_spelling() {
    let table = [
        ("3.10", "3.10", false),
        ("1e3", "1e3", false),
        ("007", "007", false),
        ("on", "on", false),
        ("no", "no", false),
        ("1_000", "1_000", false),
        ("12:30:45", "12:30:45", false),
        ("9022:22", "9022:22", false),
        ("0x1F", "0x1F", false),
        (".5", ".5", false),
        ("'it''s'", "it's", true),
        ("\"a\\tb\\u00e9\"", "a\tbé", true),
        ("\"\"", "", true),
        ("\"null\"", "null", true),
        ("!!str 5", "5", true),
        ("plain\n  over lines", "plain over lines", false),
        ("|\n  a\n  b", "a\nb\n", true),
        ("|-\r\n  a\r\n  b\r\n", "a\nb", true),
        (">\n  a\n  b\n", "a b\n", true),
        ("a # comment", "a", false),
        ("http://h/#x", "http://h/#x", false),
    ];
    for (written, text, quoted) in table {
        let tree = parse_tree(&format!("key: {written}\n")).unwrap_or_else(|problems| panic!("{written}: {}", shown(&problems.0)));
        let scalar = tree.get("key").and_then(Tree::scalar).unwrap_or_else(|| panic!("{written}: {tree:?}"));
        assert_eq!((&*scalar.text, scalar.quoted), (text, quoted), "{written}");
    }
    for written in ["", "~", "null", "# comment"] {
        let tree = parse_tree(&format!("key: {written}\n")).expect("tree");
        assert!(tree.get("key").is_some_and(Tree::is_null), "{written}");
    }
}

#[test]
fn columns_count_characters_and_bytes_count_bytes() {
    let tree = parse_tree("\u{feff}日本: {語: 値}\r\nb:\r\n  - c: 1\r\n").expect("tree");
    let place = |tree: &Tree| (tree.span.line, tree.span.column, tree.span.start, tree.span.len);
    let inner = tree.get("日本").and_then(|inner| inner.get("語")).expect("value");
    assert_eq!(place(inner), (1, 9, 17, 3));
    let one = tree.get("b").and_then(|list| list.items()[0].get("c")).expect("value");
    assert_eq!(place(one), (3, 8, 34, 1));
}

#[test]
fn alias_bombs_depth_and_junk_are_refused_in_little_time() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").expect("text");
    }
    let refused = |text: &str, expected: &str| {
        let problems = parse_tree(text).expect_err("refused").0;
        assert!(problems.iter().any(|problem| problem.message.contains(expected)), "{}", shown(&problems));
    };
    refused(&bomb, "aliases repeat more than 100000 values");
    refused(&"[".repeat(20_000), "nested deeper than 64 levels");
    refused(&"{a: ".repeat(20_000), "nested deeper than 64 levels");
    refused(&"- ".repeat(20_000), "nested deeper than 64 levels");
    refused("b: &b [*b]\n", "stands inside what it names");
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..80 {
        writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).expect("text");
    }
    refused(&chain, "nested deeper than 64 levels");
    let mut random = Random(1);
    for alphabet in [&b"ab: -[]{}\"'\n&*!|>#%@`,?"[..], b"\x01\x7f\t\r\n x", b"- a\n", b"a"] {
        let junk: Vec<u8> = (0..1 << 20).map(|_| alphabet[random.below(alphabet.len())]).collect();
        let _ = read_text(&String::from_utf8(junk).expect("ASCII"));
    }
}

#[test]
fn large_manifests_are_read_or_refused_in_little_time_and_space() {
    let workload = "workload: {image: a}\n";
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let levels = many(20_000, &|n| format!("l{n}"));
    let wide = format!("matrix: {{a: [{levels}], b: [{levels}]}}\nexclude: [{{a: [{levels}], b: l7}}]\n{workload}");
    let (experiment, _) = read_text(&wide).unwrap_or_else(|problems| panic!("{}", shown(&problems.0[..1])));
    assert_eq!(experiment.factors[1].levels.len(), 20_000);

    let spellings = many(300, &|n| format!("1.{}", "0".repeat(n + 1)));
    let excludes = many(400, &|_| "{b: x}".to_owned());
    let doubtful = format!("matrix: {{a: [{spellings}], b: [x, y]}}\nexclude: [{excludes}]\n{workload}");
    let (_, warnings) = read_text(&doubtful).unwrap_or_else(|problems| panic!("{}", shown(&problems.0[..1])));
    assert_eq!(warnings.len(), 21, "warnings never become errors");

    let long = "x".repeat(1 << 20);
    let table = [
        (format!("matrix: {{{}}}\n{workload}", many(1_000, &|n| format!("f{n}: 1"))), "more than 64 factors"),
        (format!("matrix: {{a: [{levels}]}}\nexclude: [{}]\n{workload}", many(20_000, &|n| format!("{{a: m{n}}}"))), "has no level"),
        (format!("matrix: {{a: [1, 2], b: [x]}}\nexclude: [{}]\n{workload}", many(20_000, &|_| "{a: 1}".to_owned())), "10000 entries"),
        (format!("workload: {{{}}}\n", many(50_000, &|n| format!("k{n}: 1"))), "more problems are not shown"),
        (format!("vars: {{x: &x {long}}}\nworkload: {{cap_add: [{}]}}\n", many(1_000, &|_| "*x".to_owned())), "aliases repeat"),
        (format!("? {long}\n: x\n{workload}"), "longer than 256 bytes"),
        ("x".repeat(5 << 20), "larger than 4 MB"),
    ];
    for (text, expected) in table {
        let problems = read_text(&text).err().unwrap_or_else(|| panic!("{expected}: accepted")).0;
        assert!(problems.len() <= 201, "{expected}: {} problems", problems.len());
        assert!(problems.iter().any(|problem| problem.message.contains(expected)), "{expected}: {}", shown(&problems[..1]));
    }
}

/// SplitMix64: the same cases on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).expect("below a usize")
    }
}

fn mutated(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => drop(bytes.drain(at..(at + 1 + random.below(8)).min(bytes.len()))),
            1 => bytes.insert(at, b"{}[]:,-&*!|>'\"%@` \t\n#~<"[random.below(23)]),
            2 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(7),
            3 => bytes.truncate(at),
            kind => {
                let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                let line = lines.remove(random.below(lines.len()));
                if kind == 4 {
                    let at = random.below(lines.len() + 1);
                    lines.insert(at, line.clone());
                    lines.insert(at, line);
                }
                bytes = lines.join(&b'\n');
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_mutation_of_a_good_manifest_makes_the_reader_panic() {
    let texts: Vec<String> = files("good").into_iter().map(|(_, text)| text).collect();
    let mut random = Random(42);
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..5_000 {
        let text = mutated(&texts[case % texts.len()], &mut random);
        match read_text(&text) {
            Ok((experiment, warnings)) => {
                accepted += 1;
                assert!(warnings.iter().all(|warning| warning.severity == Severity::Warning), "{text}");
                assert!(experiment.factors.iter().all(|factor| !factor.levels.is_empty()), "{text}");
                assert!(matches!(experiment.setup.node, Node::Map(_)));
            }
            Err(Problems(found)) => {
                refused += 1;
                assert!(found.iter().any(|problem| problem.severity == Severity::Error), "{text}");
                assert!(found.is_sorted_by_key(|problem| problem.span), "{text}");
                let ends = found.iter().filter_map(|problem| problem.span).map(|span| (span.start + span.len) as usize);
                assert!(ends.into_iter().all(|end| end <= text.len() && text.is_char_boundary(end)), "{text}");
            }
        }
    }
    assert!(accepted > 100 && refused > 1_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn what_is_observed_and_its_thresholds_are_read() {
    let text = "
workload: {image: a, command: b}
observe: {interval: 250ms, idle_gate: off, processes: [dockerd, containerd-shim-runc-v2, dockerd]}
hygiene: {steal: off, foreign-cpu: {taint: 50%}, thermal: {taint: off}, cold-cache: {warn: 3}}
";
    let design = read_text(text).expect("a manifest").0.design;
    assert_eq!((design.observe.interval, design.observe.idle_gate), (Some(Duration::from_millis(250)), None));
    assert_eq!(design.observe.processes, ["dockerd", "containerd-shim"]);
    let threshold = |name: &str| {
        let found = design.hygiene.of(shakedown::model::hygiene::find(name).expect("a check"));
        (found.warn, found.taint)
    };
    assert_eq!(threshold("steal"), (None, None));
    assert_eq!(threshold("foreign-cpu"), (Some(0.02), Some(0.5)));
    assert_eq!(threshold("thermal"), (Some(0.0), None));
    assert_eq!(threshold("cold-cache"), (Some(3.0), None));
    assert_eq!(threshold("swap"), (Some(0.0), Some(0.0)));
    let plain = read_text("workload: {image: a, command: b}").expect("a manifest").0.design;
    assert_eq!((plain.observe.interval, plain.observe.idle_gate), (Some(Duration::from_secs(1)), Some(Duration::from_secs(60))));
}
