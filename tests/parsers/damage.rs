//! Damaged outputs: no panic, and no number out of nothing.

use super::{fixture, fixtures, parse};
use shakedown::measure::parsers::{PARSERS, ToolOutput, run};
use shakedown::model::metric::{Observation, Parsed, Unit};
use shakedown::model::spec::{Extraction, ParseSpec, Pick, Stream};

/// Every parser; the folder of its saved outputs has the same name.
pub(super) fn tools() -> Vec<&'static str> {
    PARSERS.iter().map(|parser| parser.info().name).collect()
}

/// Marsaglia's xorshift with 64 bits: small, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit.max(1)
    }
}

/// One to four wounds: bytes changed, lines dropped, doubled, swapped or cut, the whole cut off at either end.
fn damaged(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=dice.below(4) {
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let (line, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(8) {
            0 | 1 if !bytes.is_empty() => {
                let at = dice.below(bytes.len());
                let choice = b"0123456789.,-+emsx: ()\n\r\t\0\x1b[{\"\xff";
                bytes[at] = choice[dice.below(choice.len())];
                continue;
            }
            2 if !bytes.is_empty() => {
                bytes.truncate(dice.below(bytes.len()));
                continue;
            }
            3 if !bytes.is_empty() => {
                bytes.drain(..dice.below(bytes.len()));
                continue;
            }
            _ if lines.is_empty() => continue,
            4 => drop(lines.remove(line)),
            5 => lines.insert(other, lines[line].clone()),
            6 => lines.swap(line, other),
            _ => {
                let end = dice.below(lines[line].len());
                lines[line].truncate(end);
            }
        }
        bytes = lines.concat();
    }
    bytes
}

/// Every run of digits with at most one decimal mark and an exponent, however it is surrounded.
fn numbers(text: &[u8]) -> Vec<f64> {
    let mut found = Vec::new();
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while at < text.len() {
        if !digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        while digit(at) {
            at += 1;
        }
        if matches!(text.get(at), Some(b'.' | b',')) && digit(at + 1) {
            at += 1;
            while digit(at) {
                at += 1;
            }
        }
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        if text.get(at) == Some(&b'e') && digit(at + 1 + sign) {
            at += 1 + sign;
            while digit(at) {
                at += 1;
            }
        }
        let number = String::from_utf8_lossy(&text[start..at]);
        found.push(number.replace(',', ".").parse().expect("digits"));
        found.extend(thousands(&text[start..]));
        // A comma may also stand between two numbers, of which the second may have decimals.
        if let Some(comma) = number.find(',') {
            found.push(number[..comma].parse().expect("digits"));
            at = start + comma + 1;
        }
    }
    found
}

/// `2,035.5` at the beginning of a text, with its groups as thousands.
fn thousands(text: &[u8]) -> Option<f64> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit() && !matches!(byte, b',' | b'.')).unwrap_or(text.len());
    let number = String::from_utf8_lossy(&text[..end]);
    let mut groups = number.split('.').next()?.split(',').skip(1).peekable();
    groups.peek()?;
    if groups.all(|group| group.len() == 3) { number.replace(',', "").parse().ok() } else { None }
}

/// What a unit is in base units: ms, us, ns, min, h, k, M, KiB, MiB, GiB.
const UNITS: [f64; 11] = [1.0, 1e-3, 1e-6, 1e-9, 60.0, 3600.0, 1e3, 1e6, 1024.0, 1_048_576.0, 1_073_741_824.0];

/// These leave out the lines of errors when there were none.
fn is_left_out(tool: &str, metric: &str) -> bool {
    match tool {
        "ab" | "wrk" => metric.starts_with("errors") || metric.starts_with("non_2xx"),
        "isucon14" => metric == "errors",
        "autocannon" => metric.starts_with("errors") || metric.starts_with("non_2xx") || metric == "mismatches",
        _ => false,
    }
}

