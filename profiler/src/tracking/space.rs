//! One address space over time: which module lies at an address.
//!
//! The kernel says when code is mapped, never when it is unmapped or moved: a mapping ends where another
//! overlaps it, or with its program. Ended ones are kept for a while, since samples may arrive late or wait.
//! After a fork both processes share one list until either changes.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::entry::{Entry, outside};
use super::rows::MappingRows;

/// Ended mappings that one process keeps at most.
const ENDED_MAX: usize = 4096;

#[derive(Debug, Clone, Copy)]
struct Ended {
    entry: Entry,
    until_ns: u64,
}

#[derive(Debug, Default)]
pub(super) struct AddressSpace {
    /// Invariant: sorted by address, without overlap.
    current: Arc<Vec<Entry>>,
    /// When the list came by fork: its rows are the parent's, and this process has none yet.
    inherited_ns: Option<u64>,
    ended: VecDeque<Ended>,
    /// The last change. Questions about later times need only look at `current`.
    changed_ns: u64,
    /// How often `current` changed.
    changes: u64,
    last_hit: Cell<usize>,
}

impl AddressSpace {
    /// What a child of this space has.
    pub(super) fn fork(&self, time_ns: u64) -> Self {
        Self {
            current: Arc::clone(&self.current),
            inherited_ns: Some(time_ns),
            changed_ns: time_ns,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.current.len()
    }

    /// What lies at an address now.
    pub(super) fn at(&self, address: u64) -> Option<&Entry> {
        self.index_of(address).and_then(|index| self.current.get(index))
    }

    pub(super) const fn changed_ns(&self) -> u64 {
        self.changed_ns
    }

    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) const fn is_inherited(&self) -> bool {
        self.inherited_ns.is_some()
    }

    /// Makes answers about times before `time_ns` look at what was then.
    pub(super) fn touch(&mut self, time_ns: u64) {
        self.changed_ns = self.changed_ns.max(time_ns);
    }

    pub(super) fn find(&self, address: u64, time_ns: u64) -> Option<&Entry> {
        if time_ns < self.changed_ns {
            return self.find_past(address, time_ns);
        }
        let last = self.current.get(self.last_hit.get());
        if let Some(entry) = last.filter(|entry| entry.contains(address)) {
            return Some(entry);
        }
        let index = self.index_of(address)?;
        self.last_hit.set(index);
        self.current.get(index)
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        let index = self.current.partition_point(|entry| entry.end_address <= address);
        self.current.get(index)?.contains(address).then_some(index)
    }

    fn find_past(&self, address: u64, time_ns: u64) -> Option<&Entry> {
        let held = |entry: &Entry| entry.contains(address) && entry.from_ns <= time_ns;
        let before = self.ended.iter().rev().filter(|past| time_ns < past.until_ns);
        self.at(address)
            .filter(|entry| held(entry))
            .or_else(|| before.map(|past| &past.entry).find(|entry| held(entry)))
    }

    /// Gives an inherited list rows of its own.
    pub(super) fn own(&mut self, rows: &mut MappingRows<'_>) {
        let Some(from_ns) = self.inherited_ns.take() else { return };
        for entry in Arc::make_mut(&mut self.current) {
            entry.from_ns = from_ns;
            entry.row = rows.begin(entry);
        }
    }

    /// Puts a mapping in, as of its own time: whatever older ones it overlaps end there.
    ///
    /// A newer mapping that is already there keeps its place; the one put in ended when that began.
    pub(super) fn insert(&mut self, new: Entry, rows: &mut MappingRows<'_>) {
        let overlapped = self.overlapped(new.start_address, new.end_address);
        if self.is_known(overlapped.clone(), &new, rows) {
            return;
        }
        self.own(rows);
        let mut kept = Vec::new();
        let mut gaps = vec![new];
        let current = Arc::clone(&self.current);
        for old in current.get(overlapped.clone()).unwrap_or_default() {
            if old.is_same_code(&new) {
                kept.push(*old);
            } else if old.from_ns <= new.from_ns {
                self.end_part(old, &new, &mut kept, rows);
                continue;
            } else {
                kept.push(*old);
                if let Some(past) = new.part(old.start_address, old.end_address) {
                    let row = rows.begin(&past);
                    rows.end(row, old.from_ns);
                    remember(&mut self.ended, Entry { row, ..past }, old.from_ns);
                }
            }
            gaps = gaps.iter().flat_map(|gap| outside(gap, old)).collect();
        }
        drop(current);
        kept.extend(gaps.into_iter().map(|gap| Entry { row: rows.begin(&gap), ..gap }));
        kept.sort_unstable_by_key(|entry| entry.start_address);
        self.replace(overlapped, kept, new.from_ns);
    }

