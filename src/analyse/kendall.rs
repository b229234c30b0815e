//! Kendall's count of pairs that are in order, less those that are not.

/// The count over all pairs of a sequence, and its variance when the order says nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Concordance {
    /// Pairs of which the later value is larger, less those of which it is smaller.
    pub(super) score: i64,
    pub(super) variance: f64,
}

impl Concordance {
    pub(super) fn of(sequence: &[f64]) -> Self {
        let mut sorted = sequence.to_vec();
        let (larger, smaller) = count(&mut sorted);
        let n = sequence.len() as f64;
        let of_tie = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
        let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tie| of_tie(tie.len() as f64)).sum();
        Self { score: larger - smaller, variance: (of_tie(n) - ties) / 18.0 }
    }
}

/// Sorts by merging, and counts the pairs of which the later value is larger, and those of which it is smaller: in each merge of two
/// sorted halves they are the places between the values. So a hundred thousand values take no time.
fn count(values: &mut [f64]) -> (i64, i64) {
    if values.len() < 2 {
        return (0, 0);
    }
    let (earlier, later) = values.split_at_mut(values.len() / 2);
    let (of_earlier, of_later) = (count(earlier), count(later));
    let (mut below, mut up_to) = (0, 0);
    let (mut larger, mut smaller) = (of_earlier.0 + of_later.0, of_earlier.1 + of_later.1);
    for value in later.iter() {
        while below < earlier.len() && earlier[below] < *value {
            below += 1;
        }
        while up_to < earlier.len() && earlier[up_to] <= *value {
            up_to += 1;
        }
        larger += below as i64;
        smaller += (earlier.len() - up_to) as i64;
    }
    values.sort_by(f64::total_cmp);
    (larger, smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_by_hand() {
        let of = |values: &[f64]| Concordance::of(values);
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0]), Concordance { score: 6, variance: 156.0 / 18.0 });
        assert_eq!(of(&[4.0, 3.0, 2.0, 1.0]).score, -6);
        assert_eq!(of(&[2.0, 1.0, 4.0, 3.0]).score, 2);
        assert_eq!(of(&[1.0, 1.0, 2.0]), Concordance { score: 2, variance: (66.0 - 18.0) / 18.0 });
        assert_eq!(of(&[5.0; 4]), Concordance { score: 0, variance: 0.0 });
        assert_eq!(of(&[]).score, 0);
        let values: Vec<f64> = (0..200).map(|at| f64::from((at * 7919) % 53)).collect();
        let sign = |a: f64, b: f64| if a < b { 1 } else { -i64::from(a > b) };
        let slow: i64 = (0..200).flat_map(|i| (i + 1..200).map(move |j| (i, j))).map(|(i, j)| sign(values[i], values[j])).sum();
        assert_eq!(of(&values).score, slow);
    }
}