/// fio's jobs are added up: a total of both directions, two jobs in one, or a mean that lies between what it is a mean of.
fn is_added_up(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    if let Some(latency) = metric.name.strip_suffix("_avg") {
        let bounds = [value(&format!("{latency}_min")), value(&format!("{latency}_max"))];
        return matches!(bounds, [Some(min), Some(max)] if (min..=max).contains(&metric.value));
    }
    if !metric.name.contains('_') {
        let parts = ["read", "write"].map(|direction| value(&format!("{direction}_{}", metric.name)).unwrap_or_default());
        return is_near(metric.value, parts[0] + parts[1]);
    }
    numbers.iter().any(|one| numbers.iter().any(|other| is_near(metric.value, one + other)))
}

/// locust's JSON has an object for each name: their counts are added up, their mean lies between the extremes, and the rate is over
/// the time between two stamps.
fn is_of_locust(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    let pairs = |is: &dyn Fn(f64, f64) -> bool| numbers.iter().any(|one| numbers.iter().any(|other| is(*one, *other)));
    match metric.name.as_str() {
        "requests" | "errors" | "body_bytes" => pairs(&|one, other| is_near(metric.value, one + other)),
        "requests_per_second" => pairs(&|last, first| value("requests").is_some_and(|count| is_near(metric.value, count / (last - first)))),
        "latency_avg" => {
            matches!((value("latency_min"), value("latency_max")), (Some(min), Some(max)) if (min..=max).contains(&metric.value))
        }
        _ => false,
    }
}

/// k6 tells rates without a duration or a duration without rates, shares of checks, bytes with decimal prefixes and clock readings.
fn is_of_k6(metric: &Observation, numbers: &[f64]) -> bool {
    let value = metric.value;
    let pairs = |is: &dyn Fn(f64, f64) -> bool| numbers.iter().any(|one| numbers.iter().any(|other| is(*one, *other)));
    match metric.name.as_str() {
        "bytes" | "bytes_per_second" if numbers.iter().any(|n| (0..7).any(|power| is_near(value, n * 1000f64.powi(power)))) => true,
        "duration" | "requests_per_second" | "iterations_per_second" | "bytes_per_second" => {
            pairs(&|n, d| is_near(value, n / d) || is_near(value, n / (d / 1e3)))
        }
        "checks" => pairs(&|passes, fails| is_near(value, passes + fails)),
        "checks_failed" => pairs(&|of, passes| is_near(value, of - passes)),
        name if name.starts_with("latency_") => {
            numbers.windows(2).any(|pair| is_near(value, pair[0] * 60.0 + pair[1]))
                || numbers.windows(3).any(|three| is_near(value, three[0] * 3600.0 + three[1] * 60.0 + three[2]))
        }
        _ => false,
    }
}

/// The benchmarker of ISUCON 14 prints `code:count` for each kind of error: every second number adds up.
fn is_sum_of_every_second(value: f64, numbers: &[f64]) -> bool {
    let sums = |from: usize| numbers[from..].iter().step_by(2).scan(0.0, |sum, count| Some(std::mem::replace(sum, *sum + count) + count));
    (0..numbers.len()).any(|from| sums(from).any(|sum| is_near(value, sum)))
}

fn is_near(value: f64, candidate: f64) -> bool {
    candidate == value || (candidate - value).abs() <= value.abs() * 1e-9
}

/// Whether `value` is a number of the text, in another unit perhaps.
fn in_some_unit(value: f64, numbers: &[f64]) -> bool {
    numbers.iter().any(|n| UNITS.iter().any(|unit| is_near(value, n * unit)))
}

/// Whether `value` is a number of the text in some unit, a clock reading of neighbours, a sum of two or four, or a quotient of two.
fn supported(value: f64, numbers: &[f64]) -> bool {
    let is = |candidate: f64| is_near(value, candidate);
    in_some_unit(value, numbers)
        || numbers.windows(2).any(|pair| is(pair[0] * 60.0 + pair[1]) || is(pair[0] + pair[1]))
        || numbers.windows(4).any(|four| is(four.iter().sum()))
        || numbers.windows(3).any(|three| is(three[0] * 3600.0 + three[1] * 60.0 + three[2]))
        || numbers.iter().any(|n| numbers.iter().any(|d| is(n / d) || is(n / (d / 1e6))))
}