    /// Whether a mapping says nothing new. One that was only seen later is then known to have begun earlier.
    fn is_known(&mut self, overlapped: Range<usize>, new: &Entry, rows: &mut MappingRows<'_>) -> bool {
        let is_same = |old: &Entry| old.is_same_code(new) && old.covers(new);
        let index = self.current.get(overlapped.clone()).and_then(|all| all.iter().position(is_same));
        let Some(index) = index.map(|index| overlapped.start + index) else { return false };
        if self.current.get(index).is_some_and(|old| old.from_ns > new.from_ns && new.covers(old)) {
            self.own(rows);
            if let Some(old) = Arc::make_mut(&mut self.current).get_mut(index) {
                old.from_ns = new.from_ns;
                rows.begin_earlier(old.row, new.from_ns);
            }
        }
        true
    }

    /// Ends whatever a range overlaps that is older than `time_ns`.
    pub(super) fn cut(&mut self, start: u64, end: u64, time_ns: u64, rows: &mut MappingRows<'_>) {
        let overlapped = self.overlapped(start, end);
        if overlapped.is_empty() {
            return;
        }
        self.own(rows);
        let mut kept = Vec::new();
        let current = Arc::clone(&self.current);
        for old in current.get(overlapped.clone()).unwrap_or_default() {
            if old.from_ns > time_ns {
                kept.push(*old);
                continue;
            }
            let hole = Entry { start_address: start, end_address: end, from_ns: time_ns, ..*old };
            self.end_part(old, &hole, &mut kept, rows);
        }
        drop(current);
        self.replace(overlapped, kept, time_ns);
    }

    /// Ends an entry; what lies outside of `by` goes on as entries of their own.
    fn end_part(&mut self, old: &Entry, by: &Entry, kept: &mut Vec<Entry>, rows: &mut MappingRows<'_>) {
        rows.end(old.row, by.from_ns);
        remember(&mut self.ended, *old, by.from_ns);
        kept.extend(outside(old, by).map(|rest| {
            let rest = Entry { from_ns: by.from_ns, ..rest };
            Entry { row: rows.begin(&rest), ..rest }
        }));
    }

    /// Ends everything: another program began, or the process ended.
    pub(super) fn end_all(&mut self, time_ns: u64, rows: &mut MappingRows<'_>) {
        if self.inherited_ns.is_none() {
            for entry in self.current.iter() {
                rows.end(entry.row, time_ns);
            }
        }
    }

    /// Says that records about this space were lost.
    pub(super) fn mark_uncertain(&mut self, rows: &mut MappingRows<'_>) {
        if self.inherited_ns.is_none() {
            for entry in self.current.iter() {
                rows.mark_uncertain(entry.row);
            }
        }
    }

    fn overlapped(&self, start: u64, end: u64) -> Range<usize> {
        let first = self.current.partition_point(|entry| entry.end_address <= start);
        let past = self.current.partition_point(|entry| entry.start_address < end);
        first..past.max(first)
    }

    fn replace(&mut self, range: Range<usize>, entries: Vec<Entry>, time_ns: u64) {
        let current = Arc::make_mut(&mut self.current);
        if range.end <= current.len() {
            current.splice(range, entries);
        }
        self.changes += 1;
        self.touch(time_ns);
    }

    /// Forgets what ended before `time_ns`.
    pub(super) fn forget_before(&mut self, time_ns: u64) {
        while self.ended.front().is_some_and(|past| past.until_ns < time_ns) {
            self.ended.pop_front();
        }
    }
}

fn remember(ended: &mut VecDeque<Ended>, entry: Entry, until_ns: u64) {
    if entry.from_ns >= until_ns {
        return;
    }
    if ended.len() == ENDED_MAX {
        ended.pop_front();
    }
    ended.push_back(Ended { entry, until_ns });
}
