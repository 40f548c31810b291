//! Dense typed row numbers: an id of one table cannot index another.
//!
//! An id holds its row number plus one, so that an absent id costs no memory of its own.

use std::fmt;
use std::num::NonZeroU32;

use crate::{BadValue, Column, TableKind};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident of $table:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}({})", stringify!($name), self.get())
            }
        }

        impl $name {
            /// The id of row `index`. Row `u32::MAX` cannot exist: tables are bounded well below.
            #[must_use]
            pub const fn new(index: u32) -> Self {
                Self(NonZeroU32::MIN.saturating_add(index))
            }
            /// The row this id names.
            #[must_use]
            pub const fn index(self) -> usize {
                self.get() as usize
            }
            /// The row number as it is stored.
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0.get() - 1
            }
        }

        impl Column for $name {
            const REFERS_TO: Option<TableKind> = Some(TableKind::$table);
            fn to_bits(self) -> u64 {
                u64::from(self.get())
            }
            fn from_bits(bits: u64) -> Result<Self, BadValue> {
                match u32::try_from(bits) {
                    Ok(index) if index < u32::MAX => Ok(Self::new(index)),
                    _ => Err(BadValue { value: bits, expected: stringify!($name) }),
                }
            }
            fn renumbered(self, numbers: &[u32]) -> Self {
                numbers.get(self.index()).map_or(self, |number| Self::new(*number))
            }
        }
    )*};
}

ids! {
    /// An interned string. Row 0 is the empty string.
    StringId of Strings;
    /// A source file.
    FileId of Files;
    /// A loaded image, or another owner of code.
    ModuleId of Modules;
    /// One program image of a process: an exec begins another row.
    ProcessId of Processes;
    /// A thread of a process row.
    ThreadId of Threads;
    /// A mapping of a module into a process, valid for a time.
    MappingId of Mappings;
    /// A physical frame.
    FrameId of Frames;
    /// A function that address facts name.
    FunctionId of Functions;
    /// One name, file and line of a frame.
    FactId of Facts;
    /// A node of the stack tree.
    StackId of Stacks;
    /// A measured quantity: its source and unit.
    MeasureId of Measures;
    /// A sample.
    SampleId of Samples;
    /// A time off or on the processor.
    IntervalId of Intervals;
    /// A place where a task or thread waited.
    WaitId of Waits;
    /// A goroutine, tokio task, or thread of an interpreter.
    TaskId of Tasks;
    /// A claim that a sample ran a task.
    ClaimId of Claims;
    /// A reading of a runtime's state.
    SnapshotId of Snapshots;
    /// A label that held on a thread for a time.
    LabelSpanId of LabelSpans;
    /// A place in the program that writes probe records.
    ProbeSiteId of ProbeSites;
    /// A record that a probe site wrote.
    ProbeRecordId of ProbeRecords;
    /// A counter's value at a time.
    CounterId of Counters;
    /// A system call.
    SyscallId of Syscalls;
    /// A moment: a debugger's stop, a note.
    MarkId of Marks;
    /// A change of the sampling rate.
    RateChangeId of RateChanges;
    /// A change of the sampling duty.
    DutyChangeId of DutyChanges;
    /// Records that were lost.
    LossId of Losses;
    /// An address range that could not be named.
    FailureId of Failures;
    /// A setting of the recording, or of one process of it.
    SettingId of Settings;
    /// A source text.
    SourceTextId of SourceTexts;
}
