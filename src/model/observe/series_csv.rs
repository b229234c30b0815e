//! A series as a CSV file: `time` and `phase`, then a column per quantity, named as `web.cpu[s]`; absent values are empty.

use super::{Sample, Series, SeriesColumn};

/// The columns before the quantities.
const FIXED: [&str; 2] = ["time", "phase"];
/// Steps of a second that are kept of what grows in seconds: a tenth of a millisecond.
const STEPS: f64 = 1e4;

/// A text is not a series.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// Its header is another one.
    #[error("the samples do not begin with the columns `time` and `phase`")]
    Header,
    /// A column's name cannot be taken apart.
    #[error("the column `{column}` is not named as `web.cpu[s]`")]
    Column {
        /// The name.
        column: String,
    },
    /// A line cannot be read.
    #[error("line {line} of the samples: {reason}")]
    Line {
        /// Which, from 1.
        line: u64,
        /// Why.
        reason: String,
    },
    /// The text ends within a line.
    #[error("the samples end within a line")]
    Torn,
}

impl Series {
    /// The text of the file. Times are told in milliseconds, and seconds of what grows in tenths of them: no counter is better.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
        let mut row: Vec<String> = FIXED.iter().map(|name| (*name).to_owned()).collect();
        row.extend(self.columns.iter().map(|column| format!("{}.{}[{}]", column.subject, column.quantity, column.unit)));
        let mut written = out.write_record(&row);
        for sample in &self.samples {
            row.clear();
            row.extend([format!("{:.3}", sample.time), sample.phase.clone()]);
            let value = |(column, value): (&SeriesColumn, &Option<f64>)| value.map_or_else(String::new, |value| short(value, &column.unit));
            row.extend(self.columns.iter().zip(&sample.values).map(value));
            row.resize(FIXED.len() + self.columns.len(), String::new());
            written = written.and_then(|()| out.write_record(&row));
        }
        // Nothing fails that is written to memory, and every row has the width of the first.
        let bytes = written.ok().and_then(|()| out.into_inner().ok()).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// When it is another one, or damaged.
    pub fn from_csv(text: &str) -> Result<Self, SeriesError> {
        if !text.ends_with('\n') {
            return Err(SeriesError::Torn);
        }
        let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| wrong(&error))?;
        if header.iter().take(FIXED.len()).ne(FIXED) {
            return Err(SeriesError::Header);
        }
        let columns: Vec<SeriesColumn> = header.iter().skip(FIXED.len()).map(column).collect::<Result<_, _>>()?;
        let mut samples = Vec::new();
        for record in reader.records() {
            samples.push(sample(&record.map_err(|error| wrong(&error))?)?);
        }
        Ok(Self { columns, samples })
    }
}

/// A value with no more digits than matter; one that is no number is absent.
fn short(value: f64, unit: &str) -> String {
    match unit {
        _ if !value.is_finite() => String::new(),
        "s" => ((value * STEPS).round() / STEPS).to_string(),
        _ => value.to_string(),
    }
}

/// Takes a name apart. Only a subject's own may hold points and brackets.
fn column(name: &str) -> Result<SeriesColumn, SeriesError> {
    let parts = || {
        let (name, unit) = name.strip_suffix(']')?.rsplit_once('[')?;
        let (subject, quantity) = name.rsplit_once('.')?;
        Some(SeriesColumn { subject: subject.to_owned(), quantity: quantity.to_owned(), unit: unit.to_owned() })
    };
    parts().ok_or_else(|| SeriesError::Column { column: name.to_owned() })
}

fn sample(record: &csv::StringRecord) -> Result<Sample, SeriesError> {
    let line = record.position().map_or(0, csv::Position::line);
    let number = |text: &str| {
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| SeriesError::Line { line, reason: format!("`{text}` is no number") })
    };
    let mut fields = record.iter();
    let time = number(fields.next().unwrap_or_default())?;
    let phase = fields.next().unwrap_or_default().to_owned();
    let values = fields.map(|text| if text.is_empty() { Ok(None) } else { number(text).map(Some) }).collect::<Result<_, _>>()?;
    Ok(Sample { time, phase, values })
}

