//! Rate, stack bytes and ring size as one calculation: a ring must outlast [`BUFFER_MS_WANTED`] at the planned
//! rate, within the memory that may be locked; what does not fit is taken from the stack bytes, and said.

use super::RingSizes;

/// How long a sample ring should last when nobody reads it: several drains of 20 ms, and a scheduling delay.
pub(super) const BUFFER_MS_WANTED: u32 = 100;
/// Fewer stack bytes than these make more cut stacks than they save.
const STACK_BYTES_LEAST: u32 = 1 << 10;
/// Stack bytes are reduced in these steps.
const STACK_BYTES_STEP: u32 = 512;
const SAMPLE_PAGES_LEAST: usize = 8;
const SAMPLE_BYTES_USUAL: usize = 128 << 10;
const SIDE_BAND_PAGES_LEAST: usize = 4;
const SIDE_BAND_BYTES_MAX: usize = 512 << 10;
/// The part of a processor's share that its side-band ring gets.
const SIDE_BAND_SHARE: u64 = 32;

/// What samples ask of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) rate_hz: u32,
    /// A sample without its stack.
    pub(super) fixed_bytes: u32,
    pub(super) stack_bytes: u32,
}

/// What rings may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    pub(super) bytes: u64,
    pub(super) cpus: usize,
    pub(super) page_bytes: usize,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizing {
    pub(super) rings: RingSizes,
    pub(super) stack_bytes: u32,
}

impl Demand {
    fn record_bytes(self) -> u64 {
        u64::from(self.fixed_bytes) + u64::from(self.stack_bytes)
    }

    fn bytes_in(self, milliseconds: u32) -> u64 {
        u64::from(self.rate_hz) * self.record_bytes() * u64::from(milliseconds) / 1000
    }

    /// The most stack bytes with which `ring_bytes` last long enough, in steps, never below the least.
    fn stack_bytes_for(self, ring_bytes: usize) -> u32 {
        let record =
            ring_bytes as u64 * 1000 / (u64::from(self.rate_hz) * u64::from(BUFFER_MS_WANTED)).max(1);
        let left = u32::try_from(record.saturating_sub(self.fixed_bytes.into())).unwrap_or(u32::MAX);
        let stepped = left / STACK_BYTES_STEP * STACK_BYTES_STEP;
        stepped.max(STACK_BYTES_LEAST).min(self.stack_bytes)
    }
}

impl Allowance {
    /// The least that rings can be made of.
    pub(super) fn least_bytes(self) -> u64 {
        let pages = SAMPLE_PAGES_LEAST + SIDE_BAND_PAGES_LEAST + 2;
        (pages * self.page_bytes * self.cpus) as u64
    }

    /// The two largest rings of a processor: samples, side band. Each also needs its control page.
    fn largest_rings(self) -> Option<(usize, usize)> {
        if self.bytes < self.least_bytes() {
            return None;
        }
        let share = self.bytes / self.cpus.max(1) as u64;
        let least = (SIDE_BAND_PAGES_LEAST * self.page_bytes) as u64;
        let side_band =
            power_of_two_within((share / SIDE_BAND_SHARE).clamp(least, SIDE_BAND_BYTES_MAX as u64))?;
        let left = share.checked_sub((side_band + 2 * self.page_bytes) as u64)?;
        Some((power_of_two_within(left)?, side_band))
    }
}

/// The largest power of two that is not more.
fn power_of_two_within(bytes: u64) -> Option<usize> {
    let shift = bytes.checked_ilog2()?.min(usize::BITS - 2);
    Some(1 << shift)
}

