//! `fio`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};
use serde_json::{Value, json};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    Case { ok: false, problems: &["fio wrote its report as text: add `--output-format=json`"], ..fine("fio_de_DE.txt", &[]) },
    Case {
        exit: 124,
        ok: false,
        problems: &["`fio: terminating on signal 2`", "exit code 124"],
        ..fine(
            "interrupted.txt",
            &[
                ("iops", 4957.777778),
                ("bandwidth", 20307057.0),
                ("requests", 2231.0),
                ("bytes", 9138176.0),
                ("errors", 0.0),
                ("duration", 0.45),
                ("read_iops", 4957.777778),
                ("read_bandwidth", 20307057.0),
                ("read_requests", 2231.0),
                ("read_bytes", 9138176.0),
                ("read_latency_avg", 0.000200699571941),
                ("read_latency_stdev", 0.004210761858637),
                ("read_latency_min", 0.000030125),
                ("read_latency_max", 0.188881572),
                ("read_latency_p50", 0.00005248),
                ("read_latency_p90", 0.000083456),
                ("read_latency_p95", 0.00009984),
                ("read_latency_p99", 0.000456704),
                ("read_latency_p999", 0.010682368),
            ],
        )
    },
    Case {
        problems: &["2 jobs: the percentiles of read are those of the worst one; jobs of one group are merged by `--group_reporting`"],
        ..fine(
            "json_2jobs_nogroup.txt",
            &[
                ("iops", 5834.665335 + 6165.917041),
                ("bandwidth", 23898789.0 + 25255596.0),
                ("requests", 11681.0 + 12338.0),
                ("bytes", 47845376.0 + 50536448.0),
                ("errors", 0.0),
                ("duration", 2.002),
                ("read_iops", 5834.665335 + 6165.917041),
                ("read_bandwidth", 23898789.0 + 25255596.0),
                ("read_requests", 11681.0 + 12338.0),
                ("read_bytes", 47845376.0 + 50536448.0),
                ("read_latency_avg", (0.000169203852924 * 11681.0 + 0.000160156901848 * 12338.0) / 24019.0),
                ("read_latency_min", 0.000018507),
                ("read_latency_max", 0.015043062),
                ("read_latency_p50", 0.000075264),
                ("read_latency_p90", 0.000150528),
                ("read_latency_p95", 0.000354304),
                ("read_latency_p99", 0.002605056),
                ("read_latency_p999", 0.008290304),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`fio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096`",
            "`fio: pid=23165, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device`",
            "job `go` ended with error 28",
            "fio moved no bytes: nothing was read or written",
            "exit code 1",
        ],
        ..fine(
            "json_continue_on_error.txt",
            &[
                ("iops", 0.0),
                ("bandwidth", 0.0),
                ("requests", 1.0),
                ("bytes", 0.0),
                ("errors", 1.0),
                ("write_iops", 0.0),
                ("write_bandwidth", 0.0),
                ("write_requests", 1.0),
                ("write_bytes", 0.0),
            ],
        )
    },
    Case {
        problems: &["fio counts whole milliseconds, and a job was shorter than 100 of them: its rates are rough"],
        ..fine(
            "json_direct_tmpfs_einval.txt",
            &[
                ("iops", 341333.333333),
                ("bandwidth", 1398101333.0),
                ("requests", 1024.0),
                ("bytes", 4194304.0),
                ("errors", 0.0),
                ("duration", 0.003),
                ("read_iops", 341333.333333),
                ("read_bandwidth", 1398101333.0),
                ("read_requests", 1024.0),
                ("read_bytes", 4194304.0),
                ("read_latency_avg", 0.000001851789063),
                ("read_latency_stdev", 0.000001141738902),
                ("read_latency_min", 0.000001071),
                ("read_latency_max", 0.000017576),
                ("read_latency_p50", 0.000001624),
                ("read_latency_p90", 0.00000204),
                ("read_latency_p95", 0.000002256),
                ("read_latency_p99", 0.000007328),
                ("read_latency_p999", 0.000010304),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`fio: engine bogus not loadable`",
            "`fio: failed to load engine`",
            "`fio: file:ioengines.c:134, func=dlopen, error=bogus: cannot open shared object file: No such file or directory`",
            "no report of fio in the output",
            "exit code 1",
        ],
        ..fine("json_engine_load_error.txt", &[])
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`fio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096`",
            "`fio: pid=19785, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device`",
            "job `a` ended with error 28",
            "fio moved no bytes: nothing was read or written",
            "exit code 1",
        ],
        ..fine(
            "json_enospc_error.txt",
            &[
                ("iops", 0.0),
                ("bandwidth", 0.0),
                ("requests", 1.0),
                ("bytes", 0.0),
                ("errors", 1.0),
                ("write_iops", 0.0),
                ("write_bandwidth", 0.0),
                ("write_requests", 1.0),
                ("write_bytes", 0.0),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`fio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096`",
            "`fio: pid=20845, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device`",
            "job `bad` ended with error 28",
            "exit code 1",
        ],
        ..fine(
            "json_exit_nonzero_two_jobs.txt",
            &[
                ("iops", 64000.0 + 0.0),
                ("bandwidth", 262144000.0 + 0.0),
                ("requests", 256.0 + 1.0),
                ("bytes", 1048576.0 + 0.0),
                ("errors", 1.0),
                ("duration", 0.004),
                ("read_iops", 64000.0),
                ("read_bandwidth", 262144000.0),
                ("read_requests", 256.0),
                ("read_bytes", 1048576.0),
                ("read_latency_avg", 0.000012969410156),
                ("read_latency_stdev", 0.000122500313784),
                ("read_latency_min", 0.000000551),
                ("read_latency_max", 0.001898804),
                ("read_latency_p50", 0.000001048),
                ("read_latency_p90", 0.000010944),
                ("read_latency_p95", 0.00001248),
                ("read_latency_p99", 0.00033792),
                ("read_latency_p999", 0.001892352),
                ("write_iops", 0.0),
                ("write_bandwidth", 0.0),
                ("write_requests", 1.0),
                ("write_bytes", 0.0),
            ],
        )
    },
    fine(
        "json_group_reporting_fsync.txt",
        &[
            ("iops", 4448.275862 + 4666.009852),
            ("bandwidth", 18220137.0 + 19111976.0),
            ("requests", 4515.0 + 4736.0),
            ("bytes", 18493440.0 + 19398656.0),
            ("errors", 0.0),
            ("duration", 1.015),
            ("read_iops", 4448.275862),
            ("read_bandwidth", 18220137.0),
            ("read_requests", 4515.0),
            ("read_bytes", 18493440.0),
            ("read_latency_avg", 0.000230981668882),
            ("read_latency_stdev", 0.000937278020018),
            ("read_latency_min", 0.000021041),
            ("read_latency_max", 0.027138763),
            ("read_latency_p50", 0.000063232),
            ("read_latency_p90", 0.000160768),
            ("read_latency_p95", 0.000518144),
            ("read_latency_p99", 0.00401408),
            ("read_latency_p999", 0.011730944),
            ("write_iops", 4666.009852),
            ("write_bandwidth", 19111976.0),
            ("write_requests", 4736.0),
            ("write_bytes", 19398656.0),
            ("write_latency_avg", 0.000007444260557),
            ("write_latency_stdev", 0.000075016610965),
            ("write_latency_min", 0.000002264),
            ("write_latency_max", 0.003370802),
            ("write_latency_p50", 0.000003568),
            ("write_latency_p90", 0.000006944),
            ("write_latency_p95", 0.000012352),
            ("write_latency_p99", 0.000038656),
            ("write_latency_p999", 0.000325632),
            ("fsyncs", 566.0),
            ("fsync_latency_avg", 0.001627889381625),
            ("fsync_latency_stdev", 0.004097509679429),
            ("fsync_latency_min", 0.000037546),
            ("fsync_latency_max", 0.085091069),
            ("fsync_latency_p50", 0.000391168),
            ("fsync_latency_p90", 0.004145152),
            ("fsync_latency_p95", 0.005799936),
            ("fsync_latency_p99", 0.010027008),
            ("fsync_latency_p999", 0.085458944),
        ],
    ),
    fine(
        "json_note_direct_thread.txt",
        &[
            ("iops", 22164.670659),
            ("bandwidth", 90786491.0),
            ("requests", 22209.0),
            ("bytes", 90968064.0),
            ("errors", 0.0),
            ("duration", 1.002),
            ("write_iops", 22164.670659),
            ("write_bandwidth", 90786491.0),
            ("write_requests", 22209.0),
            ("write_bytes", 90968064.0),
            ("write_latency_avg", 0.000708480782656),
            ("write_latency_stdev", 0.002239095198757),
            ("write_latency_min", 0.00004801),
            ("write_latency_max", 0.04329918),
            ("write_latency_p50", 0.000160768),
            ("write_latency_p90", 0.002056192),
            ("write_latency_p95", 0.004046848),
            ("write_latency_p99", 0.008224768),
            ("write_latency_p999", 0.040108032),
        ],
    ),
    fine(
        "json_randrw.txt",
        &[
            ("iops", 6796.305542 + 6790.314528),
            ("bandwidth", 27837667.0 + 27813128.0),
            ("requests", 13613.0 + 13601.0),
            ("bytes", 55758848.0 + 55709696.0),
            ("errors", 0.0),
            ("duration", 2.003),
            ("read_iops", 6796.305542),
            ("read_bandwidth", 27837667.0),
            ("read_requests", 13613.0),
            ("read_bytes", 55758848.0),
            ("read_latency_avg", 0.000119389027474),
            ("read_latency_stdev", 0.000882338634987),
            ("read_latency_min", 0.000024256),
            ("read_latency_max", 0.089244036),
            ("read_latency_p50", 0.000059648),
            ("read_latency_p90", 0.000097792),
            ("read_latency_p95", 0.000128512),
            ("read_latency_p99", 0.001581056),
            ("read_latency_p999", 0.006324224),
            ("write_iops", 6790.314528),
            ("write_bandwidth", 27813128.0),
            ("write_requests", 13601.0),
            ("write_bytes", 55709696.0),
            ("write_latency_avg", 0.000004697417028),
            ("write_latency_stdev", 0.00001292730772),
            ("write_latency_min", 0.000002333),
            ("write_latency_max", 0.00138961),
            ("write_latency_p50", 0.000003856),
            ("write_latency_p90", 0.000006432),
            ("write_latency_p95", 0.00000752),
            ("write_latency_p99", 0.000016512),
            ("write_latency_p999", 0.000067072),
        ],
    ),
    Case {
        exit: 128,
        ok: false,
        problems: &["`fio: terminating on signal 2`", "exit code 128"],
        ..fine(
            "json_sigint.txt",
            &[
                ("iops", 11369.175627),
                ("bandwidth", 46568143.0),
                ("requests", 6344.0),
                ("bytes", 25985024.0),
                ("errors", 0.0),
                ("duration", 0.558),
                ("read_iops", 11369.175627),
                ("read_bandwidth", 46568143.0),
                ("read_requests", 6344.0),
                ("read_bytes", 25985024.0),
                ("read_latency_avg", 0.000086904065574),
                ("read_latency_stdev", 0.000322522329001),
                ("read_latency_min", 0.00004016),
                ("read_latency_max", 0.006368671),
                ("read_latency_p50", 0.000054016),
                ("read_latency_p90", 0.000075264),
                ("read_latency_p95", 0.000095744),
                ("read_latency_p99", 0.000602112),
                ("read_latency_p999", 0.00540672),
            ],
        )
    },
    fine(
        "json_status_interval.txt",
        &[
            ("iops", 7767.616192),
            ("bandwidth", 31816155.0),
            ("requests", 15543.0),
            ("bytes", 63664128.0),
            ("errors", 0.0),
            ("duration", 2.001),
            ("read_iops", 7767.616192),
            ("read_bandwidth", 31816155.0),
            ("read_requests", 15543.0),
            ("read_bytes", 63664128.0),
            ("read_latency_avg", 0.000126249820627),
            ("read_latency_stdev", 0.000668879784843),
            ("read_latency_min", 0.000029884),
            ("read_latency_max", 0.020126049),
            ("read_latency_p50", 0.000050432),
            ("read_latency_p90", 0.000068096),
            ("read_latency_p95", 0.000092672),
            ("read_latency_p99", 0.003489792),
            ("read_latency_p999", 0.010289152),
        ],
    ),
    Case {
        problems: &[
            "the jobs are of several groups, which may have run one after another (stonewall): a sum of their rates means nothing and is absent",
            "fio counts whole milliseconds, and a job was shorter than 100 of them: its rates are rough",
        ],
        ..fine(
            "json_stonewall_fsync.txt",
            &[
                ("requests", 1024.0 + 1024.0),
                ("bytes", 4194304.0 + 4194304.0),
                ("errors", 0.0),
                ("duration", 0.506),
                ("read_iops", 256000.0),
                ("read_bandwidth", 1048576000.0),
                ("read_requests", 1024.0),
                ("read_bytes", 4194304.0),
                ("read_latency_avg", 0.00000314506543),
                ("read_latency_stdev", 0.000062503307321),
                ("read_latency_min", 0.000000511),
                ("read_latency_max", 0.001965279),
                ("read_latency_p50", 0.00000058),
                ("read_latency_p90", 0.000000924),
                ("read_latency_p95", 0.000000972),
                ("read_latency_p99", 0.000001288),
                ("read_latency_p999", 0.000272384),
                ("write_iops", 2023.715415),
                ("write_bandwidth", 8289138.0),
                ("write_requests", 1024.0),
                ("write_bytes", 4194304.0),
                ("write_latency_avg", 0.000007991776367),
                ("write_latency_stdev", 0.000087467370993),
                ("write_latency_min", 0.000002403),
                ("write_latency_max", 0.002796011),
                ("write_latency_p50", 0.000002864),
                ("write_latency_p90", 0.000012992),
                ("write_latency_p95", 0.000020864),
                ("write_latency_p99", 0.000033024),
                ("write_latency_p999", 0.000075264),
                ("fsyncs", 127.0),
                ("fsync_latency_avg", 0.00390914723622),
                ("fsync_latency_stdev", 0.002454965783734),
                ("fsync_latency_min", 0.000107178),
                ("fsync_latency_max", 0.009888648),
                ("fsync_latency_p50", 0.003915776),
                ("fsync_latency_p90", 0.007962624),
                ("fsync_latency_p95", 0.008159232),
                ("fsync_latency_p99", 0.009109504),
                ("fsync_latency_p999", 0.009895936),
            ],
        )
    },
    Case {
        problems: &[
            "the jobs are of several groups, which may have run one after another (stonewall): a sum of their rates means nothing and is absent",
            "fio counts whole milliseconds, and a job was shorter than 100 of them: its rates are rough",
            "2 jobs: the percentiles of read are those of the worst one; jobs of one group are merged by `--group_reporting`",
        ],
        ..fine(
            "json_stonewall_same_direction.txt",
            &[
                ("requests", 1024.0 + 1024.0),
                ("bytes", 4194304.0 + 4194304.0),
                ("errors", 0.0),
                ("duration", 0.004),
                ("read_requests", 1024.0 + 1024.0),
                ("read_bytes", 4194304.0 + 4194304.0),
                ("read_latency_avg", (0.000002451074219 * 1024.0 + 0.000003353936523 * 1024.0) / 2048.0),
                ("read_latency_min", 0.00000053),
                ("read_latency_max", 0.002045453),
                ("read_latency_p50", 0.000000564),
                ("read_latency_p90", 0.000000892),
                ("read_latency_p95", 0.000000964),
                ("read_latency_p99", 0.000001848),
                ("read_latency_p999", 0.00033792),
            ],
        )
    },
    Case {
        problems: &[
            "`note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1`",
            "job `rr` asked for 8 requests in flight and had fewer: the highest class that fio counted is 1",
        ],
        ..fine(
            "json_with_warning_before.txt",
            &[
                ("iops", 7056.547619),
                ("bandwidth", 28903619.0),
                ("requests", 7113.0),
                ("bytes", 29134848.0),
                ("errors", 0.0),
                ("duration", 1.008),
                ("read_iops", 7056.547619),
                ("read_bandwidth", 28903619.0),
                ("read_requests", 7113.0),
                ("read_bytes", 29134848.0),
                ("read_latency_avg", 0.000139083796288),
                ("read_latency_stdev", 0.000584802530716),
                ("read_latency_min", 0.000035703),
                ("read_latency_max", 0.009006843),
                ("read_latency_p50", 0.000060672),
                ("read_latency_p90", 0.000082432),
                ("read_latency_p95", 0.000119296),
                ("read_latency_p99", 0.003129344),
                ("read_latency_p999", 0.007634944),
            ],
        )
    },
    fine(
        "jsonplus_randread.txt",
        &[
            ("iops", 5719.061876),
            ("bandwidth", 23425277.0),
            ("requests", 11461.0),
            ("bytes", 46944256.0),
            ("errors", 0.0),
            ("duration", 2.004),
            ("read_iops", 5719.061876),
            ("read_bandwidth", 23425277.0),
            ("read_requests", 11461.0),
            ("read_bytes", 46944256.0),
            ("read_latency_avg", 0.000170246713027),
            ("read_latency_stdev", 0.001171274601373),
            ("read_latency_min", 0.00002682),
            ("read_latency_max", 0.072229782),
            ("read_latency_p50", 0.000052992),
            ("read_latency_p90", 0.000105984),
            ("read_latency_p95", 0.000236544),
            ("read_latency_p99", 0.003162112),
            ("read_latency_p999", 0.011862016),
        ],
    ),
    fine(
        "normal_and_json.txt",
        &[
            ("iops", 7488.255872),
            ("bandwidth", 30671896.0),
            ("requests", 14984.0),
            ("bytes", 61374464.0),
            ("errors", 0.0),
            ("duration", 2.001),
            ("read_iops", 7488.255872),
            ("read_bandwidth", 30671896.0),
            ("read_requests", 14984.0),
            ("read_bytes", 61374464.0),
            ("read_latency_avg", 0.000132115244661),
            ("read_latency_stdev", 0.000896377914199),
            ("read_latency_min", 0.000032498),
            ("read_latency_max", 0.055756773),
            ("read_latency_p50", 0.00005504),
            ("read_latency_p90", 0.000085504),
            ("read_latency_p95", 0.000118272),
            ("read_latency_p99", 0.002408448),
            ("read_latency_p999", 0.008454144),
        ],
    ),
    fine(
        "rate_iops_limited.txt",
        &[
            ("iops", 50.474763),
            ("bandwidth", 206744.0),
            ("requests", 101.0),
            ("bytes", 413696.0),
            ("errors", 0.0),
            ("duration", 2.001),
            ("read_iops", 50.474763),
            ("read_bandwidth", 206744.0),
            ("read_requests", 101.0),
            ("read_bytes", 413696.0),
            ("read_latency_avg", 0.002819252267327),
            ("read_latency_stdev", 0.017512086247257),
            ("read_latency_min", 0.000049713),
            ("read_latency_max", 0.171853071),
            ("read_latency_p50", 0.000191488),
            ("read_latency_p90", 0.003129344),
            ("read_latency_p99", 0.039583744),
            ("read_latency_p999", 0.170917888),
        ],
    ),
    Case { ok: false, problems: &["fio wrote its report as text: add `--output-format=json`"], ..fine("terse.txt", &[]) },
    Case { ok: false, problems: &["fio wrote its report as text: add `--output-format=json`"], ..fine("text_seqwrite_1m.txt", &[]) },
    Case { ok: false, problems: &["fio wrote its report as text: add `--output-format=json`"], ..fine("text_with_eta_always.txt", &[]) },
];

#[test]
fn saved_outputs_of_fio() {
    check("fio", "fio", CASES);
    assert_covers("fio", CASES);
}

/// The document of a saved output after a change.
fn changed(file: &str, change: impl FnOnce(&mut Value)) -> String {
    let text = String::from_utf8(fixture("fio", file)).expect("text");
    let mut document: Value = serde_json::from_str(&text[text.find("{\n").expect("a document")..]).expect("JSON");
    change(&mut document);
    serde_json::to_string_pretty(&document).expect("JSON")
}

fn value(found: &shakedown::model::metric::Parsed, name: &str) -> Option<f64> {
    found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
}

#[test]
fn documents_that_must_not_be_believed() {
    let contradiction =
        "the report of fio contradicts itself: a rate is not its requests or bytes over its time, or latencies are not in order";
    let one = |change: fn(&mut Value)| changed("json_randrw.txt", |document| change(&mut document["jobs"][0]));
    let whole = one(|_| ());
    let table = [
        (whole.clone(), None),
        (one(|job| job["error"] = json!(5)), Some("job `rw` ended with error 5")),
        (one(|job| job["total_err"] = json!(3)), Some("job `rw` went on after 3 I/O errors")),
        (one(|job| job["read"]["iops"] = json!(67.96)), Some(contradiction)),
        (one(|job| job["write"]["bw_bytes"] = json!(1)), Some(contradiction)),
        (one(|job| job["read"]["clat_ns"]["percentile"]["50.000000"] = json!(9e9)), Some(contradiction)),
        (one(|job| job["read"]["clat_ns"]["mean"] = json!(1)), Some(contradiction)),
        (one(|job| job["read"]["iops"] = Value::Null), Some("the report of fio is damaged: job `rw` lacks numbers of `read` or `write`")),
        (one(|job| job["error"] = json!("no")), Some("the report of fio is damaged: job `rw` lacks `error`")),
        (
            changed("json_randrw.txt", |document| document["jobs"] = json!([])),
            Some("the last JSON document is not a report of fio, or has no jobs"),
        ),
        (whole[..whole.len() / 2].to_owned(), Some("the last JSON document is cut off")),
        // An interim report does not stand in for the last one.
        (format!("{whole}\n{}", &whole[..whole.len() / 2]), Some("the last JSON document is cut off")),
        (format!("fio: terminating on signal 15\n{whole}"), Some("`fio: terminating on signal 15`")),
        ("sh: 1: fio: not found\n".to_owned(), Some("`sh: 1: fio: not found`")),
        ("{\"a\": 1}\n".to_owned(), Some("no report of fio in the output")),
    ];
    for (text, problem) in table {
        let found = parse("fio", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{found:?}");
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(first.starts_with(problem.unwrap_or_default()) && first.is_empty() == problem.is_none(), "{first} for {problem:?}");
    }
}

#[test]
fn what_is_odd_is_said_and_still_ok() {
    let note = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n".repeat(20);
    let harmless = "fio: native_fallocate call failed: Operation not supported\n";
    let text = changed("json_randrw.txt", |document| {
        document["global options"] = json!({"iodepth": "32"});
        document["jobs"][0]["read"].as_object_mut().expect("read").remove("clat_ns");
    });
    let found = parse("fio", format!("{note}{harmless}{text}\nJobs: 1 (f=1)\n").as_bytes(), b"", 0);
    assert_eq!(
        (found.ok, &found.problems[..]),
        (
            true,
            &[
                "`note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1`".to_owned(),
                "`fio: native_fallocate call failed: Operation not supported`".to_owned(),
                "job `rw` asked for 32 requests in flight and had fewer: the highest class that fio counted is 1".to_owned(),
                "no completion latencies of reads (`clat_ns`): fio before 3.0, or --disable_clat".to_owned(),
            ][..]
        )
    );
    assert_eq!((value(&found, "read_iops"), value(&found, "read_latency_p50")), (Some(6796.305542), None));
}

#[test]
fn a_job_that_waits_for_another_is_not_added_to_it() {
    let waiting = changed("json_2jobs_nogroup.txt", |document| document["jobs"][1]["job options"]["wait_for"] = json!("rr"));
    let found = parse("fio", waiting.as_bytes(), b"", 0);
    assert_eq!((value(&found, "iops"), value(&found, "read_iops"), value(&found, "read_requests")), (None, None, Some(24019.0)));
    assert!(found.ok, "{found:?}");
}

#[test]
fn a_document_without_reads_and_writes_moved_nothing() {
    let text = changed("json_randrw.txt", |document| {
        for direction in ["read", "write"] {
            document["jobs"][0][direction]["total_ios"] = json!(0);
        }
    });
    let found = parse("fio", text.as_bytes(), b"", 0);
    assert_eq!((found.ok, &found.problems[..]), (false, &["fio moved no bytes: nothing was read or written".to_owned()][..]));
    assert_metrics(&found, &[("errors", 0.0)], "nothing moved");
}
