//! Dense typed row numbers: an id of one table cannot index another.

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of row `index`. Rows beyond `u32::MAX` cannot exist: tables are bounded well below.
            #[must_use]
            pub const fn new(index: u32) -> Self {
                Self(index)
            }
            /// The row this id names.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// The row number as it is stored.
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl $crate::Column for $name {
            fn to_bits(self) -> u64 {
                u64::from(self.0)
            }
            fn from_bits(bits: u64) -> Result<Self, $crate::BadValue> {
                u32::from_bits(bits).map(Self)
            }
        }
    )*};
}

ids! {
    /// An interned string. Row 0 is the empty string.
    StringId;
    /// A source file.
    FileId;
    /// A loaded image, or another owner of code.
    ModuleId;
    /// One program image of a process: an exec begins another row.
    ProcessId;
    /// A thread of a process row.
    ThreadId;
    /// A mapping of a module into a process, valid for a time.
    MappingId;
    /// A physical frame.
    FrameId;
    /// A function that address facts name.
    FunctionId;
    /// One name, file and line of a frame.
    FactId;
    /// A node of the stack tree.
    StackId;
    /// A measured quantity: its source and unit.
    MeasureId;
    /// A sample.
    SampleId;
    /// A time off or on the processor.
    IntervalId;
    /// A place where a task or thread waited.
    WaitId;
    /// A goroutine, tokio task, or thread of an interpreter.
    TaskId;
    /// A claim that a sample ran a task.
    ClaimId;
    /// A reading of a runtime's state.
    SnapshotId;
    /// A label that held on a thread for a time.
    LabelSpanId;
    /// A place in the program that writes probe records.
    ProbeSiteId;
    /// A record that a probe site wrote.
    ProbeRecordId;
    /// A counter's value at a time.
    CounterId;
    /// A system call.
    SyscallId;
    /// A moment: a debugger's stop, a note.
    MarkId;
    /// A change of the sampling rate.
    RateChangeId;
    /// A change of the sampling duty.
    DutyChangeId;
    /// Records that were lost.
    LossId;
    /// An address range that could not be named.
    FailureId;
    /// A setting of the recording, or of one process of it.
    SettingId;
    /// A source text.
    SourceTextId;
}
