//! What holds for every parser.

use super::damage::tools;
use super::{fixture, fixtures, parse};
use shakedown::measure::parsers::{PARSERS, check, dictionary, find, run};
use shakedown::model::metric::{BUILTIN_METRICS, TRIAL_METRICS};
use shakedown::model::percentile::{CLOSED_LOOP, percentile};
use shakedown::model::spec::ParseSpec;
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_do_not_hide_the_built_in_metrics() {
    let names: BTreeSet<&str> = PARSERS.iter().map(|parser| parser.info().name).collect();
    assert_eq!(names.len(), PARSERS.len());
    let metrics = dictionary();
    let unique: BTreeSet<(&str, &str)> = metrics.iter().map(|(parser, metric)| (*parser, metric.name)).collect();
    assert_eq!(unique.len(), metrics.len());
    for (parser, metric) in metrics {
        assert!(BUILTIN_METRICS.iter().chain(TRIAL_METRICS).all(|builtin| builtin.name != metric.name), "{parser}: {}", metric.name);
        assert!(["s", "B", "1/s", "B/s", "1"].contains(&metric.unit), "{parser}: {}", metric.unit);
    }
}

#[test]
fn tools_that_wait_for_answers_are_those_whose_dictionary_says_so() {
    let says = |parser: &str| {
        let mut of_it = dictionary().into_iter().filter(|(name, _)| *name == parser);
        of_it.any(|(_, metric)| percentile(metric.name).is_some() && metric.about.contains("closed loop"))
    };
    for parser in PARSERS.iter().map(|parser| parser.info().name) {
        // ab has no other way to load a server, and its dictionary speaks of resolutions instead.
        assert_eq!(CLOSED_LOOP.iter().any(|(name, _)| *name == parser), says(parser) || parser == "ab", "{parser}");
    }
    assert!(CLOSED_LOOP.iter().all(|(name, _)| find(name).is_some()));
}

#[test]
fn whatever_a_parser_yields_stands_in_the_dictionary_with_its_unit() {
    for tool in tools() {
        for folder in tools() {
            for file in fixtures(folder) {
                for found in parse(tool, &fixture(folder, &file), b"", 0).metrics {
                    let known = dictionary().into_iter().find(|(parser, metric)| *parser == tool && metric.name == found.name);
                    assert_eq!(known.map(|(_, metric)| metric.unit), Some(found.unit.symbol()), "{tool}: {file}: {}", found.name);
                }
            }
        }
    }
}

#[test]
fn an_unknown_parser_is_a_message_and_not_a_panic() {
    assert!(find("tiem").is_none());
    assert_eq!(check(&ParseSpec::Tool("time".to_owned())), Ok(()));
    assert_eq!(check(&ParseSpec::Tool("tiem".to_owned())), Err("unknown parser `tiem`; did you mean `time`?".to_owned()));
    assert!(!run(&ParseSpec::Tool("tiem".to_owned()), &Default::default()).ok);
}

#[test]
fn nothing_is_never_ok() {
    for parser in PARSERS {
        let found = parser.parse(&Default::default());
        assert!(!found.ok && found.metrics.is_empty() && found.problems.len() == 1, "{}: {found:?}", parser.info().name);
    }
}
