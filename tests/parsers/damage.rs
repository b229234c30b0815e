//! Damaged outputs: no panic, and no number out of nothing.

mod held;

use super::{fixture, fixtures, parse};
use held::{is_held, supported};
use shakedown::measure::parsers::{PARSERS, ToolOutput, run};
use shakedown::model::metric::Unit;
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
