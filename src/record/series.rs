//! The samples of a trial: compressed CSV below `series/`, first `time` in seconds and `phase`, then a column per quantity,
//! `SUBJECT.QUANTITY (UNIT)`; what could not be read is empty.

use super::output::{compress, file_name};
use super::{RecordError, RunFolder, io};
use crate::model::observe::{Sample, Series, SeriesColumn, SeriesRecord};
use std::io::Read;
use std::path::{Component, Path};

/// Keeps the samples of one trial.
///
/// # Errors
/// When the file cannot be written.
pub fn keep_series(folder: &RunFolder, trial: &str, series: &Series) -> Result<SeriesRecord, RecordError> {
    let name = format!("series/{}.csv.gz", file_name(trial));
    compress(folder, &name, &[&to_csv(series)]).map_err(io("keep a trial's samples"))?;
    Ok(SeriesRecord { file: name, samples: u32::try_from(series.samples.len()).unwrap_or(u32::MAX) })
}

/// Reads the samples of one trial.
///
/// # Errors
/// When the file cannot be read or is damaged.
pub fn load_series(folder: &RunFolder, record: &SeriesRecord) -> Result<Series, RecordError> {
    let path = folder.path().join(&record.file);
    if !Path::new(&record.file).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(RecordError::Damaged { path, line: 1, reason: "a trial's samples are outside of the run's folder".to_owned() });
    }
    let mut text = Vec::new();
    let file = fs_err::File::open(&path).map_err(io("read a trial's samples"))?;
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).map_err(io(format!("read {}", path.display())))?;
    from_csv(&text).map_err(|(line, reason)| RecordError::Damaged { path, line, reason })
}

fn to_csv(series: &Series) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let column = |column: &SeriesColumn| format!("{}.{} ({})", column.subject, column.quantity, column.unit);
    let header = ["time".to_owned(), "phase".to_owned()].into_iter().chain(series.columns.iter().map(column));
    writer.write_record(header).expect("memory takes it");
    for sample in &series.samples {
        let values = sample.values.iter().map(|value| value.map_or_else(String::new, |value| value.to_string()));
        let row = [format!("{:.3}", sample.time), sample.phase.clone()].into_iter().chain(values);
        writer.write_record(row).expect("as many cells as columns");
    }
    writer.into_inner().expect("memory takes it")
}

/// The series of a text; else the line and what is wrong with it.
fn from_csv(text: &[u8]) -> Result<Series, (usize, String)> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text);
    let wrong = |error: csv::Error| (error.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(usize::MAX)), error.to_string());
    let header = reader.headers().map_err(wrong)?;
    if header.get(0) != Some("time") || header.get(1) != Some("phase") {
        return Err((1, "the first columns are not `time` and `phase`".to_owned()));
    }
    let column = |name: &str| read_column(name).ok_or_else(|| (1, format!("`{name}` is not the name of a column")));
    let mut series = Series { columns: header.iter().skip(2).map(column).collect::<Result<_, _>>()?, samples: Vec::new() };
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let line = record.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(usize::MAX));
        let number = |cell: &str| match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err((line, format!("`{cell}` is not a number"))),
        };
        let optional = |cell: &str| if cell.is_empty() { Ok(None) } else { number(cell).map(Some) };
        series.samples.push(Sample {
            time: number(&record[0])?,
            phase: record[1].to_owned(),
            values: record.iter().skip(2).map(optional).collect::<Result<_, _>>()?,
        });
    }
    Ok(series)
}

fn read_column(name: &str) -> Option<SeriesColumn> {
    let (what, unit) = name.strip_suffix(')')?.rsplit_once(" (")?;
    let (subject, quantity) = what.rsplit_once('.')?;
    Some(SeriesColumn { subject: subject.to_owned(), quantity: quantity.to_owned(), unit: unit.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(subject: &str, quantity: &str, unit: &str) -> SeriesColumn {
        SeriesColumn { subject: subject.to_owned(), quantity: quantity.to_owned(), unit: unit.to_owned() }
    }

    fn series() -> Series {
        let sample = |time, phase: &str, values: &[Option<f64>]| Sample { time, phase: phase.to_owned(), values: values.to_vec() };
        Series {
            columns: vec![column("web.v2, \"x\"", "cpu", "s"), column("host", "memory", "B")],
            samples: vec![sample(0.0, "start", &[None, Some(4096.0)]), sample(1.001, "window", &[Some(0.123_456_789), None])],
        }
    }

    #[test]
    fn samples_come_back_as_they_were() {
        let folder = tempfile::tempdir().expect("folder");
        let run = RunFolder::existing(folder.path().to_owned());
        let record = keep_series(&run, "b1p2/../x", &series()).expect("kept");
        assert_eq!((record.file.as_str(), record.samples), ("series/b1p2____x.csv.gz", 2));
        assert_eq!(load_series(&run, &record).expect("read"), series());
    }

    #[test]
    fn a_record_cannot_point_out_of_its_folder() {
        let folder = tempfile::tempdir().expect("folder");
        let run = RunFolder::existing(folder.path().join("run"));
        let record = keep_series(&RunFolder::existing(folder.path().to_owned()), "b1p1", &series()).expect("kept");
        for file in [format!("../{}", record.file), folder.path().join(&record.file).display().to_string()] {
            let error = load_series(&run, &SeriesRecord { file, samples: 2 }).expect_err("outside");
            assert!(error.to_string().contains("outside of the run's folder"), "{error}");
        }
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let table = [
            ("", 1, "the first columns"),
            ("time,cpu\n0,1\n", 1, "the first columns"),
            ("time,phase,cpu\n", 1, "not the name of a column"),
            ("time,phase,a.cpu (s)\n0.000,window,x\n", 2, "`x` is not a number"),
            ("time,phase,a.cpu (s)\n0.000,window,1\n1.000,window\n", 3, "found record with 2 fields"),
            ("time,phase,a.cpu (s)\n0.000,window,inf\n", 2, "`inf` is not a number"),
        ];
        for (text, line, reason) in table {
            let (at, found) = from_csv(text.as_bytes()).expect_err(text);
            assert!(at == line && found.contains(reason), "{text:?}: {at}: {found}");
        }
    }
}
