//! Storage drivers of private daemons and the file systems below them: a line each, over answers that are given from outside.

use super::{Area, Finding, State};
use crate::model::possible::{Answer, Possible, Survey};
use crate::model::private::Filesystem;

const AREA: Area = Area::Storage;

/// How it stands with every driver over the file systems, and with every file system by itself.
pub(super) fn findings(survey: &Survey) -> Vec<Finding> {
    let drivers = survey.pairs.chunk_by(|one, next| one.storage_driver == next.storage_driver).map(driver);
    let backings = survey.backings.iter().map(|(filesystem, answer)| {
        let good = if *filesystem == Filesystem::Tmpfs { "in the kernel" } else { "in the kernel, with its mkfs and loop devices" };
        let detail = reason(answer).unwrap_or(good);
        AREA.finds(&format!("backing {}", filesystem.name()), state(answer), detail, "")
    });
    drivers.chain(backings).collect()
}

/// An answer as a state.
pub(super) fn state(answer: &Answer) -> State {
    match answer {
        Answer::Expected | Answer::Ran => State::Ok,
        Answer::Unseen(_) => State::Unobservable,
        Answer::No(_) => State::No,
    }
}

/// What stands against it.
pub(super) fn reason(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Expected | Answer::Ran => None,
        Answer::Unseen(why) | Answer::No(why) => Some(why),
    }
}

/// A driver is as good as on the best of its file systems.
fn driver(pairs: &[Possible]) -> Finding {
    let best = pairs.iter().map(|pair| state(&pair.answer)).min().unwrap_or(State::No);
    let on = |answer: Answer| pairs.iter().filter(move |pair| pair.answer == answer);
    let ran: Vec<String> = on(Answer::Ran).map(ran).collect();
    let expected: Vec<&str> = on(Answer::Expected).map(|pair| pair.filesystem.name()).collect();
    // Each reason once, behind the file systems that it is about; behind none where it is about all of them.
    let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, why) in pairs.iter().filter_map(|pair| Some((pair.filesystem.name(), reason(&pair.answer)?))) {
        match reasons.iter_mut().find(|(_, known)| *known == why) {
            Some((names, _)) => names.push(name),
            None => reasons.push((vec![name], why)),
        }
    }
    let mut parts = Vec::new();
    if !ran.is_empty() {
        parts.push(format!("a container ran on {}", ran.join(", ")));
    }
    if !expected.is_empty() {
        parts.push(format!("{}on {}", if ran.is_empty() { "" } else { "not tried " }, expected.join(", ")));
    }
    parts.extend(reasons.into_iter().map(|(names, why)| match names.len() {
        all if all == pairs.len() => why.to_owned(),
        _ => format!("{}: {why}", names.join(", ")),
    }));
    AREA.finds(pairs.first().map_or("", |pair| pair.storage_driver), best, parts.join("; "), "")
}

/// `xfs (API after 1.2 s)`.
fn ran(pair: &Possible) -> String {
    let name = pair.filesystem.name();
    pair.ready_after.map_or_else(|| name.to_owned(), |time| format!("{name} (API after {:.1} s)", time.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_driver_is_one_line_with_each_reason_once() {
        let no = |why: &str| Answer::No(why.to_owned());
        let unseen = || Answer::Unseen("unreadable".to_owned());
        let (ran, expected) = (Answer::Ran, Answer::Expected);
        let table = [
            ([expected.clone(), expected.clone(), expected.clone(), expected.clone()], State::Ok, "on ext4, xfs, btrfs, tmpfs"),
            ([no("no loops"), no("no loops"), no("no mkfs"), expected.clone()], State::Ok, "on tmpfs; ext4, xfs: no loops; btrfs: no mkfs"),
            ([expected.clone(), unseen(), unseen(), no("full")], State::Ok, "on ext4; xfs, btrfs: unreadable; tmpfs: full"),
            ([no("gone"), no("gone"), no("gone"), no("gone")], State::No, "gone"),
            ([no("gone"), unseen(), unseen(), unseen()], State::Unobservable, "ext4: gone; xfs, btrfs, tmpfs: unreadable"),
            ([unseen(), unseen(), unseen(), unseen()], State::Unobservable, "unreadable"),
            (
                [ran.clone(), no("the container did not start"), expected, ran],
                State::Ok,
                "a container ran on ext4 (API after 1.2 s), tmpfs (API after 1.2 s); not tried on btrfs; xfs: the container did not start",
            ),
        ];
        for (answers, state, detail) in table {
            let pairs: Vec<Possible> = Filesystem::ALL
                .into_iter()
                .zip(answers)
                .map(|(filesystem, answer)| Possible {
                    storage_driver: "overlay2",
                    filesystem,
                    ready_after: (answer == Answer::Ran).then_some(Duration::from_millis(1230)),
                    answer,
                })
                .collect();
            let found = driver(&pairs);
            assert_eq!((found.what.as_str(), found.state, found.detail.as_str()), ("overlay2", state, detail));
        }
    }

    #[test]
    fn drivers_come_before_the_file_systems() {
        let pair = |storage_driver, filesystem| Possible { storage_driver, filesystem, answer: Answer::Expected, ready_after: None };
        let survey = Survey {
            pairs: vec![pair("vfs", Filesystem::Xfs), pair("vfs", Filesystem::Tmpfs), pair("overlay2", Filesystem::Xfs)],
            backings: vec![(Filesystem::Xfs, Answer::Expected), (Filesystem::Btrfs, Answer::No("no mkfs".to_owned()))],
            ..Survey::default()
        };
        let lines: Vec<String> = findings(&survey).into_iter().map(|found| format!("{}: {}", found.what, found.detail)).collect();
        let expected = [
            "vfs: on xfs, tmpfs",
            "overlay2: on xfs",
            "backing xfs: in the kernel, with its mkfs and loop devices",
            "backing btrfs: no mkfs",
        ];
        assert_eq!(lines, expected);
    }
}
