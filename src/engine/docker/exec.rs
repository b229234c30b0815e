//! Commands that run inside a unit.

use super::lifecycle::is_not_executable;
use super::output::collect;
use super::{Docker, failed};
use crate::engine::{Created, EngineError, Executed, Output};
use bollard::errors::Error;
use bollard::exec::StartExecResults;
use bollard::models::ExecConfig;
use std::time::Duration;

/// Looks at a command that has closed its output and is not yet said to have ended, with growing pauses between them: 10 s in all.
const LOOKS: u32 = 10;
/// The first of these pauses; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Runs `command` in the container with the container's own user, environment and folder.
pub(super) async fn exec(docker: &Docker, unit: &Created, command: &[String]) -> Result<Executed, EngineError> {
    let program = command.first().cloned().unwrap_or_default();
    let operation = format!("run `{program}` in container `{}`", unit.id);
    let refused = |error: Error| match &error {
        Error::DockerResponseServerError { message, .. } if is_not_executable(message) => not_started(&program, message),
        _ => failed(&operation, &error),
    };
    let config = ExecConfig { cmd: Some(command.to_vec()), attach_stdout: Some(true), attach_stderr: Some(true), ..ExecConfig::default() };
    let made = docker.client.create_exec(&unit.id, config).await.map_err(refused)?;
    let output = match docker.patient.start_exec(&made.id, None).await.map_err(refused)? {
        StartExecResults::Attached { output, input } => {
            drop(input);
            collect(output, &operation).await?
        }
        StartExecResults::Detached => Output::default(),
    };
    let code = exit_code(docker, &made.id, &operation).await?;
    // By the time the runtime fails, the daemon has already promised a stream: it says so in it, and with a shell's codes.
    let told = String::from_utf8_lossy(&output.stdout.bytes);
    if matches!(code, 126 | 127) && told.starts_with("OCI runtime exec failed") {
        let reason = told.trim().to_owned();
        return Err(if is_not_executable(&told) { not_started(&program, &told) } else { EngineError::Call { operation, reason } });
    }
    Ok(Executed { code, output })
}

fn not_started(program: &str, reason: &str) -> EngineError {
    EngineError::NotStarted { program: program.to_owned(), reason: reason.trim().to_owned() }
}

/// The exit code of a command whose output has ended; the daemon may learn of the exit a moment after that.
async fn exit_code(docker: &Docker, id: &str, operation: &str) -> Result<i64, EngineError> {
    let mut pause = FIRST_PAUSE;
    for _ in 0..LOOKS {
        let found = docker.client.inspect_exec(id).await.map_err(|error| failed(operation, &error))?;
        if found.running == Some(false) {
            let none = || EngineError::Call { operation: operation.to_owned(), reason: "the engine tells no exit code".to_owned() };
            return found.exit_code.ok_or_else(none);
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    let reason = "its output has ended, and the engine says that it still runs".to_owned();
    Err(EngineError::Call { operation: operation.to_owned(), reason })
}
