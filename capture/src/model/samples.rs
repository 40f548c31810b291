//! Samples and the quantities they measure.

use crate::column::coded_enum;
use crate::table::table;
use crate::{EndReason, MeasureId, SampleId, StackId, StringId, ThreadId};

coded_enum! {
    /// The unit of a quantity.
    pub enum Unit {
        /// Nanoseconds.
        Nanoseconds = 0 => "ns",
        /// A plain count of events.
        Count = 1 => "count",
        /// Bytes.
        Bytes = 2 => "bytes",
    }
}

coded_enum! {
    /// Where a quantity comes from.
    pub enum MeasureSource {
        /// Samples of CPU time in user and kernel code.
        CpuSamples = 0 => "cpu-samples",
        /// Samples of CPU time in user code only: kernel time was not permitted.
        UserCpuSamples = 1 => "user-cpu-samples",
        /// Samples of another event, named by the measure.
        EventSamples = 2 => "event-samples",
        /// An imported profile.
        Imported = 3 => "imported",
    }
}

table! {
    /// Measured quantities. Only equal sources and units may be added or compared.
    pub table Measures("measures") of
    /// One quantity.
    Measure by MeasureId {
        /// The name of the event or of the imported value, such as `cpu-clock`.
        name: StringId,
        /// Where it comes from.
        source: MeasureSource,
        /// What weights count.
        unit: Unit,
        /// The configured distance of samples, in the unit (cycles: events); absent when not periodic.
        period: Option<u64>,
    }
}

coded_enum! {
    /// What the processor ran when the sample was taken.
    pub enum CpuMode {
        /// User code.
        User = 0 => "user",
        /// The kernel.
        Kernel = 1 => "kernel",
        /// Not known.
        Unknown = 2 => "unknown",
    }
}

table! {
    /// Samples in the order of (time, thread, arrival).
    pub table Samples("samples") of
    /// One sample.
    Sample by SampleId {
        /// When.
        time_ns: u64,
        /// Which thread.
        thread: ThreadId,
        /// The stack; absent when not even an instruction address was known.
        stack: Option<StackId>,
        /// How much it stands for, in the measure's unit.
        weight: u64,
        /// What it measures.
        measure: MeasureId,
        /// Which processor.
        cpu: u16,
        /// User or kernel.
        mode: CpuMode,
        /// Why the stack ends where it does.
        end: EndReason,
    }
}