/// What is computed of mysqlslap's numbers: clients times queries of each, and those over the mean duration.
fn is_of_all_clients(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    match metric.name.as_str() {
        "queries" => numbers.iter().any(|clients| numbers.iter().any(|each| is_near(metric.value, clients * each))),
        "queries_per_second" => value("queries").zip(value("duration")).is_some_and(|(all, time)| is_near(metric.value, all / time)),
        _ => in_some_unit(metric.value, numbers),
    }
}

/// What is computed of memcslap's numbers: keys over time, and the keys of all threads without those that worked.
fn is_of_all_keys(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    match (metric.name.as_str(), value("requests"), value("duration")) {
        ("errors", Some(keys), _) => numbers.iter().any(|made| numbers.iter().any(|threads| is_near(made * threads, keys + metric.value))),
        ("requests_per_second", Some(keys), Some(time)) => is_near(metric.value, keys / time),
        _ => in_some_unit(metric.value, numbers),
    }
}

/// Lists of answers are added up and leave out what there was none of. A table of hey has a row of eight numbers for each response, and
/// all else is computed from it.
fn is_answered(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    let pair = |value: f64| numbers.iter().any(|one| numbers.iter().any(|other| is_near(value, one + other)));
    let rows = |value: f64| value * 8.0 <= numbers.len() as f64;
    let table = value("errors").is_none();
    match (metric.name.as_str(), value("requests"), value("duration")) {
        ("requests" | "errors" | "non_2xx_3xx" | "requests_cut_off", ..) => {
            metric.value == 0.0 || if table { rows(metric.value) } else { pair(metric.value) }
        }
        ("requests_per_second", Some(requests), Some(duration)) => is_near(metric.value * duration, requests),
        ("duration", ..) => table && pair(metric.value),
        ("latency_avg", ..) => table && (value("latency_min").unwrap_or(0.0)..=value("latency_max").unwrap_or(0.0)).contains(&metric.value),
        _ => false,
    }
}

/// httperf's errors and bad replies are sums of their kinds, its rate and the mean time of a request those of printed numbers.
fn is_summed_by_httperf(found: &Parsed, metric: &Observation) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    match metric.name.as_str() {
        "errors" => {
            let kinds = found.metrics.iter().filter(|metric| metric.name.starts_with("errors_"));
            is_near(metric.value, kinds.map(|metric| metric.value).sum())
        }
        "latency_avg" => is_near(metric.value, value("waiting_avg").unwrap_or(0.0) + value("transfer_avg").unwrap_or(0.0)),
        "requests_per_second" => {
            value("requests").zip(value("duration")).is_some_and(|(requests, duration)| is_near(metric.value * duration, requests))
        }
        _ => false,
    }
}

/// Whether the text holds what a metric says, by what the tool leaves out and what its parser computes.
fn is_held(tool: &str, found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    match tool {
        "mysqlslap" => is_of_all_clients(found, metric, numbers),
        "memcaslap" | "pgbench" | "redis-benchmark" => in_some_unit(metric.value, numbers),
        "memcslap" => is_of_all_keys(found, metric, numbers),
        // A percentage.
        "stress-ng" if metric.name == "cpu_usage" => in_some_unit(metric.value * 100.0, numbers),
        "stress-ng" => in_some_unit(metric.value, numbers),
        "isucon14" if metric.name == "errors" && is_sum_of_every_second(metric.value, numbers) => true,
        "k6" => in_some_unit(metric.value, numbers) || is_of_k6(metric, numbers),
        "locust" => in_some_unit(metric.value, numbers) || is_of_locust(found, metric, numbers),
        "hey" | "oha" => in_some_unit(metric.value, numbers) || is_answered(found, metric, numbers),
        "httperf" => in_some_unit(metric.value, numbers) || is_summed_by_httperf(found, metric),
        "fio" => in_some_unit(metric.value, numbers) || is_added_up(found, metric, numbers),
        _ => metric.value == 0.0 && is_left_out(tool, &metric.name) || supported(metric.value, numbers),
    }
}

