//! `doctor`: what this machine can do, and what would disturb a measurement on it.

use super::{engines, exit, grid, install, probe, signals, talk, turn};
use crate::engine::{control, dockerd};
use crate::execute::EngineSource;
use crate::measure::doctor::{Asked, Finding, Sight, State, examine, missing_packages};
use crate::model::possible::Survey;
use crate::model::spec::EngineSpec;
use serde_json::json;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

/// Limit on each answer of the daemon and of a program.
const ANSWER: Duration = Duration::from_secs(10);

const HELP: &str = "\
States:
  ok            it is there, or nothing disturbs
  warn          it is there, but numbers may suffer
  unobservable  it cannot be told from here
  no            it is not there

Exit codes:
  0    a plain experiment can run here: containers with limits on the default daemon
  3    something that it needs is missing; with --install: something was not installed; with --probe: nothing could be tried
  130  stopped by SIGINT while it tried (143: SIGTERM); nothing is left";

/// Say what this machine can do, and what would disturb a measurement on it now.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Address of the engine; without it the daemon that docker would use.
    #[arg(long, value_name = "URL", env = "SHAKEDOWN_ENGINE")]
    engine: Option<String>,
    /// Try it: start a private daemon of every kind that may work here, and containers in every network mode. Needs root, and this host
    /// for itself.
    #[arg(long, conflicts_with = "install")]
    probe: bool,
    /// Of all storage drivers and file systems only these, such as `vfs/tmpfs`: for tests, hence not in the help.
    #[arg(long, value_name = "DRIVER/FILESYSTEM", value_delimiter = ',', requires = "probe", hide = true)]
    probe_only: Vec<String>,
    #[command(flatten)]
    others: turn::Others,
    /// Install the missing Debian packages, without recommended ones and without starting any service. Asks first.
    #[arg(long, conflicts_with = "format")]
    install: bool,
    /// Do not ask.
    #[arg(long, requires = "install")]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
}

pub fn run(arguments: &Arguments) -> u8 {
    if arguments.others.wait && !arguments.probe {
        talk::error("`--wait` is for `--probe`: without it nothing is started that could disturb others");
        return exit::USAGE;
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(failure) => {
            talk::error(format!("start the runtime: {failure}"));
            return exit::MACHINE;
        }
    };
    let may_make_groups = control::may_make_groups(&control::layout().unwrap_or_default());
    if arguments.install {
        let sight = Sight::look(may_make_groups);
        return runtime.block_on(install::install(&missing_packages(&sight), arguments.yes));
    }
    // Asked before the look, so that what the daemon does for an answer is not taken for others' work.
    let mut asked = runtime.block_on(ask(arguments.engine.as_deref()));
    let sight = Sight::look(may_make_groups);
    asked.dockerd = sight.programs.get("dockerd").and_then(|program| runtime.block_on(version(&program.path)));
    asked.survey = dockerd::survey();
    // After the look: what is tried is not to be taken for others' work either.
    if arguments.probe
        && let Err(code) = runtime.block_on(try_it(arguments, &mut asked.survey))
    {
        return code;
    }
    let findings = examine(&sight, &asked);
    let written = match arguments.format {
        Format::Table => talk::data(|out| table(out, &findings)),
        Format::Json => talk::data(|out| as_json(out, &findings)),
    };
    written.max(conclusion(&findings))
}

/// Tries what may work, with this host for ourselves.
///
/// # Errors
/// The exit code, after saying why.
async fn try_it(arguments: &Arguments, survey: &mut Survey) -> Result<(), u8> {
    let stop = signals::watch("what was started is torn down").map_err(|failure| {
        talk::error(format!("watch for signals: {failure}"));
        exit::MACHINE
    })?;
    let _turn = turn::take(&arguments.others, "doctor --probe", &stop)?;
    probe::probe(survey, &arguments.probe_only, &stop).await
}

/// What the default daemon says of itself; that there is none is an answer, too.
async fn ask(address: Option<&str>) -> Asked {
    let engine = async {
        let engine = engines::Engines::new(address).map_err(|error| error.to_string())?.open(&EngineSpec::default()).await;
        let engine = engine.map_err(|error| error.to_string())?;
        let facts = engine.facts().await.map_err(|error| error.to_string())?;
        Ok((facts, engine.neighbours().await.ok()))
    };
    let late = || Err(format!("the daemon does not answer within {} s", ANSWER.as_secs()));
    match tokio::time::timeout(ANSWER, engine).await.unwrap_or_else(|_| late()) {
        Ok((facts, neighbours)) => Asked { engine: Ok(facts), neighbours, dockerd: None, survey: Survey::default() },
        Err(why) => Asked { engine: Err(why), neighbours: None, dockerd: None, survey: Survey::default() },
    }
}

/// What `--version` of a program prints; none when it fails or does not end.
async fn version(program: &std::path::Path) -> Option<String> {
    let mut command = tokio::process::Command::new(program);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(ANSWER, command.output()).await.ok()?.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Says whether a plain experiment can run, and gives the exit code.
fn conclusion(findings: &[Finding]) -> u8 {
    let missing: Vec<&Finding> = findings.iter().filter(|finding| finding.stops_plain_experiments()).collect();
    for finding in &missing {
        talk::error(format!("a plain experiment cannot run here: {}: {}; {}", finding.what, finding.detail, finding.next));
    }
    if !missing.is_empty() {
        return exit::MACHINE;
    }
    let warnings = findings.iter().filter(|finding| finding.state == State::Warn).count();
    talk::note(format!("a plain experiment can run here ({})", talk::count(warnings, "warning")));
    exit::OK
}

/// The colour of a state, as the escape code that starts it.
fn colour(state: State) -> &'static str {
    match state {
        State::Ok => "\x1b[32m",
        State::Warn => "\x1b[33m",
        State::Unobservable => "\x1b[2m",
        State::No => "\x1b[31m",
    }
}

fn table(out: &mut dyn Write, findings: &[Finding]) -> std::io::Result<()> {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let mut table = grid::new(&["state", "area", "what", "detail"], 0..0);
    for finding in findings {
        let next = if finding.next.is_empty() { String::new() } else { format!(" -> {}", finding.next) };
        table.add_row([finding.state.word(), finding.area.word(), &finding.what, &format!("{}{next}", finding.detail)]);
    }
    for (index, line) in table.lines().enumerate() {
        let line = line.trim_end();
        // Every row is one line, the header the first; the state stands in front and is the only word with a colour.
        let state = index.checked_sub(1).and_then(|index| findings.get(index)).map(|finding| finding.state).filter(|_| coloured);
        match state {
            Some(state) => writeln!(out, "{}", line.replacen(state.word(), &format!("{}{}\x1b[0m", colour(state), state.word()), 1))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// One array, a finding a line.
fn as_json(out: &mut dyn Write, findings: &[Finding]) -> std::io::Result<()> {
    write!(out, "[")?;
    for (index, finding) in findings.iter().enumerate() {
        let Finding { area, what, state, detail, next, .. } = finding;
        let value = json!({"area": area.word(), "what": what, "state": state.word(), "detail": detail, "next": next});
        write!(out, "{}{value}", if index == 0 { "\n" } else { ",\n" })?;
    }
    writeln!(out, "\n]")
}
