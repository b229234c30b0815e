//! What a daemon that did not come up, or ended, says of it.

/// Parts of the daemon's messages that say little to who does not know them, and what they mean.
const MEANINGS: &[(&str, &str)] = &[
    ("prerequisites for driver not satisfied", "the storage driver does not work on this file system"),
    (
        "driver not supported",
        "the storage driver does not work here: the kernel or a program lacks what it needs, or it refuses the file system",
    ),
    ("has been deprecated and removed", "this version of Docker has no such storage driver any more"),
    ("graphdriver plugins are only supported", "there is no such storage driver"),
    ("AUFS was not found", "this kernel has no aufs"),
    ("supported for backingFS XFS", "`overlay2.size` needs `backing: xfs`, and quota in the kernel's XFS"),
    ("only for overlay over xfs", "`overlay2.size` needs `backing: xfs`, and quota in the kernel's XFS"),
    ("timeout waiting for containerd to start", "its containerd did not start: is it installed, and does its version fit?"),
    ("\"containerd\": executable file not found", "its containerd is not installed"),
    ("Devices cgroup isn't mounted", "the control groups of this host cannot be used from a namespace of its own"),
    ("directives don't match any configuration option", "`daemon` has a key that this version of Docker does not know"),
    ("are specified both as a flag and in the configuration file", "`daemon` has a key that shakedown gives itself"),
    ("unable to configure the Docker daemon", "`daemon` has a key or value that this version of Docker does not take"),
    ("unknown flag", "this version of Docker lacks a flag that private daemons need"),
    ("iptables not found", "`iptables` is not installed"),
    ("unknown filesystem type", "the kernel has no such file system"),
    ("failed to setup loop device", "no loop device is free, or this host has none"),
    ("wrong fs type, bad option", "the data root cannot be mounted: the kernel refuses its file system or an option"),
    ("unshare failed", "this host does not let us make namespaces"),
    ("Unknown device type", "the kernel has no virtual network devices (veth)"),
];

/// The message in which a daemon, or the shell before it, says why it ended: its own last word, else the last error of its log.
pub fn last_word(log: &str) -> Option<String> {
    let lines = || log.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let plain = lines().find(|line| !line.starts_with("time=") && !line.starts_with("See '") && !line.starts_with("Status:"));
    let severe = lines().find(|line| ["level=fatal", "level=error"].iter().any(|level| line.contains(level)));
    let last = lines().next();
    plain.or(severe).or(last).map(|line| message(line).unwrap_or_else(|| line.to_owned()))
}

/// The `msg` field of a line of the daemon's log.
fn message(line: &str) -> Option<String> {
    let rest = line.strip_prefix("time=")?.split_once("msg=")?.1;
    let Some(quoted) = rest.strip_prefix('"') else { return rest.split(' ').next().map(str::to_owned) };
    let mut text = String::new();
    let mut characters = quoted.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => break,
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    Some(text)
}

/// The message with what it means, where that is known.
pub fn explained(message: &str) -> String {
    let meaning = MEANINGS.iter().find(|(part, _)| message.contains(part)).map(|(_, meaning)| *meaning);
    meaning.map_or_else(|| message.to_owned(), |meaning| format!("{meaning} ({message})"))
}

/// Whether the message says that this host or this daemon cannot do it: trying again will not help.
pub fn is_final(message: &str) -> bool {
    MEANINGS.iter().any(|(part, _)| message.contains(part)) && !message.contains("timeout waiting") && !message.contains("loop device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_the_one_that_matters() {
        let graph = "time=\"2026-11-30T19:00:00Z\" level=info msg=\"Starting up\"\n\
                     time=\"2026-11-30T19:00:01Z\" level=error msg=\"[graphdriver] no\" x=y\n\
                     failed to start daemon: error initializing graphdriver: driver not supported\n";
        let log = "time=\"t\" level=info msg=\"Starting up\"\n\
                   time=\"t\" level=error msg=\"path \\\"/x\\\" is gone\" error=\"e\"\n\
                   time=\"t\" level=info msg=stopping\n";
        let table = [
            (graph, Some("failed to start daemon: error initializing graphdriver: driver not supported")),
            (log, Some("path \"/x\" is gone")),
            ("time=\"t\" level=info msg=stopping x=y\n", Some("stopping")),
            ("mount: /x: wrong fs type, bad option.\n\n", Some("mount: /x: wrong fs type, bad option.")),
            ("unknown flag: --x\nSee 'dockerd --help'.\n", Some("unknown flag: --x")),
            ("", None),
        ];
        for (log, expected) in table {
            assert_eq!(last_word(log).as_deref(), expected, "{log}");
        }
    }

    #[test]
    fn known_messages_are_explained_and_others_told() {
        let table = [
            (
                "error initializing graphdriver: prerequisites for driver not satisfied (wrong filesystem?)",
                "does not work on this file system",
                true,
            ),
            ("failed to start containerd: timeout waiting for containerd to start", "its containerd did not start", false),
            ("failed to start daemon: something new", "failed to start daemon: something new", false),
        ];
        for (message, expected, last) in table {
            let told = explained(message);
            assert!(told.contains(expected) && told.contains(message), "{told}");
            assert_eq!(is_final(message), last, "{message}");
        }
    }
}
