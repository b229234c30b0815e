//! The rows that `fio` adds to the dictionary of metrics.

use crate::measure::parsers::constants::{HIGHER, LOWER, info};
use crate::model::metric::MetricInfo;

const BANDWIDTH: &str = "bytes per second in this direction; absent as the rate of this direction";
const AVERAGE: &str = "mean completion latency (clat: from submission to completion); of several jobs weighted by their requests";
const DEVIATION: &str = "standard deviation of the completion latency; absent when several jobs did these requests";
const SMALLEST: &str = "smallest completion latency";
const LARGEST: &str = "largest completion latency";
const PERCENTILE: &str = "that percentile of the completion latency, from fio's histogram (buckets of about 1 %); of several jobs that of the worst one; absent when --percentile_list leaves it out";
const FSYNC: &str = "the same for fsync, fdatasync and sync_file_range (sync.lat_ns)";

pub(super) const METRICS: &[MetricInfo] = &[
    info("iops", "1/s", HIGHER, "reads and writes per second, over all jobs; absent when they are of several groups"),
    info("bandwidth", "B/s", HIGHER, "bytes read and written per second, over all jobs; absent when they are of several groups"),
    info("requests", "1", None, "reads and writes"),
    info("bytes", "B", None, "read and written"),
    info("errors", "1", LOWER, "jobs that ended with an error; with continue_on_error the I/O errors"),
    info("duration", "s", None, "longest time of a job and direction, in whole ms"),
    info(
        "read_iops",
        "1/s",
        HIGHER,
        "reads per second, summed over the jobs; absent without reads and when jobs of several groups did them",
    ),
    info("read_bandwidth", "B/s", HIGHER, BANDWIDTH),
    info("read_requests", "1", None, "reads"),
    info("read_bytes", "B", None, "bytes of the reads"),
    info("read_latency_avg", "s", LOWER, AVERAGE),
    info("read_latency_stdev", "s", LOWER, DEVIATION),
    info("read_latency_min", "s", LOWER, SMALLEST),
    info("read_latency_max", "s", LOWER, LARGEST),
    info("read_latency_p50", "s", LOWER, PERCENTILE),
    info("read_latency_p90", "s", LOWER, PERCENTILE),
    info("read_latency_p95", "s", LOWER, PERCENTILE),
    info("read_latency_p99", "s", LOWER, PERCENTILE),
    info("read_latency_p999", "s", LOWER, PERCENTILE),
    info(
        "write_iops",
        "1/s",
        HIGHER,
        "writes per second, summed over the jobs; absent without writes and when jobs of several groups did them",
    ),
    info("write_bandwidth", "B/s", HIGHER, BANDWIDTH),
    info("write_requests", "1", None, "writes"),
    info("write_bytes", "B", None, "bytes of the writes"),
    info("write_latency_avg", "s", LOWER, AVERAGE),
    info("write_latency_stdev", "s", LOWER, DEVIATION),
    info("write_latency_min", "s", LOWER, SMALLEST),
    info("write_latency_max", "s", LOWER, LARGEST),
    info("write_latency_p50", "s", LOWER, PERCENTILE),
    info("write_latency_p90", "s", LOWER, PERCENTILE),
    info("write_latency_p95", "s", LOWER, PERCENTILE),
    info("write_latency_p99", "s", LOWER, PERCENTILE),
    info("write_latency_p999", "s", LOWER, PERCENTILE),
    info("fsyncs", "1", None, "fsync, fdatasync and sync_file_range calls whose latency fio took"),
    info("fsync_latency_avg", "s", LOWER, FSYNC),
    info("fsync_latency_stdev", "s", LOWER, FSYNC),
    info("fsync_latency_min", "s", LOWER, FSYNC),
    info("fsync_latency_max", "s", LOWER, FSYNC),
    info("fsync_latency_p50", "s", LOWER, FSYNC),
    info("fsync_latency_p90", "s", LOWER, FSYNC),
    info("fsync_latency_p95", "s", LOWER, FSYNC),
    info("fsync_latency_p99", "s", LOWER, FSYNC),
    info("fsync_latency_p999", "s", LOWER, FSYNC),
];