fn wrong(error: &csv::Error) -> SeriesError {
    let line = error.position().map_or(1, csv::Position::line);
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!("{len} fields instead of {expected_len}"),
        _ => "not readable".to_owned(),
    };
    SeriesError::Line { line, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(subject: &str, quantity: &str, unit: &str) -> SeriesColumn {
        SeriesColumn { subject: subject.into(), quantity: quantity.into(), unit: unit.into() }
    }

    fn series() -> Series {
        let sample = |time, phase: &str, values: &[Option<f64>]| Sample { time, phase: phase.into(), values: values.to_vec() };
        Series {
            columns: vec![
                column("web", "cpu", "s"),
                column("my.tool, \"x\" [y]", "memory", "B"),
                column("host", "pressure-cpu", "s"),
                column("w-1", "tasks", "1"),
            ],
            samples: vec![
                sample(0.0, "start", &[None; 4]),
                sample(1.002, "window", &[Some(0.0), Some(1_234_567_890_123.0), Some(12.3456), Some(7.0)]),
                sample(3600.5, "drain", &[Some(3.5), None, Some(1e-4), Some(0.0)]),
            ],
        }
    }

    #[test]
    fn a_series_comes_back_as_it_was() {
        let text = series().to_csv();
        assert_eq!(
            text,
            "time,phase,web.cpu[s],\"my.tool, \"\"x\"\" [y].memory[B]\",host.pressure-cpu[s],w-1.tasks[1]\n\
             0.000,start,,,,\n\
             1.002,window,0,1234567890123,12.3456,7\n\
             3600.500,drain,3.5,,0.0001,0\n"
        );
        assert_eq!(Series::from_csv(&text), Ok(series()));
        let empty = Series::default();
        assert_eq!(Series::from_csv(&empty.to_csv()), Ok(empty));
    }

    #[test]
    fn digits_that_no_counter_gives_are_left_out() {
        let mut series = Series { columns: vec![column("a", "cpu", "s"), column("a", "b", "B")], samples: Vec::new() };
        let values = vec![Some(1.0 / 3.0), Some(f64::NAN)];
        series.samples.push(Sample { time: 2.0 / 3.0, phase: "window".into(), values });
        let text = series.to_csv();
        assert!(text.ends_with("0.667,window,0.3333,\n"), "{text}");
        assert_eq!(Series::from_csv(&text).expect("a series").to_csv(), text);
        series.samples[0].values.pop();
        assert_eq!(series.to_csv(), text, "a row that is too short");
    }

    #[test]
    fn damage_is_told() {
        let text = series().to_csv();
        for (damaged, told) in [
            (String::new(), "the samples end within a line"),
            (text[..text.len() - 1].to_owned(), "the samples end within a line"),
            (text.replace("time,phase", "phase,time"), "the samples do not begin with the columns `time` and `phase`"),
            ("time\n".to_owned(), "the samples do not begin with the columns `time` and `phase`"),
            (text.replace("web.cpu[s]", "webcpu[s]"), "the column `webcpu[s]` is not named as `web.cpu[s]`"),
            (text.replace("web.cpu[s]", "web.cpu"), "the column `web.cpu` is not named as `web.cpu[s]`"),
            (text.replace(",12.3456,7", ",12.3456"), "line 3 of the samples: 5 fields instead of 6"),
            (text.replace("12.3456", "12,3456"), "line 3 of the samples: 7 fields instead of 6"),
            (text.replace("12.3456", "12.3x"), "line 3 of the samples: `12.3x` is no number"),
            (text.replace("12.3456", "NaN"), "line 3 of the samples: `NaN` is no number"),
            (text.replace("3600.500", ""), "line 4 of the samples: `` is no number"),
        ] {
            assert_eq!(Series::from_csv(&damaged).map_err(|error| error.to_string()), Err(told.to_owned()), "{damaged}");
        }
    }
}
