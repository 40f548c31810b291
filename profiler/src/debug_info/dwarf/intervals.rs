//! Address ranges with values, and which of them hold an address. Ranges may overlap and nest.

use std::ops::Range;

/// Ranges before an address that are tried for one that reaches it.
const TRIED_MAX: usize = 64;

/// Sorted ranges with a value each.
pub(super) struct Intervals<T> {
    /// Invariant: sorted by beginning, then value.
    intervals: Vec<Interval<T>>,
}

struct Interval<T> {
    begin: u64,
    end: u64,
    /// The greatest end up to here.
    reach: u64,
    value: T,
}

impl<T: Copy + Ord> Intervals<T> {
    pub(super) fn new(ranges: impl IntoIterator<Item = (Range<u64>, T)>) -> Self {
        let interval = |(range, value): (Range<u64>, T)| Interval {
            begin: range.start,
            end: range.end,
            reach: 0,
            value,
        };
        let mut intervals: Vec<_> = ranges.into_iter().map(interval).collect();
        intervals.sort_unstable_by_key(|interval| (interval.begin, interval.value, interval.end));
        let mut reach = 0;
        for interval in &mut intervals {
            reach = interval.end.max(reach);
            interval.reach = reach;
        }
        intervals.shrink_to_fit();
        Self { intervals }
    }

    /// The values of the ranges that hold `address`, the innermost (last to begin) first.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = T> {
        let after = self.intervals.partition_point(|interval| interval.begin <= address);
        let before = self.intervals.get(..after).unwrap_or_default().iter().rev().take(TRIED_MAX);
        before
            .take_while(move |interval| interval.reach > address)
            .filter(move |interval| interval.end > address)
            .map(|interval| interval.value)
    }

    /// The memory it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.intervals.len() * size_of::<Interval<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::Intervals;

    #[test]
    fn every_range_that_holds_an_address_is_found_innermost_first() {
        let intervals = Intervals::new([(10..50, 'a'), (20..30, 'b'), (25..26, 'c'), (60..70, 'd')]);
        let at = |address| intervals.at(address).collect::<String>();
        assert_eq!(at(25), "cba");
        assert_eq!(at(29), "ba");
        assert_eq!(at(49), "a");
        assert_eq!(at(50), "");
        assert_eq!(at(69), "d");
        assert_eq!(at(9), "");
        assert_eq!(at(u64::MAX), "");
    }
}
