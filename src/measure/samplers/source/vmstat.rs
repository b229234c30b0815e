//! `/proc/vmstat`: what the memory management did since the boot.

use super::named;

/// Pages swapped in and out; none on a kernel without swap.
#[must_use]
pub fn swapped(text: &str) -> Option<u64> {
    named(text, "pswpin")?.checked_add(named(text, "pswpout")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_and_out() {
        assert_eq!(swapped("pgpgin 9\npswpin 3\npswpout 40\npswpouts 1\n"), Some(43));
        assert_eq!((swapped("pswpin 3\n"), swapped("")), (None, None));
    }
}
