//! Finds threads that were born with our events while these were being opened: their fork records lie in the
//! side-band rings and are looked at in place. Everything else of the records is left to the processor.

use super::RingKind;
use super::rings::Rings;

const RECORD_FORK: u32 = 7;
const HEADER_BYTES: usize = 8;
/// Header, pid, parent's pid, tid, parent's tid, time.
const FORK_BYTES: usize = HEADER_BYTES + 24;

/// A thread that was started by a thread we had events on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Birth {
    pub(super) time_ns: u64,
    pub(super) tid: u32,
    pub(super) parent_tid: u32,
}

/// Every birth that nobody has taken from the side-band rings yet, in order of time.
pub(super) fn pending_births(rings: &Rings) -> Vec<Birth> {
    let mut births = Vec::new();
    for owned in rings.iter().filter(|owned| owned.id.kind == RingKind::SideBand) {
        let (first, second) = owned.ring.pending();
        births.extend(births_in(first, second));
    }
    births.sort_unstable();
    births
}

fn births_in<'a>(first: &'a [u8], second: &'a [u8]) -> impl Iterator<Item = Birth> + 'a {
    let length = first.len() + second.len();
    let mut offset = 0;
    std::iter::from_fn(move || {
        while let Some(header) = read::<HEADER_BYTES>(first, second, offset) {
            let size = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            let start = offset;
            // A size that cannot be ends the search.
            offset = if size < HEADER_BYTES { length } else { start + size };
            if u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) == RECORD_FORK
                && size >= FORK_BYTES
            {
                return read::<FORK_BYTES>(first, second, start).map(|record| birth(&record));
            }
        }
        None
    })
}

/// The bytes at `offset` of two parts that follow one another.
fn read<const COUNT: usize>(first: &[u8], second: &[u8], offset: usize) -> Option<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    for (index, byte) in bytes.iter_mut().enumerate() {
        let at = offset.checked_add(index)?;
        *byte = *first.get(at).or_else(|| second.get(at.checked_sub(first.len())?))?;
    }
    Some(bytes)
}

fn birth(record: &[u8; FORK_BYTES]) -> Birth {
    let word = |at: usize| u32::from_ne_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
    Birth { tid: word(16), parent_tid: word(20), time_ns: u64::from(word(24)) | u64::from(word(28)) << 32 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A fork record as the kernel writes it, with the trailer of our events.
    pub(in crate::collector) fn fork_record(pid: u32, tid: u32, parent_tid: u32, time_ns: u64) -> Vec<u8> {
        let mut record = Vec::new();
        record.extend_from_slice(&RECORD_FORK.to_ne_bytes());
        record.extend_from_slice(&[0, 0, 64, 0]);
        for word in [pid, pid, tid, parent_tid] {
            record.extend_from_slice(&word.to_ne_bytes());
        }
        record.extend_from_slice(&time_ns.to_ne_bytes());
        record.resize(64, 0);
        record
    }

    fn other_record() -> Vec<u8> {
        [&3_u32.to_ne_bytes()[..], &[0, 0, 16, 0], &[7; 8]].concat()
    }

    #[test]
    fn births_are_found_among_other_records_and_across_the_end() {
        let bytes =
            [other_record(), fork_record(5, 6, 5, 100), other_record(), fork_record(5, 7, 6, 1 << 40)]
                .concat();
        for cut in [0, 20, 40, 100, bytes.len()] {
            let (first, second) = bytes.split_at(cut);
            let births: Vec<_> = births_in(first, second).collect();
            assert_eq!(
                births,
                [
                    Birth { time_ns: 100, tid: 6, parent_tid: 5 },
                    Birth { time_ns: 1 << 40, tid: 7, parent_tid: 6 }
                ]
            );
        }
    }

    #[test]
    fn cut_and_impossible_records_end_the_search() {
        let fork = fork_record(5, 6, 5, 100);
        assert_eq!(births_in(&fork[..30], &[]).count(), 0);
        let no_size = [&RECORD_FORK.to_ne_bytes()[..], &[0; 4], &fork].concat();
        assert_eq!(births_in(&no_size, &[]).count(), 0);
    }
}
