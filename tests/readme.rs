//! The documents are tests: commands of the README end as it shows, its manifests are right, links lead somewhere, and the parts
//! that the code knows better are what the code says.

mod reference;

use shakedown::measure::parsers::dictionary;
use shakedown::model::chart::ChartKind;
use shakedown::model::hygiene::{Amount, Bad, CHECKS, CheckInfo};
use shakedown::model::language::{ENGINE, EXPERIMENT, WORKLOAD};
use shakedown::model::metric::{BUILTIN_METRICS, Better, MetricInfo, TRIAL_METRICS};
use shakedown::model::shape::{Record, Support};
use shakedown::{cli, manifest};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to `rewrite`, the tables that the code knows are written instead of compared.
const SWITCH: &str = "DOCS";
/// What people read.
const DOCUMENTS: [&str; 4] = ["README.md", "METHODOLOGY.md", "docs/manifest.md", "CHANGELOG.md"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The fenced blocks of a document: the word behind the fence, and the text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(word) = line.strip_prefix("```") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((word.to_owned(), inside.join("\n") + "\n"));
        }
    }
    found
}

/// A command that a document shows: the words behind `$ `, the lines under it, and the exit code that `$ echo $?` shows.
#[derive(Debug)]
struct Shown {
    command: String,
    output: Vec<String>,
    code: i32,
}

fn transcripts(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for (_, block) in blocks(text).into_iter().filter(|(word, _)| word == "console") {
        let mut asked_for_code = false;
        for line in block.lines() {
            if line == "$ echo $?" {
                asked_for_code = true;
            } else if let Some(command) = line.strip_prefix("$ ") {
                assert!(!asked_for_code, "no code after `echo $?`: {block}");
                let command = command.split(" #").next().unwrap_or(command).trim_end().to_owned();
                found.push(Shown { command, output: Vec::new(), code: 0 });
            } else if asked_for_code {
                found.last_mut().expect("a command before its code").code = line.parse().expect("an exit code");
                asked_for_code = false;
            } else {
                found.last_mut().unwrap_or_else(|| panic!("output without a command: {block}")).output.push(line.to_owned());
            }
        }
    }
    found
}

/// The manifests of a document; the first line names the file of one that commands use.
fn manifests(text: &str) -> Vec<(Option<String>, String)> {
    let named = |text: &str| text.lines().next().and_then(|line| line.strip_prefix("# experiments/")).map(str::to_owned);
    blocks(text).into_iter().filter(|(word, _)| word == "yaml").map(|(_, text)| (named(&text), text)).collect()
}

/// A folder in which the README's commands find what they name: its own manifests, the repository's, and the repository's files.
fn place(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    let experiments = folder.path().join("experiments");
    std::fs::create_dir(&experiments).expect("folder");
    for path in experiment_files() {
        std::fs::copy(&path, experiments.join(path.file_name().expect("name"))).expect("copy");
    }
    for (name, text) in manifests(text) {
        if let Some(name) = name {
            let wrong = text
                .replace("cpus: \"{{ cpus }}\"          # the level, filled in", "cpu: \"{{ cpus }}\"")
                .replace("better: lower", "better: less");
            std::fs::write(experiments.join("wrong.yaml"), wrong).expect("manifest");
            // A run of another checkout must not be taken for one of the same experiment: the lock goes by a folder that exists.
            std::fs::create_dir_all(folder.path().join("reports").join(name.trim_end_matches(".yaml"))).expect("folder");
            std::fs::write(experiments.join(name), text).expect("manifest");
        }
    }
    for name in ["tests", "Makefile", "scripts", "templates"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("link");
    }
    // What a run records here comes from a scripted engine: every command prints the report of bash's `time`.
    let script = r#"[{"stderr": "\nreal\t0m3.000s\nuser\t0m1.000s\nsys\t0m0.500s\n", "wait": {"wall_ms": 3000}}]"#;
    std::fs::write(folder.path().join("engine.json"), script).expect("script");
    folder
}

fn experiment_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("experiments")).expect("experiments");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("entry").path()).filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect();
    files.sort();
    files
}

