//! The file `P_stats.csv` of `--csv P`, and `P_failures.csv` when it stands in the same text.

use super::stats::{PERCENTILES, Stats, kind};
use crate::measure::parsers::csv_table::{Table, table};
use crate::measure::parsers::number;
use csv::StringRecord;

/// Reads the table; none when there is none.
pub(super) fn read(text: &str) -> Option<Result<Stats, String>> {
    let stats = table(text, "Request Count")?;
    Some(aggregated(&stats).map(|mut found| {
        found.kinds = kinds(text);
        found
    }))
}

fn field<'a>(table: &Table<'_>, row: &'a StringRecord, name: &str) -> Option<&'a str> {
    row.get(table.column(name)?).map(str::trim)
}

/// The last row `Aggregated`, compared with the rows that it adds up.
fn aggregated(stats: &Table<'_>) -> Result<Stats, String> {
    let damaged = |what: &str| format!("the CSV of locust is damaged or cut off: {what}");
    let (mut last, mut runs) = (None, 0);
    let (mut requests, mut failures, mut rows) = (Some(0.0), Some(0.0), 0);
    for row in &stats.rows {
        let count = |name: &str| field(stats, row, name).and_then(number::count);
        let (row_requests, row_failures) = (count("Request Count"), count("Failure Count"));
        if field(stats, row, "Type") == Some("") && field(stats, row, "Name") == Some("Aggregated") {
            let adds_up = requests == row_requests && failures == row_failures;
            last = Some((row, adds_up));
            (requests, failures, rows, runs) = (Some(0.0), Some(0.0), 0, runs + 1);
        } else {
            requests = requests.zip(row_requests).map(|(sum, count)| sum + count);
            failures = failures.zip(row_failures).map(|(sum, count)| sum + count);
            rows += 1;
        }
    }
    let (row, adds_up) = last.filter(|_| rows == 0).ok_or_else(|| damaged("its row `Aggregated` is missing"))?;
    let count = |name: &str| field(stats, row, name).and_then(number::count);
    let (Some(requests), Some(failures)) = (count("Request Count"), count("Failure Count")) else {
        return Err(damaged("its row `Aggregated` has no counts"));
    };
    let milliseconds = |name: &str| {
        let text = field(stats, row, name)?;
        number::point(text).and_then(|_| number::shifted(text, -3))
    };
    let extremes = [("Average Response Time", "latency_avg"), ("Min Response Time", "latency_min"), ("Max Response Time", "latency_max")];
    let latencies = extremes.into_iter().chain(PERCENTILES).filter_map(|(column, name)| Some((name, milliseconds(column)?))).collect();
    let rate = field(stats, row, "Requests/s").and_then(number::point);
    let mut found = Stats { requests, failures, rate, latencies, runs, ..Stats::default() };
    found.check(0.0);
    if !adds_up {
        found.contradiction = Some("its row `Aggregated` is not the sum of the others");
    }
    Ok(found)
}

fn kinds(text: &str) -> Vec<String> {
    let Some(failures) = table(text, "Occurrences") else { return Vec::new() };
    let told = |row| {
        let field = |name| field(&failures, row, name);
        number::count(field("Occurrences")?)?;
        Some(kind(field("Occurrences")?, &format!("{} {}: {}", field("Method")?, field("Name")?, field("Error")?)))
    };
    failures.rows.iter().filter_map(told).collect()
}
