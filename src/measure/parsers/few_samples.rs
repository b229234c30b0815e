//! Percentiles that a tool prints although it saw too few events for them.

use super::reading::Reading;

/// Warns of percentiles (`latency_p99`, `latency_p999`) beyond which fewer than one of `count` events lies: they are the largest
/// event by another name.
pub(super) fn beware_of_few<'a>(reading: &mut Reading, count: f64, what: &str, names: impl Iterator<Item = &'a str>) {
    let beyond = |name: &str| name.split_once("_p").and_then(|(_, digits)| format!("0.{digits}").parse().ok()).map(|part: f64| 1.0 - part);
    // A whole event lies beyond p99 of 100; the subtraction leaves a little less of it.
    let few: Vec<&str> = names.filter(|name| beyond(name).is_some_and(|part| count * part < 1.0 - 1e-9)).collect();
    if !few.is_empty() {
        reading.beware(format!("{count} {what} are too few for {}: less than one of them lies beyond", few.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, beware_of_few};
    use crate::measure::parsers::ToolOutput;

    #[test]
    fn a_percentile_needs_an_event_beyond_it() {
        let said = |count: f64| {
            let mut reading = Reading::default();
            beware_of_few(&mut reading, count, "requests", ["latency_max", "latency_p50", "latency_p99", "latency_p999"].into_iter());
            reading.finish(&ToolOutput::default()).problems
        };
        assert_eq!(said(1.0), ["1 requests are too few for latency_p50, latency_p99, latency_p999: less than one of them lies beyond"]);
        assert_eq!(said(100.0), ["100 requests are too few for latency_p999: less than one of them lies beyond"]);
        assert!(said(1000.0).is_empty());
    }
}
