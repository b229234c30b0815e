//! The default daemon by what it said of itself, and whether there can be private ones.

use super::{Area, Asked, Finding, Sight, tools};
use crate::model::facts::EngineFacts;
use crate::model::possible::Survey;

const AREA: Area = Area::Engine;

pub(super) fn findings(sight: &Sight, asked: &Asked) -> Vec<Finding> {
    let mut found = match &asked.engine {
        Err(why) => {
            vec![AREA.no("daemon", why.clone(), next_step(sight)).needed()]
        }
        Ok(facts) => daemon(facts),
    };
    let version = asked.dockerd.as_deref().map(str::trim).filter(|text| !text.is_empty());
    found.extend(tools::findings(sight, AREA).into_iter().map(|mut finding| {
        if let Some(version) = version.filter(|_| finding.what == "dockerd") {
            finding.detail = format!("{}, {version}", finding.detail);
        }
        finding
    }));
    found.push(private(&asked.survey));
    found
}

/// Whether a private daemon of any kind can be started.
fn private(survey: &Survey) -> Finding {
    const WHAT: &str = "private daemons";
    if !survey.general.is_empty() {
        AREA.no(WHAT, survey.general.join("; "), "")
    } else if survey.pairs.iter().any(|pair| pair.answer.may_work()) {
        AREA.ok(WHAT, "everything that they need is there; storage drivers follow")
    } else {
        AREA.no(WHAT, "no storage driver works here", "")
    }
}

fn next_step(sight: &Sight) -> &'static str {
    if sight.programs.contains_key("dockerd") {
        "start it (`sudo systemctl start docker`), see that you may use it (group `docker`), or name another with DOCKER_HOST"
    } else {
        "install one (`shakedown doctor --install`) and start it (`sudo systemctl start docker`), or name one elsewhere with DOCKER_HOST"
    }
}

fn daemon(facts: &EngineFacts) -> Vec<Finding> {
    let EngineFacts { kind, version, endpoint, found_by, api, .. } = facts;
    let parts = [
        format!("{kind} {version}").trim_end().to_owned(),
        if endpoint.is_empty() { String::new() } else { format!("at {endpoint}") },
        if found_by.is_empty() { String::new() } else { format!("({found_by})") },
        if api.is_empty() { String::new() } else { format!("API {api}") },
    ];
    let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let mut found = vec![AREA.ok("daemon", said.join(" ")).needed()];
    if facts.is_remote() {
        found.push(AREA.warn(
            "place",
            "it is on another machine: what is said here of the host is not said of it",
            "run `doctor` there too",
        ));
    }
    let backing = if facts.backing_filesystem.is_empty() { String::new() } else { format!(" on {}", facts.backing_filesystem) };
    found.push(match facts.storage_driver.as_str() {
        slow @ ("fuse-overlayfs" | "vfs") => AREA.warn(
            "storage driver",
            format!(
                "{slow}{backing}: {}",
                if slow == "vfs" { "every container copies its image" } else { "files are served by a process, not by the kernel" }
            ),
            "keep what a measurement reads and writes in a volume or a tmpfs",
        ),
        driver => told("storage driver", driver, &backing),
    });
    found.push(told("runtime", &facts.runtime, ""));
    found.push(match facts.cgroup_driver.as_str() {
        "systemd" => AREA.warn(
            "cgroup driver",
            "systemd: no group of ours can stand around containers, so their `cpu_seconds` and `memory_peak` are absent",
            "set `\"exec-opts\": [\"native.cgroupdriver=cgroupfs\"]` in daemon.json where you need them",
        ),
        driver => told("cgroup driver", driver, ""),
    });
    found
}

fn told(what: &str, value: &str, more: &str) -> Finding {
    if value.is_empty() { AREA.unobservable(what, "the daemon does not tell") } else { AREA.ok(what, format!("{value}{more}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::doctor::State;
    use crate::model::possible::{Answer, Possible};
    use crate::model::private::Filesystem;

    fn facts() -> EngineFacts {
        EngineFacts {
            kind: "docker".into(),
            endpoint: "unix:///var/run/docker.sock".into(),
            found_by: "default socket".into(),
            version: "20.10.24".into(),
            api: "1.41".into(),
            storage_driver: "overlay2".into(),
            backing_filesystem: "extfs".into(),
            runtime: "runc 1.1.5".into(),
            cgroup_driver: "cgroupfs".into(),
            ..EngineFacts::default()
        }
    }

    fn lines(facts: &EngineFacts) -> Vec<(String, State, String)> {
        daemon(facts).into_iter().map(|finding| (finding.what, finding.state, finding.detail)).collect()
    }

    #[test]
    fn a_daemon_is_told_as_it_told_itself() {
        let line = |what: &str, detail: &str| (what.to_owned(), State::Ok, detail.to_owned());
        let expected = [
            line("daemon", "docker 20.10.24 at unix:///var/run/docker.sock (default socket) API 1.41"),
            line("storage driver", "overlay2 on extfs"),
            line("runtime", "runc 1.1.5"),
            line("cgroup driver", "cgroupfs"),
        ];
        assert_eq!(lines(&facts()), expected);
    }

    #[test]
    fn what_it_does_not_tell_is_unobservable_and_systemd_costs_metrics() {
        let states = |facts: &EngineFacts| lines(facts).into_iter().map(|(_, state, _)| state).collect::<Vec<_>>();
        let silent = EngineFacts { kind: "fake".into(), ..EngineFacts::default() };
        assert_eq!(states(&silent), [State::Ok, State::Unobservable, State::Unobservable, State::Unobservable]);
        assert_eq!(lines(&silent)[0].2, "fake");
        let systemd = EngineFacts { cgroup_driver: "systemd".into(), ..facts() };
        assert_eq!(states(&systemd), [State::Ok, State::Ok, State::Ok, State::Warn]);
        for driver in ["vfs", "fuse-overlayfs"] {
            let slow = lines(&EngineFacts { storage_driver: driver.into(), ..facts() }).remove(1);
            assert!(slow.1 == State::Warn && slow.2.starts_with(&format!("{driver} on extfs: ")), "{slow:?}");
        }
        let remote = EngineFacts { endpoint: "tcp://db1:2375".into(), ..facts() };
        assert_eq!(lines(&remote)[1].0, "place");
    }

    #[test]
    fn private_daemons_need_everything_and_one_driver() {
        let pair = |answer| Possible { storage_driver: "vfs", filesystem: Filesystem::Tmpfs, answer, ready_after: None };
        let survey = |general: &[&str], answer| Survey {
            general: general.iter().map(|reason| (*reason).to_owned()).collect(),
            pairs: vec![pair(Answer::No("gone".into())), pair(answer)],
            ..Survey::default()
        };
        let table = [
            (survey(&[], Answer::Expected), State::Ok, "everything that they need is there; storage drivers follow"),
            (survey(&["needs root", "no ip"], Answer::Expected), State::No, "needs root; no ip"),
            (survey(&[], Answer::No("gone".into())), State::No, "no storage driver works here"),
        ];
        for (survey, state, detail) in table {
            let found = private(&survey);
            assert_eq!((found.state, found.detail.as_str()), (state, detail));
        }
    }

    #[test]
    fn no_daemon_is_a_line_and_stops_plain_experiments() {
        let asked = Asked { engine: Err("no engine socket".into()), neighbours: None, dockerd: None, survey: Survey::default() };
        let found = findings(&Sight::default(), &asked);
        assert!(found[0].stops_plain_experiments() && found[0].detail == "no engine socket", "{found:?}");
        assert!(found.iter().all(|finding| finding.state == State::No), "{found:?}");
    }
}
