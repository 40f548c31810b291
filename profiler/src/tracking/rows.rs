//! Writes mapping rows: pushed when a mapping begins, completed when it ends.

use microscope_capture::{Builder, Mapping, MappingId, ProcessId};

use super::entry::Entry;

/// The mappings table, for one process.
pub(super) struct MappingRows<'a> {
    pub(super) builder: &'a mut Builder,
    pub(super) process: ProcessId,
    pub(super) clock: Clock,
    pub(super) limit: usize,
    pub(super) refused: &'a mut u64,
}

impl MappingRows<'_> {
    pub(super) fn begin(&mut self, entry: &Entry) -> Option<MappingId> {
        if self.builder.tables.mappings.len() >= self.limit {
            *self.refused += 1;
            return None;
        }
        Some(self.builder.tables.mappings.push(Mapping {
            process: self.process,
            module: entry.module_row,
            start_address: entry.start_address,
            end_address: entry.end_address,
            relative_start: entry.relative_start,
            file_offset: entry.file_offset,
            valid_from_ns: self.clock.relative(entry.from_ns),
            valid_until_ns: None,
            uncertain: entry.is_uncertain,
        }))
    }

    pub(super) fn begin_earlier(&mut self, row: Option<MappingId>, time_ns: u64) {
        let Some(row) = row else { return };
        if let Some(from) = self.builder.tables.mappings.valid_from_ns.get_mut(row.index()) {
            *from = self.clock.relative(time_ns);
        }
    }

    pub(super) fn end(&mut self, row: Option<MappingId>, time_ns: u64) {
        let Some(row) = row else { return };
        let mappings = &mut self.builder.tables.mappings;
        let from_ns = mappings.valid_from_ns.get(row.index()).copied().unwrap_or(0);
        if let Some(until) = mappings.valid_until_ns.get_mut(row.index()) {
            *until = Some(self.clock.relative(time_ns).max(from_ns));
        }
    }

    pub(super) fn mark_uncertain(&mut self, row: Option<MappingId>) {
        let Some(row) = row else { return };
        if let Some(uncertain) = self.builder.tables.mappings.uncertain.get_mut(row.index()) {
            *uncertain = true;
        }
    }
}

/// From CLOCK_MONOTONIC to a recording's own time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) start_ns: u64,
}

impl Clock {
    pub(super) const fn relative(self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns)
    }
}
