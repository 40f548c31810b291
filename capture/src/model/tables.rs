//! All tables together.

use crate::model::*;
use crate::table::Table;

macro_rules! tables {
    ($($(#[$meta:meta])* $field:ident: $table:ident = $code:literal,)*) => {
        /// Every table of a capture, not yet checked.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Tables {
            /// Interned texts. Invariant once validated: unique, row 0 is empty.
            pub strings: Strings,
            $($(#[$meta])* pub $field: $table,)*
        }

        /// Which table; its number is the kind code of the file's directory.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum TableKind {
            /// Interned texts.
            Strings = 0,
            $($(#[$meta])* $table = $code,)*
        }

        impl TableKind {
            /// The table with a kind code.
            #[must_use]
            pub const fn from_code(code: u16) -> Option<Self> {
                match code {
                    0 => Some(Self::Strings),
                    $($code => Some(Self::$table),)*
                    _ => None,
                }
            }
            /// The table's name in messages and documents.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Strings => "strings",
                    $(Self::$table => <$table as Table>::NAME,)*
                }
            }
        }

        impl Tables {
            /// How many rows a table holds.
            #[must_use]
            pub fn rows(&self, kind: TableKind) -> usize {
                match kind {
                    TableKind::Strings => self.strings.len(),
                    $(TableKind::$table => Table::len(&self.$field),)*
                }
            }
        }

        /// Calls a macro with every fixed-width table: its field and type, in the order of kind codes.
        macro_rules! for_each_table {
            ($macro:ident) => { $macro! { $($field: crate::model::$table,)* } };
        }
        pub(crate) use for_each_table;
    };
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

impl Tables {
    /// The text of the whole recording's setting `name`.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        let named = |row: &Setting| row.process.is_none() && self.strings.get(row.name) == name;
        self.settings.iter().map(|(_, row)| row).find(named).map(|row| self.strings.get(row.value))
    }
}
