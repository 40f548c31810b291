//! What a raw log consists of, and the fields of everything in it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::codec::{Bytes, Field, Input, fields, variants};
use crate::collector::{
    ChosenEvent, CollectorReport, EndCause, EventLayout, EventRole, KernelCoverage, PeriodUnit, Plan, RingId,
    RingReport, RingSizes, SampleFields, TargetReport, Topology,
};
use crate::files::{Answer, FileProblem, Place, Text};
use crate::options::{EventChoice, StackPolicy};
use crate::records::FileKey;
use crate::sys::process::CpuTimes;

/// What a recording began with: what its processor needs besides deliveries and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The recording's start, by CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// What was decided before the first sample. Its notes, which are for people, are not kept.
    pub plan: Plan,
    /// The events that were open then.
    pub layouts: Vec<EventLayout>,
    /// The child that waited at its gate, if the program was launched.
    pub launched: Option<u32>,
    /// The processes that ran already.
    pub attached: Vec<u32>,
}

/// What is known of an opened file besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileFacts {
    /// Its number in this log.
    pub(super) file: u32,
    pub(super) key: FileKey,
    pub(super) len: u64,
}

/// One piece of a raw log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    /// The first chunk, and only that.
    Start {
        start: Start,
    },
    Events {
        layouts: Vec<EventLayout>,
    },
    Batch {
        ring: RingId,
        position: u64,
        bytes: Bytes,
    },
    Round {
        complete_to_ns: u64,
    },
    Finished {
        report: CollectorReport,
    },
    Opened {
        place: Place,
        answer: Result<FileFacts, FileProblem>,
    },
    /// Bytes of an opened file, from the beginning of a block on.
    Blocks {
        file: u32,
        offset: u64,
        bytes: Bytes,
    },
    Text {
        text: Text,
        answer: Result<Answer<Bytes>, FileProblem>,
    },
    Threads {
        pid: u32,
        answer: Result<Answer<Vec<u32>>, FileProblem>,
    },
    Memory {
        pid: u32,
        address: u64,
        length: u64,
        answer: Result<Answer<Bytes>, FileProblem>,
    },
    /// The last chunk of a log that was ended. Not whole: a bound was met, and later chunks are missing.
    End {
        is_whole: bool,
    },
}

variants! {
    Chunk {
        1 => Start { start },
        2 => Events { layouts },
        3 => Batch { ring, position, bytes },
        4 => Round { complete_to_ns },
        5 => Finished { report },
        6 => Opened { place, answer },
        7 => Blocks { file, offset, bytes },
        8 => Text { text, answer },
        9 => Threads { pid, answer },
        10 => Memory { pid, address, length, answer },
        11 => End { is_whole },
    }
    Place {
        1 => InProcess { pid, path },
        2 => Mapped { pid, start_address, end_address },
        3 => Executable { pid },
        4 => Host { path },
        5 => Vdso,
    }
    Text {
        1 => Maps { pid },
        2 => Comm { pid, tid },
        3 => Stat { pid, tid },
        4 => Status { pid, tid },
        5 => CommandLine { pid },
        6 => Executable { pid },
        7 => KernelSymbols,
        8 => KernelNotes,
    }
    FileProblem {
        1 => Missing,
        2 => Denied,
        3 => NotRegular,
        4 => BadPath,
        5 => TooLong { bytes_max },
        6 => TooManyOpen,
        7 => NotRecorded,
        8 => System { errno },
    }
    EventRole { 1 => Sampler, 2 => SideBand, }
    Topology { 1 => PerThread, 2 => SystemWide, }
    PeriodUnit { 1 => Nanoseconds, 2 => Cycles, 3 => Instructions, 4 => Occurrences, }
    KernelCoverage { 1 => Stacks, 2 => Counted, 3 => Excluded, }
    EndCause { 1 => Stopped, 2 => TargetsGone, 3 => ReceiverGone, }
}

fields! {
    Start { start_ns, plan, layouts, launched, attached }
    FileFacts { file, key, len }
    FileKey { major, minor, inode, generation }
    EventLayout { id, role, cpu, opened_on, fields }
    SampleFields { callchain, user_registers, stack_bytes }
    ChosenEvent { event, unit, period_ns }
    RingSizes { sample_bytes, side_band_bytes, buffer_ms }
    RingReport { ring, bytes, lost_records }
    TargetReport { pid, before, used, children_used, exited }
    CpuTimes { user_ns, system_ns }
    CollectorReport {
        cause, started_ns, ended_ns, rings, targets, exit, own, wakeups, copied_bytes,
    }
}

impl<T: Field> Field for Answer<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.time_ns.write(out);
        self.value.write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        Some(Self { time_ns: Field::read(input)?, value: Field::read(input)? })
    }
}

impl Field for RingId {
    fn write(&self, out: &mut Vec<u8>) {
        self.code().write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        u32::read(input).map(Self::from_code)
    }
}

impl Field for ExitStatus {
    fn write(&self, out: &mut Vec<u8>) {
        self.into_raw().write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        i32::read(input).map(Self::from_raw)
    }
}

/// Choices are kept by their names.
macro_rules! choices {
    ($($type:ident),*) => {$(
        impl Field for $type {
            fn write(&self, out: &mut Vec<u8>) {
                Bytes(self.name().into()).write(out);
            }
            fn read(input: &mut Input<'_>) -> Option<Self> {
                std::str::from_utf8(&Bytes::read(input)?.0).ok()?.parse().ok()
            }
        }
    )*};
}
choices!(EventChoice, StackPolicy);

impl Field for Plan {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { topology, cpus, event, rate_hz, stack, stack_bytes, kernel, children, rings, notes: _ } =
            self;
        topology.write(out);
        cpus.write(out);
        event.write(out);
        rate_hz.write(out);
        stack.write(out);
        stack_bytes.write(out);
        kernel.write(out);
        children.write(out);
        rings.write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        Some(Self {
            topology: Field::read(input)?,
            cpus: Field::read(input)?,
            event: Field::read(input)?,
            rate_hz: Field::read(input)?,
            stack: Field::read(input)?,
            stack_bytes: Field::read(input)?,
            kernel: Field::read(input)?,
            children: Field::read(input)?,
            rings: Field::read(input)?,
            notes: Vec::new(),
        })
    }
}
