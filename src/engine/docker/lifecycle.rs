//! The life of a unit once it is made: started, waited for, asked how it ended, removed.

use super::removal::remove_container;
use super::{Docker, failed, reason};
use crate::engine::{Created, EngineError, Exit};
use bollard::errors::Error;
use bollard::models::ContainerState;
use bollard::query_parameters::WaitContainerOptionsBuilder;
use futures_util::StreamExt;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// An exit code, or why there is none.
type Awaited = Result<i64, String>;

/// The units of this engine that are not yet removed, by id.
#[derive(Default)]
pub(super) struct Units(Mutex<HashMap<String, Unit>>);

struct Unit {
    /// What it runs, for messages.
    program: String,
    /// The networks that it joined, in the order of its spec, which the daemon does not keep.
    networks: Vec<String>,
    exit: Option<(watch::Receiver<Option<Awaited>>, tokio::task::AbortHandle)>,
}

impl Units {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Unit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, id: &str) {
        if let Some((_, task)) = self.lock().remove(id).and_then(|unit| unit.exit) {
            task.abort();
        }
    }

    /// Notes a unit that was made.
    pub(super) fn note(&self, id: &str, program: String, networks: Vec<String>) {
        self.lock().insert(id.to_owned(), Unit { program, networks, exit: None });
    }

    /// The networks of the unit `id` in the order of its spec; none of a unit that was not created here.
    pub(super) fn networks(&self, id: &str) -> Vec<String> {
        self.lock().get(id).map_or_else(Vec::new, |unit| unit.networks.clone())
    }

    /// What the unit `id` runs, for messages.
    fn program(&self, id: &str) -> Option<String> {
        self.lock().get(id).map(|unit| unit.program.clone())
    }
}

/// Starts a container, and then sends the wait for its exit: a container that has ended by then answers at once, because it is
/// not removed by itself. Sent before, the wait could reach a daemon behind a slow connection only after a short command's end.
pub(super) async fn start(docker: &Docker, unit: &Created) -> Result<(), EngineError> {
    let program = docker.units.program(&unit.id).unwrap_or_else(|| unit.id.clone());
    docker.client.start_container(&unit.id, None).await.map_err(|error| match &error {
        Error::DockerResponseServerError { message, .. } if is_not_executable(message) => {
            EngineError::NotStarted { program: program.clone(), reason: message.trim().to_owned() }
        }
        _ => failed(format!("start `{program}`"), &error),
    })?;
    let (tell, exit) = watch::channel(None);
    let (client, id) = (docker.patient.clone(), unit.id.clone());
    let task = tokio::spawn(async move { tell.send_replace(Some(await_exit(&client, &id).await)) });
    let mut units = docker.units.lock();
    let known = units.entry(unit.id.clone()).or_insert_with(|| Unit { program, networks: Vec::new(), exit: None });
    known.exit = Some((exit, task.abort_handle()));
    Ok(())
}

async fn await_exit(client: &bollard::Docker, id: &str) -> Awaited {
    let options = WaitContainerOptionsBuilder::default().condition("not-running").build();
    let mut answers = std::pin::pin!(client.wait_container(id, Some(options)));
    match answers.next().await {
        Some(Ok(answer)) => match answer.error.and_then(|error| error.message).filter(|message| !message.is_empty()) {
            None => Ok(answer.status_code),
            Some(message) => Err(message),
        },
        // The client makes an error of every exit code above 0.
        Some(Err(Error::DockerContainerWaitError { error, code })) if error.is_empty() => Ok(code),
        Some(Err(error)) => Err(reason(&error)),
        None => Err("the engine ended the wait without an answer".into()),
    }
}

/// Whether the runtime says that the program itself cannot be executed, in the words of runc and crun.
pub(super) fn is_not_executable(message: &str) -> bool {
    let about = ["exec: \"", "exec /", "exec user process", "executable file"].iter().any(|text| message.contains(text));
    let why = [
        "executable file not found",
        "executable file `",
        "no such file or directory",
        "permission denied",
        "exec format error",
        "is a directory",
        "not a directory",
    ];
    let nobody = ["unable to find user", "unable to find group"].iter().any(|text| message.contains(text));
    nobody || (about && why.iter().any(|text| message.contains(text)))
}

/// Waits for the exit; gives its code. Nothing is taken for 0.
pub(super) async fn wait(docker: &Docker, unit: &Created) -> Result<i64, EngineError> {
    let call = |reason: String| EngineError::Call { operation: "wait for the exit".into(), reason };
    let exit = {
        let units = docker.units.lock();
        let entry = units.get(&unit.id).ok_or_else(|| call("it is not a unit of this engine".into()))?;
        entry.exit.as_ref().map(|(exit, _)| exit.clone())
    };
    let mut exit = exit.ok_or_else(|| call("it was never started".into()))?;
    let answer = exit.wait_for(Option::is_some).await.map_err(|_| call("it was given up".into()))?.clone();
    answer.unwrap_or_else(|| Err("no answer".into())).map_err(call)
}

