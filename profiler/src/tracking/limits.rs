//! Bounds of what one recording may make the recorder keep, and the counts of what passed them.

/// Bounds. Each is far above what real programs need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Program images of processes, in all.
    pub processes: usize,
    /// Threads, in all.
    pub threads: usize,
    /// Mappings that one process has at a time. The kernel's own limit is 65,530, data included.
    pub mappings_of_process: usize,
    /// Mappings, in all.
    pub mappings: usize,
    /// Modules, in all.
    pub modules: usize,
    /// Files kept open.
    pub images: usize,
    /// Bytes of a path or name; the rest is cut off.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: 1 << 18,
            threads: 1 << 20,
            mappings_of_process: 1 << 16,
            mappings: 1 << 22,
            modules: 1 << 16,
            images: 1 << 11,
            text_bytes: 1 << 12,
        }
    }
}

impl Limits {
    /// A name from the target as text: cut, and what is not UTF-8 replaced.
    pub(super) fn text(&self, bytes: &[u8]) -> String {
        let cut = bytes.get(..self.text_bytes).unwrap_or(bytes);
        String::from_utf8_lossy(cut).into_owned()
    }
}

/// What could not be kept or told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Asked-for threads that belong to no recorded process, or that state no thread at all.
    pub unknown_threads: u64,
    /// Processes that passed a bound.
    pub processes_refused: u64,
    /// Threads that passed a bound.
    pub threads_refused: u64,
    /// Mappings that passed a bound.
    pub mappings_refused: u64,
    /// Mapping records that state an impossible range.
    pub mappings_malformed: u64,
    /// Threads that were seen without a record of their beginning.
    pub threads_first_seen: u64,
    /// Exits of threads that were not known.
    pub exits_unmatched: u64,
    /// Times that a process's mappings were read again after a loss.
    pub maps_read_again: u64,
    /// Times that they could not be.
    pub maps_unreadable: u64,
    /// Records about mappings and tasks that the kernel found no room for.
    pub side_band_lost: u64,
}
