//! A JSON document of `fio`: only what is read from it, in base units.

use serde_json::Value;

/// One report.
#[derive(Debug)]
pub(super) struct Document {
    pub jobs: Vec<Job>,
}

/// One entry of `jobs`: a job, or with `--group_reporting` a group of them.
#[derive(Debug)]
pub(super) struct Job {
    pub name: String,
    /// `groupid`: jobs of one group started together. `stonewall` begins a new one, but options without a value are not in the document.
    pub group: f64,
    /// The number of the error that ended it; 0 is none.
    pub error: f64,
    /// I/O errors; 0 without `continue_on_error`.
    pub counted_errors: f64,
    /// Starts after another job (`wait_for`).
    pub waits: bool,
    /// The requests in flight that were asked for, when fewer were reached, and the highest class (1, 2, 4 ... 64) that was.
    pub too_shallow: Option<(u64, u64)>,
    /// Reads and writes; none when there were none.
    pub directions: [Option<Io>; 2],
    pub fsync: Option<Latency>,
}

/// What a job did in one direction.
#[derive(Debug)]
pub(super) struct Io {
    /// 1/s.
    pub iops: f64,
    /// B/s.
    pub bandwidth: f64,
    pub requests: f64,
    pub bytes: f64,
    /// s, from whole milliseconds.
    pub duration: f64,
    pub latency: Option<Latency>,
}

/// Latencies, s.
#[derive(Debug, Clone)]
pub(super) struct Latency {
    /// How many.
    pub count: f64,
    pub avg: f64,
    pub stdev: f64,
    pub min: f64,
    pub max: f64,
    /// Name and value, ascending.
    pub percentiles: Vec<(&'static str, f64)>,
}

const PERCENTILES: [(&str, &str); 5] =
    [("50.000000", "p50"), ("90.000000", "p90"), ("95.000000", "p95"), ("99.000000", "p99"), ("99.900000", "p999")];

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not of fio, or lacks what every report of fio has.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let jobs = value.get("jobs").and_then(Value::as_array).filter(|_| value.get("fio version").is_some());
        let jobs = jobs.filter(|jobs| !jobs.is_empty()).ok_or("the last JSON document is not a report of fio, or has no jobs")?;
        let common = value.get("global options").unwrap_or(&Value::Null);
        Ok(Self { jobs: jobs.iter().map(|job| Job::read(job, common)).collect::<Result<_, _>>()? })
    }

    /// Every rate is a count over the same time; of the latencies the percentiles may exceed the maximum by a bucket.
    pub(super) fn contradicts_itself(&self) -> bool {
        let ios = self.jobs.iter().flat_map(|job| job.directions.iter().flatten());
        let fsyncs = self.jobs.iter().filter_map(|job| job.fsync.as_ref());
        let wrong = |rate: f64, count: f64, seconds: f64| seconds > 0.0 && (rate * seconds - count).abs() > 1.0 + seconds + count * 0.01;
        ios.clone().any(|io| wrong(io.iops, io.requests, io.duration) || wrong(io.bandwidth, io.bytes, io.duration))
            || ios.filter_map(|io| io.latency.as_ref()).chain(fsyncs).any(Latency::is_disordered)
    }
}

impl Job {
    /// How much went wrong in it. With `continue_on_error` fio counts also the error that ended it.
    pub(super) fn errors(&self) -> f64 {
        self.counted_errors.max(if self.error == 0.0 { 0.0 } else { 1.0 })
    }

    fn read(job: &Value, common: &Value) -> Result<Self, String> {
        let name = job.get("jobname").and_then(Value::as_str).unwrap_or_default().to_owned();
        let lacks = |what: &str| format!("the report of fio is damaged: job `{name}` lacks {what}");
        let directions = ["read", "write"].map(|name| job.get(name).map_or(Err(()), Io::read));
        let [Ok(read), Ok(write)] = directions else { return Err(lacks("numbers of `read` or `write`")) };
        let options = [job.get("job options").unwrap_or(&Value::Null), common];
        let option = |name: &str| options.iter().find_map(|options| options.get(name));
        Ok(Self {
            group: number(job, "groupid").ok_or_else(|| lacks("`groupid`"))?,
            error: job.get("error").and_then(Value::as_f64).ok_or_else(|| lacks("`error`"))?,
            counted_errors: number(job, "total_err").unwrap_or(0.0),
            waits: option("wait_for").is_some(),
            too_shallow: too_shallow(option("iodepth"), job.get("iodepth_level")),
            directions: [read, write],
            fsync: job.get("sync").and_then(|sync| Latency::read(sync.get("lat_ns")?)),
            name,
        })
    }
}

impl Io {
    fn read(value: &Value) -> Result<Option<Self>, ()> {
        let field = |name: &str| number(value, name).ok_or(());
        let io = Self {
            iops: field("iops")?,
            bandwidth: field("bw_bytes")?,
            requests: field("total_ios")?,
            bytes: field("io_bytes")?,
            duration: field("runtime")? / 1e3,
            latency: value.get("clat_ns").and_then(Latency::read),
        };
        Ok(Some(io).filter(|io| io.requests > 0.0))
    }
}

impl Latency {
    /// None when nothing was counted: its numbers are 0 then.
    fn read(value: &Value) -> Option<Self> {
        let seconds = |name: &str| number(value, name).map(|nanoseconds| nanoseconds / 1e9);
        let count = number(value, "N").filter(|count| *count > 0.0)?;
        let percentile = |(key, name): (&str, &'static str)| {
            value.get("percentile").and_then(|table| number(table, key)).map(|nanoseconds| (name, nanoseconds / 1e9))
        };
        Some(Self {
            count,
            avg: seconds("mean")?,
            stdev: seconds("stddev")?,
            min: seconds("min")?,
            max: seconds("max")?,
            percentiles: PERCENTILES.into_iter().filter_map(percentile).collect(),
        })
    }

    /// Of several, the mean of all and the worst percentiles that each of them has. The deviation is that of the first.
    pub(super) fn merged(found: &[&Self]) -> Option<Self> {
        let first = (*found.first()?).clone();
        Some(found.iter().skip(1).fold(first, |merged, next| {
            let count = merged.count + next.count;
            let worst = |(name, seconds): &(&'static str, f64)| {
                let other = next.percentiles.iter().find(|(known, _)| known == name)?;
                Some((*name, seconds.max(other.1)))
            };
            Self {
                avg: (merged.avg * merged.count + next.avg * next.count) / count,
                count,
                stdev: merged.stdev,
                min: merged.min.min(next.min),
                max: merged.max.max(next.max),
                percentiles: merged.percentiles.iter().filter_map(worst).collect(),
            }
        }))
    }

    fn is_disordered(&self) -> bool {
        self.min > self.avg || self.avg > self.max || self.percentiles.windows(2).any(|pair| pair[0].1 > pair[1].1)
    }
}

/// A number that cannot be negative.
fn number(object: &Value, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0)
}

/// fio counts how often there were 1, 2 to 3, 4 to 7 ... 64 and more requests in flight.
fn too_shallow(asked: Option<&Value>, levels: Option<&Value>) -> Option<(u64, u64)> {
    let asked: u64 = asked?.as_str()?.parse().ok().filter(|asked| *asked > 0)?;
    let reached = levels?.as_object()?.iter().filter(|(_, share)| share.as_f64().is_some_and(|share| share > 0.0));
    let reached = reached.filter_map(|(level, _)| level.trim_start_matches(">=").parse().ok()).max()?;
    Some((asked, reached)).filter(|_| (1 << asked.ilog2()).min(64) > reached)
}