fn run(folder: &Path, command: &str) -> (i32, String) {
    let words = shlex::split(command).unwrap_or_else(|| panic!("{command}: not a command line"));
    let mut program = match words[0].as_str() {
        "shakedown" => Command::new(env!("CARGO_BIN_EXE_shakedown")),
        other => Command::new(other),
    };
    // Of make only what it would do.
    let dry = (words[0] == "make").then_some("-n");
    let output = program
        .args(dry)
        .args(&words[1..])
        .current_dir(folder)
        .env("SHAKEDOWN_ENGINE", "fake:engine.json")
        .env("NO_COLOR", "1")
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let text = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    (output.status.code().unwrap_or(-1), text)
}

/// The shown lines stand in the output in this order; `...` stands for any that were left out.
fn shows(output: &str, lines: &[String]) -> Result<(), String> {
    let mut rest = output.lines();
    for wanted in lines.iter().map(|line| line.trim_end()).filter(|line| *line != "...") {
        if !rest.any(|line| line.trim_end() == wanted) {
            return Err(format!("`{wanted}` is not in:\n{output}"));
        }
    }
    Ok(())
}

#[test]
fn the_readme_lists_every_kind_of_chart_with_its_options() {
    let text = document("README.md");
    for info in shakedown::report::CHARTS {
        let options: Vec<String> = info.options.iter().map(|option| format!("`{}`", option.word())).collect();
        let row = format!("| `{}` | {} | {} |", info.kind.word(), info.about, options.join(", ")).replace("|  |", "| |");
        assert!(text.contains(&row), "{row}");
    }
    assert_eq!(shakedown::report::CHARTS.len(), ChartKind::WORDS.len(), "every word of the language is a kind");
}

#[test]
fn commands_end_as_shown() {
    let text = document("README.md");
    let folder = place(&text);
    let transcripts = transcripts(&text);
    let mut ran = 0;
    let mut recorded = false;
    for shown in &transcripts {
        let mut words = shown.command.split(' ');
        let kind = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // Of a run, and of what follows from its numbers, only the end can be the same here.
        let exact = match kind {
            ("shakedown", "check" | "parse" | "status") => true,
            ("shakedown", "plan") => !recorded,
            ("shakedown", "doctor" | "report" | "run") => false,
            ("make", _) => true,
            _ => continue,
        };
        // A run that was stopped by hand is not stopped here.
        let code = if kind.1 == "run" && shown.code >= i32::from(cli::exit::INTERRUPTED) { 0 } else { shown.code };
        let (found, output) = run(folder.path(), &shown.command);
        assert_eq!(found, code, "{}:\n{output}", shown.command);
        recorded |= kind.1 == "run";
        if exact {
            shows(&output, &shown.output).unwrap_or_else(|why| panic!("{}: {why}", shown.command));
        }
        ran += 1;
    }
    let has = |start: &str| assert!(transcripts.iter().any(|shown| shown.command.starts_with(start)), "{start}");
    [
        "make",
        "shakedown check",
        "shakedown plan",
        "shakedown run",
        "shakedown report",
        "shakedown status",
        "shakedown parse",
        "shakedown doctor",
    ]
    .into_iter()
    .for_each(has);
    assert!(ran >= 5 && transcripts.iter().any(|shown| shown.code == 2), "{transcripts:?}");
}

#[test]
fn manifests_are_right() {
    let mut read = 0;
    for name in DOCUMENTS {
        for (file, text) in manifests(&document(name)) {
            let stem = file.as_deref().unwrap_or("example.yaml").trim_end_matches(".yaml");
            let source = manifest::Source { name: stem, folder: root(), text: &text };
            let template = |name: &str| std::fs::read_to_string(root().join("templates").join(name)).ok();
            let read_back = manifest::read(&source, &template);
            let (_, warnings) = read_back.unwrap_or_else(|problems| panic!("{name}: {:?}\n{text}", problems.0));
            assert!(warnings.is_empty(), "{name}: {warnings:?}");
            read += 1;
        }
    }
    assert!(read >= 7, "{read}");
}

#[test]
fn every_shipped_experiment_checks() {
    let files = experiment_files();
    assert!(files.len() >= 10, "{files:?}");
    let folder = place("");
    let (code, output) = run(folder.path(), "shakedown check experiments");
    assert_eq!(code, 0, "{output}");
    for path in files {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        assert!(output.contains(&format!("experiments/{name}: ok, ")), "{name}: {output}");
        assert!(document("README.md").contains(&format!("(experiments/{name})")), "the README does not name {name}");
    }
}