/// Decides, or finds that not even the least fits.
pub(super) fn size_rings(demand: Demand, allowance: Allowance) -> Option<Sizing> {
    let (sample_max, side_band_bytes) = allowance.largest_rings()?;
    let wanted = usize::try_from(demand.bytes_in(BUFFER_MS_WANTED)).unwrap_or(usize::MAX / 2);
    let wanted = wanted.max(SAMPLE_BYTES_USUAL).checked_next_power_of_two().unwrap_or(sample_max);
    let sample_bytes = wanted.min(sample_max);
    let stack_bytes = if demand.stack_bytes == 0 || demand.bytes_in(BUFFER_MS_WANTED) <= sample_bytes as u64 {
        demand.stack_bytes
    } else {
        demand.stack_bytes_for(sample_bytes)
    };
    let given = Demand { stack_bytes, ..demand };
    let buffer_ms = sample_bytes as u64 * 1000 / given.bytes_in(1000).max(1);
    let buffer_ms = u32::try_from(buffer_ms).unwrap_or(u32::MAX);
    Some(Sizing { rings: RingSizes { sample_bytes, side_band_bytes, buffer_ms }, stack_bytes })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    const DEFAULT: Demand = Demand { rate_hz: 999, fixed_bytes: 496, stack_bytes: 16 << 10 };

    fn allowance(bytes: u64, cpus: usize) -> Allowance {
        Allowance { bytes, cpus, page_bytes: 4096 }
    }

    fn check(demand: Demand, kib: u64, cpus: usize) -> (usize, usize, u32, u32) {
        let Sizing { rings, stack_bytes } = size_rings(demand, allowance(kib << 10, cpus)).unwrap();
        (rings.sample_bytes >> 10, rings.side_band_bytes >> 10, stack_bytes, rings.buffer_ms)
    }

    #[test]
    fn with_memory_to_spare_the_whole_stack_is_copied() {
        assert_eq!(check(DEFAULT, 1 << 20, 2), (2048, 512, 16 << 10, 124));
    }

    #[test]
    fn a_usual_user_with_8_mib_of_lockable_memory_keeps_the_default() {
        assert_eq!(check(DEFAULT, 516 * 2 + 8192, 2), (2048, 128, 16 << 10, 124));
    }

    #[test]
    fn a_user_with_the_least_quota_gets_fewer_stack_bytes() {
        assert_eq!(check(DEFAULT, 516 * 2 + 64, 2), (512, 16, 4608, 102));
    }

    #[test]
    fn a_rate_beyond_the_rings_shortens_the_buffer_at_last() {
        let demand = Demand { rate_hz: 100_000, ..DEFAULT };
        let (sample, _, stack_bytes, buffer_ms) = check(demand, 516 * 2 + 64, 2);
        assert_eq!((sample, stack_bytes), (512, 1 << 10));
        assert!(buffer_ms < BUFFER_MS_WANTED);
    }

    #[test]
    fn less_than_the_least_is_refused_with_what_is_needed() {
        let short = allowance(14 * 4096 * 2 - 1, 2);
        assert_eq!(size_rings(DEFAULT, short), None);
        assert!(size_rings(DEFAULT, allowance(short.least_bytes(), 2)).is_some());
    }

    proptest! {
        #[test]
        fn rings_fit_and_last_or_the_stack_is_at_its_least(
            rate_hz in 1_u32..=100_000,
            stack_words in 0_u32..=8191,
            kib in 112_u64..(1 << 22),
            cpus in 1_usize..=256,
        ) {
            let demand = Demand { rate_hz, fixed_bytes: 496, stack_bytes: stack_words * 8 };
            let allowed = allowance(kib << 10, cpus);
            if let Some(Sizing { rings, stack_bytes }) = size_rings(demand, allowed) {
                let used = (rings.sample_bytes + rings.side_band_bytes + 2 * 4096) * cpus;
                prop_assert!(used as u64 <= allowed.bytes);
                prop_assert!(rings.sample_bytes.is_power_of_two() && rings.side_band_bytes.is_power_of_two());
                prop_assert!(stack_bytes <= demand.stack_bytes && stack_bytes.is_multiple_of(8));
                prop_assert!(rings.buffer_ms >= BUFFER_MS_WANTED || stack_bytes <= STACK_BYTES_LEAST);
            } else {
                prop_assert!(allowed.bytes < allowed.least_bytes());
            }
        }
    }
}
