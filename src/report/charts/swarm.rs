//! Moves points of one group sideways until each can be seen; no dice, so the same values always look the same.

use std::collections::BTreeSet;

/// Above this many points, comparing all pairs costs more than it shows.
const CAREFUL: usize = 400;

/// Offsets across the value axis, one per point, within ±`reach`, for points `size` wide at these places along the axis.
///
/// Points that do not touch stay in the middle. Where there is no room left, points lie over each other.
pub(super) fn offsets(places: &[f32], size: f32, reach: f32) -> Vec<f32> {
    if places.len() > CAREFUL {
        return (0..places.len()).map(|at| reach * scattered(at)).collect();
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]).then(a.cmp(b)));
    let mut offsets = vec![0.0; places.len()];
    let mut side = 1.0;
    for (turn, at) in order.iter().enumerate() {
        let near: Vec<(f32, f32)> = order[..turn]
            .iter()
            .map(|other| (places[*at] - places[*other], offsets[*other]))
            .filter(|(along, _)| along.abs() < size)
            .collect();
        let free = |offset: f32| near.iter().all(|(along, other)| along.hypot(offset - other) >= size);
        let steps = (2.0 * reach / size).floor().max(0.0) as i32 * 2;
        let tries = (0..=steps).map(|step| side * ((step + 1) / 2) as f32 * size / 2.0 * if step % 2 == 1 { 1.0 } else { -1.0 });
        offsets[*at] = tries.filter(|offset| offset.abs() <= reach).find(|offset| free(*offset)).unwrap_or(reach * scattered(turn));
        if offsets[*at] != 0.0 {
            side = -side;
        }
    }
    offsets
}

/// Whether so many points of one group lie over each other anyhow, so that not all are drawn.
pub(super) fn is_crowd(points: usize) -> bool {
    points > CAREFUL
}

/// Which points to draw, `radius` wide to either side and one look per kind: of a crowd, one per place and look. Every other one has a
/// drawn point of its own look within its reach, so that the outline of the crowd stays.
pub(super) fn drawn<Look: Ord + Copy>(places: &[f32], offsets: &[f32], looks: &[Look], radius: f32) -> Vec<bool> {
    if !is_crowd(places.len()) {
        return vec![true; places.len()];
    }
    let step = |value: f32| (value / radius.max(0.5)).floor() as i32;
    let mut taken = BTreeSet::new();
    places.iter().zip(offsets).zip(looks).map(|((place, offset), look)| taken.insert((step(*place), step(*offset), *look))).collect()
}

/// Evenly scattered in -1..1 by the golden ratio.
fn scattered(at: usize) -> f32 {
    let turns = at as f64 * 0.618_033_988_749_895;
    ((turns - turns.floor()) * 2.0 - 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_crowd_one_point_per_place_and_look_is_drawn() {
        let places: Vec<f32> = (0..500).map(|at| at as f32 / 10.0).collect();
        let (offsets, looks) = (vec![0.0; 500], vec![0_u8; 500]);
        // 500 points over 50 pixels, 5 pixels apart at least.
        assert_eq!(drawn(&places, &offsets, &looks, 5.0).iter().filter(|drawn| **drawn).count(), 10);
        assert_eq!(drawn(&places[..400], &offsets[..400], &looks[..400], 5.0), [true; 400]);
        let odd: Vec<bool> = (0..500).map(|at| at == 251).collect();
        assert!(drawn(&places, &offsets, &odd, 5.0)[251], "another look is never hidden");
    }

    #[test]
    fn points_that_touch_move_and_others_stay() {
        assert_eq!(offsets(&[0.0, 20.0, 40.0], 10.0, 15.0), [0.0, 0.0, 0.0]);
        assert_eq!(offsets(&[5.0, 5.0, 5.0], 10.0, 15.0), [0.0, 10.0, -10.0]);
        assert_eq!(offsets(&[], 10.0, 15.0), Vec::<f32>::new());
        for count in [50, 1000] {
            let many = offsets(&vec![1.0; count], 10.0, 15.0);
            assert!(many.iter().all(|offset| offset.abs() <= 15.0));
            assert_eq!(many, offsets(&vec![1.0; count], 10.0, 15.0));
        }
    }
}