/// Gives `cases` damaged outputs to the parsers, most of them to the tool's own; each seed has others.
fn no_number_out_of_nothing(seed: u64, cases: u64) {
    let tools = tools();
    let saved = |tool: &'static str| fixtures(tool).into_iter().map(move |file| (tool, fixture(tool, &file)));
    let originals: Vec<(&str, Vec<u8>)> = tools.iter().copied().flat_map(saved).collect();
    let mut dice = Dice(seed);
    let mut seen = 0;
    for case in 0..cases {
        let (own, original) = &originals[dice.below(originals.len())];
        let text = damaged(original, &mut dice);
        let numbers = numbers(&text);
        let tool = if dice.below(4) == 0 { tools[dice.below(tools.len())] } else { own };
        let found = if dice.below(2) == 0 { parse(tool, &text, b"", 0) } else { parse(tool, b"", &text, 0) };
        assert!(found.ok || !found.problems.is_empty(), "{case}: not ok, and no reason");
        for metric in &found.metrics {
            seen += 1;
            let context = || format!("{case}: {tool}: {} = {} in {:?}", metric.name, metric.value, String::from_utf8_lossy(&text));
            assert!(metric.value.is_finite() && metric.value >= 0.0, "{}", context());
            assert!(is_held(tool, &found, metric, &numbers), "{}", context());
        }
    }
    assert!(seen > cases / 2, "the damage left enough to read: {seen}");
}

#[test]
fn damaged_outputs_yield_no_number_out_of_nothing() {
    no_number_out_of_nothing(0x5EED, 20_000);
}

#[test]
#[ignore = "minutes: `make soak`"]
fn soak_damaged_outputs() {
    no_number_out_of_nothing(0x50AC, 100_000);
}

#[test]
fn a_value_that_the_text_does_not_hold_is_noticed() {
    assert_eq!(numbers(b"2,035.5 1,446x"), [2.035, 2035.5, 2.0, 35.5, 1.446, 1446.0, 1.0, 446.0]);
    let numbers = numbers(b"real\t1m 1.01s\n5 bytes, 2,5e-05 s");
    assert_eq!(numbers, [1.0, 1.01, 5.0, 2.5e-05, 2.0, 5e-05]);
    assert!(supported(61.01, &numbers) && supported(200_000.0, &numbers) && supported(0.005, &numbers));
    assert!(!supported(62.01, &numbers) && !supported(0.3, &numbers));
}

#[test]
fn damaged_outputs_do_not_upset_declared_extraction() {
    let table = b"note\n{\"score\": 1.5, \"jobs\": [{\"iops\": nan}, {\"iops\": 2}]}\ntest,rps\n\"a, b\",12.5\nc,13\nscore: 7\n";
    let extraction = |pattern: &str| Extraction {
        name: "score".to_owned(),
        pattern: pattern.to_owned(),
        from: Stream::Both,
        pick: Pick::Last,
        unit: Unit::ONE,
        better: None,
    };
    let specs = [
        ParseSpec::Regex(vec![extraction(r"score: (\S+)")]),
        ParseSpec::Json(vec![extraction("$.score")]),
        ParseSpec::Csv(vec![extraction("rps")]),
    ];
    let mut dice = Dice(7);
    for case in 0..3_000 {
        let text = damaged(table, &mut dice);
        for spec in &specs {
            let found = run(spec, &ToolOutput { stdout: &text, stderr: b"", exit_code: Some(0) });
            assert_eq!(found.ok, found.metrics.len() == 1, "{case}: {found:?}");
            for metric in found.metrics {
                let value = metric.value.abs();
                assert!(value.is_finite() && supported(value, &numbers(&text)) || value > 1e15, "{case}: {value} in {text:?}");
            }
        }
    }
}
