//! One mapping of an address space, and the parts of it that another leaves.

use microscope_capture::{MappingId, ModuleId};

use super::modules::ModuleIndex;

/// One mapping of executable bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) start_address: u64,
    pub(super) end_address: u64,
    pub(super) relative_start: u64,
    pub(super) file_offset: u64,
    pub(super) module: ModuleIndex,
    /// The module's row: what two mappings of one file share, even when the file was opened twice.
    pub(super) module_row: ModuleId,
    pub(super) from_ns: u64,
    /// Whether records were lost before it was seen.
    pub(super) is_uncertain: bool,
    pub(super) row: Option<MappingId>,
}

impl Entry {
    pub(super) const fn contains(&self, address: u64) -> bool {
        self.start_address <= address && address < self.end_address
    }

    /// Whether both give the same answer for any address in both.
    pub(super) fn is_same_code(&self, other: &Self) -> bool {
        let bias = |entry: &Self| entry.start_address.wrapping_sub(entry.relative_start);
        self.module_row == other.module_row && bias(self) == bias(other)
    }

    pub(super) const fn covers(&self, other: &Self) -> bool {
        self.start_address <= other.start_address && other.end_address <= self.end_address
    }

    /// The part of it in a range, if any.
    pub(super) fn part(&self, start: u64, end: u64) -> Option<Self> {
        let start_address = self.start_address.max(start);
        let end_address = self.end_address.min(end);
        let skipped = start_address.wrapping_sub(self.start_address);
        (start_address < end_address).then(|| Self {
            start_address,
            end_address,
            relative_start: self.relative_start.wrapping_add(skipped),
            file_offset: self.file_offset.wrapping_add(skipped),
            ..*self
        })
    }
}

/// What of `entry` lies before and after `by`.
pub(super) fn outside<'a>(entry: &'a Entry, by: &'a Entry) -> impl Iterator<Item = Entry> + use<> {
    [entry.part(0, by.start_address), entry.part(by.end_address, u64::MAX)].into_iter().flatten()
}
