//! Results -> Analysis: estimates, effects, verdicts. Pure; knows no files and no engine.
//!
//! The unit of replication is a trial, and what is compared is always paired: the same run and the same block. Per pair the log of
//! the ratio is taken, and a t test on those logs gives ratio, interval and p (`paired`); where engines are compared of which one is started for
//! its setting, the logs are averaged by engine start first, and the start is the unit (`starts`). The primary metric's comparisons with the
//! baseline are one family under Holm's correction, and so are the workloads of one variant; the A/A control stands alone; the
//! other metrics are exploratory and say so (`families`). Where two factors vary, each factor's main effects, the interactions of two
//! factors, and trends over numeric levels are contrasts of the same logs (`factorial`). What is left of the trials in the order in which
//! they ran tells whether the machine held still (`drift`), and whether there were two machines in one (`modes`). A variant's own level is a median with an order-statistic
//! interval (`order_statistics`), because a t interval of skewed timings is not what it claims. Where the CPU time went is told in medians,
//! too (`cpu`).
//!
//! Two records of one experiment are compared by their own rules (`compare`), because nothing pairs them.
//!
//! Trials that something disturbed are judged when the record is read (`hygiene`), count, and are left out of a second verdict that stands
//! beside the first.

mod cautions;
mod compare;
mod contrasts;
mod cpu;
mod difference;
mod disturbed;
mod drift;
mod environment;
mod factorial;
mod families;
mod holm;
mod hygiene;
mod kendall;
mod limiter;
mod modes;
mod moments;
mod observed;
mod order_statistics;
mod paired;
mod pooled;
mod power;
mod ranks;
mod replicates;
mod starts;
mod tail;
mod threshold;
mod verdict;

pub use cautions::too_short;
pub use compare::compare;
pub use cpu::cpu_parts;
pub use families::primary;
pub use holm::{benjamini_hochberg, holm};
pub use hygiene::judge;
pub use order_statistics::{level, median_ranks};
pub use power::blocks_needed;
pub use ranks::{hodges_lehmann, signed_rank};
pub use threshold::judge_threshold;
pub use verdict::significance;

use crate::model::estimate::{Analysis, LevelRow};
use crate::model::results::Results;
use observed::Observed;
use starts::Starts;

/// The error rate of every test and the complement of every interval's level.
pub const ALPHA: f64 = 0.05;

/// Says what `results` show: levels by variant and metric, comparisons with the primary family first, and the sentences that a
/// reader must see before the numbers. The order of the rows does not matter.
#[must_use]
pub fn analyse(results: &Results) -> Analysis {
    let observed = Observed::of(results);
    let mut levels = Vec::new();
    for variant in 0..results.variants.len() {
        for metric in 0..results.metrics.len() {
            let values = observed.cell(metric, variant).iter().map(|(_, value)| *value).collect();
            levels.extend(level(values).map(|estimate| LevelRow { variant, metric, estimate }));
        }
    }
    let short = too_short(results);
    let starts = Starts::of(results);
    let mut found = families::compare(results, &observed, &starts, &short);
    families::without_tainted(results, &starts, &mut found.comparisons);
    let metric = primary(results);
    let distrusted = found.distrusted.map(|(limit, _)| limit);
    let factorial =
        metric.map(|metric| factorial::factorial(results, (&observed, &starts), metric, &short, distrusted)).unwrap_or_default();
    let cautions = cautions::cautions(results, &observed, &found);
    Analysis {
        levels,
        comparisons: found.comparisons,
        cautions,
        limiters: limiter::limiters(results),
        cpu: cpu::split(results),
        main_effects: factorial.main_effects,
        interactions: factorial.interactions,
        trends: factorial.trends,
        drift: metric.and_then(|metric| drift::drift(results, metric)),
        modes: metric.map(|metric| modes::modes(results, &observed, metric)).unwrap_or_default(),
    }
}

/// Half the width of the 95 % interval of a ratio of the primary metric, on the log scale, by the common spread of all variants, and the
/// blocks that it stands on: what a run whose number of blocks is adaptive looks at. It says nothing of any effect. None below two blocks
/// that all variants have.
#[must_use]
pub fn half_width(results: &Results) -> Option<(usize, f64)> {
    let pooled = pooled::Pooled::of(results, &Observed::of(results), primary(results)?)?;
    Some((pooled.n, pooled.half_width()?))
}
