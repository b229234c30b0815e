//! Damaged outputs: no panic, and no number out of nothing.

use super::{fixture, fixtures, parse};
use shakedown::measure::parsers::{PARSERS, ToolOutput, run};
use shakedown::model::metric::{Observation, Parsed, Unit};
use shakedown::model::spec::{Extraction, ParseSpec, Pick, Stream};
use std::collections::BTreeSet;

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
        // A comma may also stand between two numbers, of which the second may have decimals.
        if let Some(comma) = number.find(',') {
            found.push(number[..comma].parse().expect("digits"));
            at = start + comma + 1;
        }
    }
    found
}

/// What a unit is in base units: ms, us, ns, min, h, k, M, KiB, MiB, GiB.
const UNITS: [f64; 11] = [1.0, 1e-3, 1e-6, 1e-9, 60.0, 3600.0, 1e3, 1e6, 1024.0, 1_048_576.0, 1_073_741_824.0];

/// iperf3 counts bits and percent.
const OF_IPERF3: [f64; 5] = [1e-2, 1.0 / 8.0, 1e3 / 8.0, 1e6 / 8.0, 1e9 / 8.0];

/// top counts percent, and memory in any unit of 1024 each.
const OF_TOP: [f64; 6] = [1.0, 1e-2, 1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0];

/// These leave out the lines of errors when there were none.
fn is_left_out(tool: &str, metric: &str) -> bool {
    match tool {
        "ab" | "wrk" => metric.starts_with("errors") || metric.starts_with("non_2xx"),
        "ping" => matches!(metric, "duplicates" | "errors"),
        _ => false,
    }
}

/// Whether a mean lies between the extremes of what it is a mean of.
fn is_between(found: &Parsed, metric: &Observation) -> bool {
    let value = |name: String| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    let bounds = metric.name.strip_suffix("_avg").map(|name| [value(format!("{name}_min")), value(format!("{name}_max"))]);
    matches!(bounds, Some([Some(min), Some(max)]) if (min..=max).contains(&metric.value))
}

/// fio's jobs are added up: a total of both directions, two jobs in one, or a mean that lies between what it is a mean of.
fn is_added_up(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    if metric.name.ends_with("_avg") {
        return is_between(found, metric);
    }
    if !metric.name.contains('_') {
        let parts = ["read", "write"].map(|direction| value(&format!("{direction}_{}", metric.name)).unwrap_or_default());
        return is_near(metric.value, parts[0] + parts[1]);
    }
    numbers.iter().any(|one| numbers.iter().any(|other| is_near(metric.value, one + other)))
}

fn is_near(value: f64, candidate: f64) -> bool {
    candidate == value || (candidate - value).abs() <= value.abs() * 1e-9
}

/// Whether `value` is a number of the text, in another unit perhaps.
fn in_some_unit(value: f64, numbers: &[f64]) -> bool {
    in_units(value, numbers, &UNITS)
}

fn in_units(value: f64, numbers: &[f64], units: &[f64]) -> bool {
    numbers.iter().any(|n| units.iter().any(|unit| is_near(value, n * unit)))
}

/// Whether `value` is one number of the text over another.
fn is_share(value: f64, numbers: &[f64]) -> bool {
    numbers.iter().any(|n| numbers.iter().any(|d| is_near(value, n / d)))
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

/// Where a column stands: the number of its field, counted from the left or from the right.
#[derive(Debug, Clone, Copy)]
enum Place {
    Left(usize),
    Right(usize),
}

/// Whether `value` is the sum of a column over lines that follow each other. A line without such a field adds nothing, and one that
/// begins with a number that was seen already neither.
fn is_column_sum(value: f64, text: &[u8], place: Place) -> bool {
    let text = String::from_utf8_lossy(text);
    let plain = |line: &str| if line.starts_with('{') { line.replace(['"', ',', ':', '{', '}'], " ") } else { line.to_owned() };
    let row = |line: String| {
        let fields: Vec<&str> = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|field| !field.is_empty()).collect();
        let at = match place {
            Place::Left(at) => Some(at),
            Place::Right(at) => fields.len().checked_sub(at + 1),
        };
        let id = fields.first().filter(|field| field.bytes().all(|byte| byte.is_ascii_digit())).map(|id| (*id).to_owned());
        (id, at.and_then(|at| amount(fields.get(at)?)).unwrap_or_default())
    };
    let rows: Vec<(Option<String>, f64)> = text.split(['\n', '\r']).map(plain).map(row).collect();
    (0..rows.len()).any(|start| {
        let (mut sum, mut seen) = (0.0, BTreeSet::new());
        let mut sums = rows[start..].iter().map(|(id, amount)| {
            if id.as_ref().is_none_or(|id| seen.insert(id)) {
                sum += amount;
            }
            sum
        });
        sums.find(|sum| *sum > value || is_near(value, *sum)).is_some_and(|sum| is_near(value, sum))
    })
}

/// A field that is a number with a unit; of top's sizes the unit is 1024 of the one before, and the first of them is not written.
fn amount(field: &str) -> Option<f64> {
    let end = field.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(field.len());
    let number: f64 = field[..end].replace(',', ".").parse().ok()?;
    let factor = match &field[end..] {
        "" | "B" => 1.0,
        "%" => 0.01,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" | "m" => 1024.0,
        "MiB" | "g" => 1_048_576.0,
        "GiB" | "t" => 1_073_741_824.0,
        _ => return None,
    };
    Some(number * factor)
}

/// Whether it is a count of things that each have a number in the text.
fn is_count(metric: &Observation, names: &[&str], numbers: &[f64]) -> bool {
    names.contains(&&*metric.name) && metric.value <= numbers.len() as f64
}

/// Whether the text holds what a metric says, by what the tool leaves out and what its parser computes.
fn is_held(tool: &str, found: &Parsed, metric: &Observation, text: &[u8], numbers: &[f64]) -> bool {
    match tool {
        "docker-stats" => {
            is_count(metric, &["containers"], numbers) || {
                (0..14).flat_map(|at| [Place::Left(at), Place::Right(at)]).any(|place| is_column_sum(metric.value, text, place))
            }
        }
        "top" if metric.name == "listed_cpu_usage" => is_column_sum(metric.value * 100.0, text, Place::Left(8)),
        "top" if metric.name == "listed_resident" => is_column_sum(metric.value / 1024.0, text, Place::Left(5)),
        "top" => is_count(metric, &["listed_tasks"], numbers) || in_units(metric.value, numbers, &OF_TOP),
        "hyperfine" => in_some_unit(metric.value, numbers) || is_count(metric, &["runs", "errors"], numbers),
        "ping" | "hping3" if metric.name == "loss" => is_share(1.0 - metric.value, numbers),
        "ping" | "hping3" => {
            metric.value == 0.0 && is_left_out(tool, &metric.name)
                || in_some_unit(metric.value, numbers)
                || is_between(found, metric)
                || tool == "hping3" && is_count(metric, &["errors"], numbers)
        }
        "iperf3" if metric.name.ends_with("loss") => is_share(metric.value, numbers),
        "iperf3" => in_some_unit(metric.value, numbers) || in_units(metric.value, numbers, &OF_IPERF3),
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
            assert!(is_held(tool, &found, metric, &text, &numbers), "{}", context());
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
