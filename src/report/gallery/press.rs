//! Charts are drawn on all CPUs: each by itself, so the bytes do not depend on how many there are.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Pictures in the making at once: each takes up to a hundred megabytes of pixels.
const MOST: usize = 4;

/// What `work` makes of each item, in their order.
pub(super) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST).min(items.len());
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(at)
                {
                    let result = work(item);
                    made.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_items() {
        let items: Vec<u64> = (0..100).collect();
        let slow_first = |item: &u64| {
            std::thread::sleep(std::time::Duration::from_micros(200 - 2 * item));
            item * item
        };
        assert_eq!(each(&items, slow_first), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert_eq!(each(&[], slow_first), Vec::<u64>::new());
    }
}
