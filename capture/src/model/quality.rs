//! What a recording is worth: rates, duty, losses, and addresses that could not be named.

use crate::column::coded_enum;
use crate::table::table;
use crate::{
    DutyChangeId, FailureId, LossId, MeasureId, ModuleId, ProcessId, RateChangeId, StringId, ThreadId,
};

table! {
    /// The sampling rate from a time on.
    pub table RateChanges("rate-changes") of
    /// One rate.
    RateChange by RateChangeId {
        /// From when.
        time_ns: u64,
        /// Of which quantity.
        measure: MeasureId,
        /// Samples a second of CPU time.
        rate_hz: u32,
        /// Stack bytes copied a sample.
        stack_bytes: u32,
    }
}

table! {
    /// The share of time that is sampled, from a time on.
    pub table DutyChanges("duty-changes") of
    /// One duty.
    DutyChange by DutyChangeId {
        /// From when.
        time_ns: u64,
        /// On-duty share in millionths: 1,000,000 is always.
        duty_ppm: u32,
    }
}

coded_enum! {
    /// What was lost.
    pub enum LossKind {
        /// The kernel found no room in a ring for samples.
        RingFull = 0 => "ring-full",
        /// The kernel found no room in a ring for records of mappings, names and threads.
        SideBandFull = 1 => "side-band-full",
        /// Records that could not be decoded.
        Malformed = 2 => "malformed",
        /// Samples of a thread or process that could not be told.
        UnknownThread = 3 => "unknown-thread",
        /// Records that arrived after their time had been passed. They are kept; this counts them.
        Late = 4 => "late",
        /// Records of a second event of the same thread and processor.
        Duplicate = 5 => "duplicate",
        /// The kernel throttled the event.
        Throttled = 6 => "throttled",
        /// A bound of the recorder was met.
        Bound = 7 => "bound",
        /// CPU time before recording was armed.
        BeforeArming = 8 => "before-arming",
        /// A killed recording's rows that its spool no longer had.
        Unspooled = 9 => "unspooled",
        /// Facts that an imported format could not carry, or carried malformed.
        Imported = 10 => "imported",
    }
}

table! {
    /// What was lost, where and when.
    pub table Losses("losses") of
    /// One loss.
    Loss by LossId {
        /// What.
        kind: LossKind,
        /// How many records, samples or nanoseconds (the kind says which).
        count: u64,
        /// From when.
        from_ns: u64,
        /// Until when. Invariant: not before the beginning.
        until_ns: u64,
        /// The processor, when it is of one.
        cpu: Option<u16>,
        /// The process, when it is of one.
        process: Option<ProcessId>,
        /// The thread, when it is of one.
        thread: Option<ThreadId>,
        /// More for people, or empty.
        detail: StringId,
    }
}

table! {
    /// Address ranges that could not be named, and why.
    pub table Failures("failures") of
    /// One range.
    Failure by FailureId {
        /// The module.
        module: ModuleId,
        /// The first relative address.
        from_address: u64,
        /// One past the last. Invariant: not before the first.
        to_address: u64,
        /// The files tried, separated by newlines.
        tried: StringId,
        /// Why each was refused, in the same order.
        reason: StringId,
    }
}
