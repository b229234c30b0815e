//! Telling whether a service is ready: looked at again and again, until it was so several times in a row.

mod http;
mod tcp;

use super::names::Names;
use super::readings;
use super::trial::limited;
use crate::engine::{Created, Engine};
use crate::measure::parsers::pattern;
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::stack::{Probe, ReadySpec};
use std::time::{Duration, Instant};

/// How long one look may take: a port can accept and never answer.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// Waits until a service is ready.
///
/// # Errors
/// When it ends before, or is not ready in time: with what the last look saw.
pub(super) async fn until_ready(
    service: &str,
    (engine, created): (&dyn Engine, &Created),
    ready: &ReadySpec,
    names: &Names<'_>,
) -> Result<(), Failure> {
    let failed = |kind, reason: String| Failure { phase: Phase::Services, kind, reason: format!("`{service}` {reason}") };
    let probe = bound(&ready.probe, names).map_err(|reason| failed(FailureKind::Unsupported, format!("cannot be asked: {reason}")))?;
    let began = Instant::now();
    let (mut in_a_row, mut seen) = (0, "it was never looked at".to_owned());
    let needed = if matches!(probe, Look::Log(_)) { 1 } else { ready.successes };
    loop {
        if ended(engine, created).await {
            return Err(early_end(service, engine, created).await);
        }
        let left = ready.timeout.saturating_sub(began.elapsed());
        match tokio::time::timeout(LOOK_LIMIT.min(left), look(&probe, (engine, created), names)).await {
            Ok(Ok(())) => in_a_row += 1,
            Ok(Err(why)) => (in_a_row, seen) = (0, why),
            Err(_) => (in_a_row, seen) = (0, "it did not answer".to_owned()),
        }
        if in_a_row >= needed {
            return Ok(());
        }
        if began.elapsed() >= ready.timeout {
            let words = last_words(engine, created).await.map(|words| format!("; it said: {words}")).unwrap_or_default();
            return Err(failed(FailureKind::Timeout, format!("is not ready within {:?}: {seen}{words}", ready.timeout)));
        }
        tokio::time::sleep(ready.interval).await;
    }
}

/// Whether a unit has ended; no engine is asked.
pub(super) async fn ended(engine: &dyn Engine, created: &Created) -> bool {
    tokio::time::timeout(Duration::ZERO, engine.wait(created)).await.is_ok()
}

/// How a unit ended that should have gone on.
pub(super) async fn early_end(service: &str, engine: &dyn Engine, created: &Created) -> Failure {
    let exit = match limited(Phase::Services, LOOK_LIMIT, engine.exit(created)).await {
        Ok(exit) => exit,
        Err(failure) => return Failure { reason: format!("`{service}`: {}", failure.reason), ..failure },
    };
    let how = match exit.oom {
        true => "was killed by the kernel for memory".to_owned(),
        false => format!("ended with exit code {}", exit.code),
    };
    let kind = readings::judge(service, &[], &exit).map_or(FailureKind::ExitCode, |failure| failure.kind);
    let words = last_words(engine, created).await.map(|words| format!(": {words}")).unwrap_or_default();
    Failure { phase: Phase::Services, kind, reason: format!("`{service}` {how}{words}") }
}

/// What a unit said last; none when it said nothing, or when the engine does not give it in time.
async fn last_words(engine: &dyn Engine, created: &Created) -> Option<String> {
    let output = limited(Phase::Services, LOOK_LIMIT, engine.output(created)).await.ok()?;
    readings::last_words(&output)
}

/// A probe with every symbol filled in and its expression compiled.
enum Look {
    Http(String),
    Tcp(String),
    Log(regex::Regex),
    Exec(Vec<String>),
}

fn bound(probe: &Probe, names: &Names<'_>) -> Result<Look, String> {
    Ok(match probe {
        Probe::Http(url) => Look::Http(names.text(url)?),
        Probe::Tcp(address) => Look::Tcp(names.text(address)?),
        Probe::Log(text) => Look::Log(pattern(text)?),
        Probe::Exec(command) => Look::Exec(names.command(command)?),
    })
}

async fn look(probe: &Look, (engine, created): (&dyn Engine, &Created), names: &Names<'_>) -> Result<(), String> {
    match probe {
        Look::Http(url) => http::answers(url, names.namespace()).await,
        Look::Tcp(address) => tcp::accepts(address, names.namespace()).await,
        Look::Log(wanted) => {
            let output = engine.output(created).await.map_err(|error| error.to_string())?;
            let says = [&output.stdout, &output.stderr].iter().any(|stream| wanted.is_match(&String::from_utf8_lossy(&stream.bytes)));
            if says { Ok(()) } else { Err(format!("no line of it matches `{wanted}`")) }
        }
        Look::Exec(command) => match engine.exec(created, command).await {
            Ok(done) if done.code == 0 => Ok(()),
            Ok(done) => {
                let words = readings::last_words(&done.output).map(|words| format!(": {words}")).unwrap_or_default();
                Err(format!("`{}` ended with exit code {}{words}", command.first().map_or("", String::as_str), done.code))
            }
            Err(error) => Err(error.to_string()),
        },
    }
}