/// Reads how it ended. Only what the daemon says after the exit counts.
///
/// The daemon stamps the start after the runtime has answered, and the finish where the exit was seen: a program that ends within
/// milliseconds can have a finish before its start. The stamps are handed on as they are.
pub(super) async fn exit(docker: &Docker, unit: &Created) -> Result<Exit, EngineError> {
    let waited = wait(docker, unit).await?; // known already
    let program = docker.units.program(&unit.id).unwrap_or_default();
    let found = docker.client.inspect_container(&unit.id, None).await.map_err(|error| failed("read the exit", &error))?;
    let no_state = || EngineError::Call { operation: "read the exit".into(), reason: "the engine says nothing of its state".into() };
    let state = found.state.ok_or_else(no_state)?;
    Ok(Exit { image: found.image, ..read_exit(&program, waited, &state)? })
}

fn read_exit(program: &str, waited: i64, state: &ContainerState) -> Result<Exit, EngineError> {
    let call = |reason: String| EngineError::Call { operation: "read the exit".into(), reason };
    if state.running == Some(true) {
        return Err(call("the engine told an exit and says that it still runs".into()));
    }
    let code = state.exit_code.ok_or_else(|| call("the engine tells no exit code".into()))?;
    if code != waited {
        return Err(call(format!("the engine told the exit code {waited}, then {code}")));
    }
    if let (126 | 127, Some(reason)) = (code, state.error.as_ref().filter(|text| !text.is_empty())) {
        return Err(EngineError::NotStarted { program: program.to_owned(), reason: reason.clone() });
    }
    let stamp = |text: &Option<String>, what: &str| {
        let stamp: Option<jiff::Timestamp> = text.as_deref().and_then(|text| text.parse().ok());
        // Docker's "never" is the year 1.
        stamp.map(jiff::Timestamp::as_nanosecond).filter(|ns| *ns > 0).ok_or_else(|| call(format!("the engine tells no {what} time")))
    };
    let (started_ns, finished_ns) = (stamp(&state.started_at, "start")?, stamp(&state.finished_at, "finish")?);
    Ok(Exit { code, signal: None, oom: state.oom_killed.unwrap_or(false), image: None, started_ns, finished_ns, time_of_day: true })
}

/// Kills and removes a container, and sees that it is gone.
pub(super) async fn remove(docker: &Docker, unit: &Created) -> Result<(), EngineError> {
    remove_container(&docker.client, &unit.id).await?;
    docker.units.forget(&unit.id);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(code: Option<i64>, started: &str, finished: &str) -> ContainerState {
        ContainerState {
            running: Some(false),
            oom_killed: Some(false),
            exit_code: code,
            started_at: Some(started.into()),
            finished_at: Some(finished.into()),
            ..ContainerState::default()
        }
    }

    #[test]
    fn stamps_keep_their_nanoseconds_and_their_offset() {
        let read = read_exit("p", 7, &state(Some(7), "1970-01-01T00:00:01.000000005Z", "1970-01-01T02:00:02.5+02:00")).expect("exit");
        let (started_ns, finished_ns) = (1_000_000_005, 2_500_000_000);
        assert_eq!(read, Exit { code: 7, signal: None, oom: false, image: None, started_ns, finished_ns, time_of_day: true });
    }

    #[test]
    fn an_exit_that_is_not_known_is_an_error_and_not_a_zero() {
        let (one, two) = ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z");
        let running = ContainerState { running: Some(true), ..state(Some(0), one, two) };
        let table = [
            (0, state(None, one, two), "no exit code"),
            (0, running, "still runs"),
            (-1, state(Some(3), one, two), "-1, then 3"),
            (0, state(Some(0), one, "0001-01-01T00:00:00Z"), "no finish time"),
            (0, state(Some(0), "", two), "no start time"),
        ];
        for (waited, state, expected) in table {
            let error = read_exit("p", waited, &state).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_runtime_that_could_not_execute_the_program_is_told_from_other_failures() {
        let ours = [
            r#"OCI runtime create failed: runc create failed: unable to start container process: exec: "nope": executable file not found in $PATH: unknown"#,
            r#"unable to start container process: exec: "/etc": permission denied: unknown"#,
            r#"failed to create shim task: exec: "/x": stat /x: no such file or directory: unknown"#,
            "standard_init_linux.go:228: exec user process caused: exec format error",
            "crun: executable file `nope` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found",
            "unable to find user nobody9: no matching entries in passwd file",
        ];
        let others = [
            "driver failed programming external connectivity on endpoint x: port is already allocated",
            "unable to start container process: error setting rlimit type 7: operation not permitted: OCI permission denied",
            "error while mounting volume: no such file or directory",
        ];
        assert_eq!(ours.map(is_not_executable), [true; 6]);
        assert_eq!(others.map(is_not_executable), [false; 3]);
        let refused =
            ContainerState { error: Some("exec: not found".into()), ..state(Some(127), "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z") };
        assert!(matches!(read_exit("p", 127, &refused), Err(EngineError::NotStarted { .. })));
    }
}
