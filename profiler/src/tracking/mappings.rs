//! Mappings of files and memory, as records tell of them.

use microscope_capture::{Builder, ModuleKind, ProcessId};

use super::Tracker;
use super::entry::Entry;
use super::lives::set;
use super::locate::Mapped;
use crate::image::MappedRange;
use crate::records::NewMapping;

impl Tracker {
    pub(super) fn on_mapping(&mut self, new: &NewMapping<'_>, time_ns: u64, rows: &mut Builder) {
        let Some(process) = self.adopt(new.pid, time_ns, rows) else { return };
        let end_address = new.start_address.checked_add(new.length_bytes);
        let Some(end_address) = end_address.filter(|end| *end > new.start_address) else {
            self.counts.mappings_malformed += 1;
            return;
        };
        if !new.is_executable {
            self.change_space(process, rows, |image, rows| {
                image.space.cut(new.start_address, end_address, time_ns, rows);
            });
            return;
        }
        let mapped = Mapped {
            pid: new.pid,
            start_address: new.start_address,
            end_address,
            path: new.path,
            evidence: new.evidence,
        };
        self.map(process, &mapped, new.file_offset, time_ns, false, rows);
    }

    /// Puts executable bytes into a process's address space.
    pub(super) fn map(
        &mut self,
        process: ProcessId,
        mapped: &Mapped<'_>,
        file_offset: u64,
        time_ns: u64,
        is_uncertain: bool,
        rows: &mut Builder,
    ) {
        let Some(entry) = self.entry_of(mapped, file_offset, time_ns, is_uncertain, rows) else {
            self.counts.mappings_refused += 1;
            return;
        };
        let limit = self.options.limits.mappings_of_process;
        let is_full = self.change_space(process, rows, |image, rows| {
            if image.space.len() >= limit {
                return true;
            }
            image.space.insert(entry, rows);
            false
        });
        self.counts.mappings_refused += u64::from(is_full == Some(true));
        self.learn_executable(process, entry, rows);
    }

    fn entry_of(
        &mut self,
        mapped: &Mapped<'_>,
        file_offset: u64,
        time_ns: u64,
        is_uncertain: bool,
        rows: &mut Builder,
    ) -> Option<Entry> {
        let length_bytes = mapped.end_address - mapped.start_address;
        let range = MappedRange { file_offset, length_bytes, executable: true };
        let mut module = self.modules.of(mapped, &*self.files, &self.options.limits, rows)?;
        let found = self.modules.get(module)?.relative_start(mapped.start_address, range);
        if found.is_none() {
            module = self.modules.without_segment(module, rows)?;
        }
        Some(Entry {
            start_address: mapped.start_address,
            end_address: mapped.end_address,
            relative_start: found.unwrap_or(file_offset),
            file_offset,
            module,
            module_row: self.modules.get(module)?.id,
            from_ns: time_ns,
            is_uncertain,
            row: None,
        })
    }

    /// The first file that a new program maps is the program.
    fn learn_executable(&mut self, process: ProcessId, entry: Entry, rows: &mut Builder) {
        let Some(image) = self.images.get_mut(&process).filter(|image| image.awaits_executable) else {
            return;
        };
        let module = self.modules.get(entry.module).filter(|module| module.kind == ModuleKind::File);
        if let Some(module) = module {
            image.awaits_executable = false;
            let path = rows.string(&module.path);
            set(&mut rows.tables.processes.executable, process.index(), path);
        }
    }

    /// Changes a space; if that changed its answers, they get a new number.
    pub(super) fn change_space<R>(
        &mut self,
        process: ProcessId,
        rows: &mut Builder,
        change: impl FnOnce(&mut super::process::ProgramImage, &mut super::rows::MappingRows<'_>) -> R,
    ) -> Option<R> {
        self.generations += 1;
        let generation = self.generations;
        self.with_space(process, rows, |image, rows| {
            let before = image.space.changes();
            let answer = change(image, rows);
            if image.space.changes() != before {
                image.generation = generation;
            }
            answer
        })
    }
}
