//! Whether a change crosses a limit that a person set.

use crate::model::change::{Change, Judgement, Machine, Operator, Shift, ShiftKind, Threshold};
use crate::model::estimate::Verdict;

/// Judges one threshold. A variant crosses it when it is different and its ratio is beyond the limit; without a verdict it is open while
/// its interval does not keep clear of the limit. Levels of different machines are not judged at all.
#[must_use]
pub fn judge_threshold(change: &Change, threshold: &Threshold) -> Judgement {
    let mut judgement = Judgement { text: threshold.text.clone(), ..Judgement::default() };
    if threshold.kind == ShiftKind::Level && change.machine == Machine::Other {
        let instead = format!("the machines differ, so a level tells nothing; `relative {}` does", threshold.text.trim());
        return Judgement { unjudged: Some(instead), ..judgement };
    }
    let is_meant = |shift: &&Shift| shift.kind == threshold.kind && shift.metric == threshold.metric && !shift.control;
    let meant: Vec<&Shift> = change.shifts.iter().filter(is_meant).collect();
    if meant.is_empty() {
        return Judgement { unjudged: Some("no variant of both records has it".to_owned()), ..judgement };
    }
    for shift in meant {
        if shift.is_different() {
            if threshold.operator.holds(shift.effect.ratio, threshold.limit) {
                judgement.crossed.push(shift.variant.clone());
            }
        } else if (shift.effect.verdict == Verdict::Undecided || shift.too_short) && may_cross(shift, threshold) {
            judgement.open.push(shift.variant.clone());
        }
    }
    judgement
}

/// Whether the end of the interval that is nearest to what is forbidden, or an effect without an interval, is not clear of it.
fn may_cross(shift: &Shift, threshold: &Threshold) -> bool {
    let end = match threshold.operator {
        Operator::Below | Operator::AtMost => shift.effect.low,
        Operator::Above | Operator::AtLeast => shift.effect.high,
    };
    end.is_none_or(|end| threshold.operator.holds(end, threshold.limit))
}