/// Targets of links and images outside of fenced blocks.
fn links(text: &str) -> Vec<String> {
    let mut outside = String::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if !fenced {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    outside.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

#[test]
fn relative_links_lead_somewhere() {
    for name in DOCUMENTS {
        let found = links(&document(name));
        let folder = root().join(name).parent().map(Path::to_path_buf).expect("a folder");
        for target in &found {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            // Reports may not be committed yet; what is there must be whole.
            let absent = path.starts_with("reports/") && !folder.join(path).parent().is_some_and(Path::exists);
            assert!(absent || folder.join(path).exists(), "{name}: {target}");
        }
        assert!(name == "CHANGELOG.md" || !found.is_empty(), "{name}");
    }
}

#[test]
fn keys_that_do_not_work_yet_are_the_codes_own() {
    let later = |record: &'static Record| {
        record
            .fields
            .iter()
            .filter(|field| field.support == Support::Later)
            .map(|field| format!("`{}`", field.name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let text = document("README.md");
    for (place, record) in [("top level", &EXPERIMENT), ("`engine:`", &ENGINE), ("`workload:`, `workloads:`", &WORKLOAD)] {
        let line = format!("| {place} | {} |", later(record));
        assert!(text.lines().any(|found| found == line), "the README lacks this line:\n{line}");
    }
}

#[test]
fn exit_codes_are_the_programs_own() {
    let text = document("README.md");
    for (code, _) in cli::exit::HELP.lines().skip(1).filter_map(|line| line.trim().split_once("  ")) {
        assert!(text.contains(&format!("| {code}")), "exit code {code}");
    }
}

fn metrics_table() -> String {
    let mut table = String::from("| metric | unit | better | from | what it is |\n|---|---|---|---|---|\n");
    let mut row = |from: &str, metric: &MetricInfo| {
        let better = match metric.better {
            Some(Better::Higher) => "higher",
            Some(Better::Lower) => "lower",
            None => "",
        };
        let about = metric.about.replace('|', "\\|");
        writeln!(table, "| `{}` | {} | {better} | {from} | {about} |", metric.name, metric.unit).expect("text");
    };
    BUILTIN_METRICS.iter().for_each(|metric| row("every workload", metric));
    TRIAL_METRICS.iter().for_each(|metric| row("every trial", metric));
    dictionary().iter().for_each(|(parser, metric)| row(&format!("`parse: {parser}`"), metric));
    table
}

/// Where a warning or a taint of a check begins, as a person reads it.
fn limit(check: &CheckInfo, limit: Option<f64>) -> String {
    let Some(limit) = limit else { return String::new() };
    let sign = if check.bad == Bad::Below { "<" } else { ">" };
    match (check.bad, check.amount) {
        (Bad::OffMedian, _) => format!("{limit} times off"),
        (Bad::OffRun, _) => format!("{} % off", limit * 100.0),
        (_, Amount::Share) if limit > 0.0 => format!("{sign} {} %", limit * 100.0),
        _ => format!("{sign} {limit}"),
    }
}

fn checks_table() -> String {
    let mut table = String::from("| check | warns | taints | what is read |\n|---|---|---|---|\n");
    for check in CHECKS {
        let (warn, taint) = (limit(check, check.warn), limit(check, check.taint));
        writeln!(table, "| `{}` | {warn} | {taint} | {} |", check.name, check.about).expect("text");
    }
    table
}

#[test]
fn the_tables_of_metrics_and_checks_are_the_codes_own() {
    let mut text = document("METHODOLOGY.md");
    for (name, table) in [("metrics", metrics_table()), ("checks", checks_table())] {
        let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
        let (before, rest) = text.split_once(&begin).expect("the first marker");
        let (found, after) = rest.split_once(&end).expect("the second marker");
        if std::env::var(SWITCH).is_ok_and(|value| value == "rewrite") {
            text = format!("{before}{begin}{table}{end}{after}");
            std::fs::write(root().join("METHODOLOGY.md"), &text).expect("METHODOLOGY.md");
        } else {
            assert_eq!(found, table, "run `{SWITCH}=rewrite cargo test --test main readme::` and commit METHODOLOGY.md");
        }
    }
}
