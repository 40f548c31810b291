//! All tables together.

use crate::model::*;

macro_rules! tables {
    ($($(#[$meta:meta])* $field:ident: $table:ident = $code:literal,)*) => {
        /// Every table of a capture, not yet checked.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Tables {
            /// Interned texts. Invariant once validated: unique, row 0 is empty.
            pub strings: Strings,
            $($(#[$meta])* pub $field: $table,)*
        }

        /// Calls a macro with every fixed-width table: field, type and the kind code of the file's directory.
        macro_rules! for_each_table {
            ($macro:ident) => { $macro! { $($field: $table = $code,)* } };
        }
        #[allow(unused_imports, reason = "used by the file and validation modules")]
        pub(crate) use for_each_table;
    };
}

/// Interned texts in one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strings {
    text: String,
    /// Invariant: starts with 0, does not fall, ends with the text's length, on character boundaries.
    ends: Vec<u32>,
}

impl Default for Strings {
    /// One row: the empty string.
    fn default() -> Self {
        Self { text: String::new(), ends: vec![0] }
    }
}

impl Strings {
    /// Appends `text` without looking for an equal one; interning is the builder's.
    pub fn push(&mut self, text: &str) -> crate::StringId {
        let id = crate::StringId::new(u32::try_from(self.ends.len()).unwrap_or(u32::MAX));
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        id
    }

    /// The text of `id`; empty when there is no such row.
    #[must_use]
    pub fn get(&self, id: crate::StringId) -> &str {
        let index = id.index();
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let Some(end) = self.ends.get(index) else { return "" };
        self.text.get(start as usize..*end as usize).unwrap_or("")
    }

    /// Rows held, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: row 0 always is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

tables! {
    /// Source files.
    files: Files = 1,
    /// Owners of code.
    modules: Modules = 2,
    /// Functions.
    functions: Functions = 3,
    /// Processes.
    processes: Processes = 4,
    /// Threads.
    threads: Threads = 5,
    /// Mappings.
    mappings: Mappings = 6,
    /// Physical frames.
    frames: Frames = 7,
    /// Names, files and lines of frames.
    facts: Facts = 8,
    /// The tree of stacks.
    stacks: Stacks = 9,
    /// Measured quantities.
    measures: Measures = 10,
    /// Samples.
    samples: Samples = 11,
    /// Times off the processor.
    intervals: Intervals = 12,
    /// Readings of runtimes.
    snapshots: Snapshots = 13,
    /// Tasks.
    tasks: Tasks = 14,
    /// Where tasks waited.
    waits: Waits = 15,
    /// Samples that ran tasks.
    claims: Claims = 16,
    /// System calls.
    syscalls: Syscalls = 17,
    /// Labels of threads.
    label_spans: LabelSpans = 18,
    /// Probe sites.
    probe_sites: ProbeSites = 19,
    /// Probe records.
    probe_records: ProbeRecords = 20,
    /// Counters.
    counters: Counters = 21,
    /// Marks.
    marks: Marks = 22,
    /// Sampling rates.
    rate_changes: RateChanges = 23,
    /// Sampling duty.
    duty_changes: DutyChanges = 24,
    /// Losses.
    losses: Losses = 25,
    /// Addresses without a name.
    failures: Failures = 26,
    /// Settings.
    settings: Settings = 27,
    /// Source texts.
    source_texts: SourceTexts = 28,
}
