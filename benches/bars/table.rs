//! One line per bar: name, measured, limit, verdict.

use std::io::Write;

/// A measured value in the unit that people read it in.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// Seconds.
    Seconds(f64),
    /// Bytes.
    Bytes(f64),
    /// A ratio.
    Times(f64),
    /// A part of one.
    Share(f64),
}

impl Value {
    fn number(self) -> f64 {
        match self {
            Self::Seconds(number) | Self::Bytes(number) | Self::Times(number) | Self::Share(number) => number,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match *self {
            Self::Seconds(seconds) if seconds.abs() < 1.0 => format!("{:.2} ms", seconds * 1e3),
            Self::Seconds(seconds) => format!("{seconds:.2} s"),
            Self::Bytes(bytes) => format!("{:.0} MB", bytes / 1e6),
            Self::Times(ratio) => format!("{ratio:.3} x"),
            Self::Share(share) => format!("{:.4} %", share * 100.0),
        };
        f.pad(&text)
    }
}

/// Prints as it goes: a bench that is stopped has told what it knew.
pub struct Table;

impl Table {
    /// Prints the heading.
    pub fn start() -> Self {
        row("bar", "measured", "limit", "");
        Self
    }

    /// A bar: at most `limit` is ok.
    pub fn bar(&mut self, name: &str, measured: Value, limit: Value) {
        let verdict = if measured.number() <= limit.number() { "ok" } else { "over" };
        row(name, &measured.to_string(), &format!("<= {limit}"), verdict);
    }

    /// A number without a limit: what a bar is made of, or what a peer takes.
    pub fn number(&mut self, name: &str, measured: Value) {
        row(name, &measured.to_string(), "", "");
    }

    /// A sentence.
    pub fn note(&mut self, text: &str) {
        row(text, "", "", "");
    }
}

fn row(name: &str, measured: &str, limit: &str, verdict: &str) {
    let line = format!("{name:<72} {measured:>11}  {limit:<12} {verdict}");
    println!("{}", line.trim_end());
    let _ = std::io::stdout().flush(); // nobody reads: then nothing is lost either
}

/// The middle one; of two, their mean.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
