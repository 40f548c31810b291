//! What was chosen for a recording and why: the values that samples are read with, and the words that a report
//! owes its reader.

use std::fmt;

use nix::errno::Errno;

use crate::options::{EventChoice, StackPolicy};

/// How events are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One event per thread and processor, inherited by what the thread starts.
    PerThread,
    /// One event per processor that counts every process: records of others must be left out by who reads them.
    SystemWide,
}

/// What the period of a sample counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodUnit {
    /// Nanoseconds on a processor.
    Nanoseconds,
    /// Processor cycles that were not halted.
    Cycles,
    /// Retired instructions.
    Instructions,
    /// Occurrences of what the event is named after.
    Occurrences,
}

/// How code of the kernel is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelCoverage {
    /// Samples in the kernel are taken, with its stack.
    Stacks,
    /// Samples in the kernel are taken, its stack is not.
    Counted,
    /// No samples are taken in the kernel: totals are user time only.
    Excluded,
}

/// What triggers a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenEvent {
    /// Which event; never [`EventChoice::Auto`].
    pub event: EventChoice,
    /// What a sample's period counts.
    pub unit: PeriodUnit,
    /// Nanoseconds of processor time between samples, when that is fixed.
    pub period_ns: Option<u64>,
}

/// Sizes of the rings of each processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSizes {
    /// Of the sample ring.
    pub sample_bytes: usize,
    /// Of the side-band ring.
    pub side_band_bytes: usize,
    /// How long the sample ring lasts at the planned rate when nobody reads it.
    pub buffer_ms: u32,
}

/// Everything that was decided before the first sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How events are spread.
    pub topology: Topology,
    /// Processors they are spread over.
    pub cpus: Vec<u32>,
    /// What triggers a sample.
    pub event: ChosenEvent,
    /// Samples per second of processor time.
    pub rate_hz: u32,
    /// Which evidence of callers samples carry.
    pub stack: StackPolicy,
    /// Bytes of user stack copied with a sample; zero when none is.
    pub stack_bytes: u32,
    /// How code of the kernel is covered.
    pub kernel: KernelCoverage,
    /// Whether processes that the targets start are recorded too.
    pub children: bool,
    /// Sizes of the rings.
    pub rings: RingSizes,
    /// Where the choice differs from what was asked for, and why.
    pub notes: Vec<PlanNote>,
}

/// A difference between what was asked for and what is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanNote {
    /// The processor's cycle counter cannot be used.
    NoCycles {
        /// What the kernel answered.
        errno: Errno,
    },
    /// The kernel's code may not be sampled.
    KernelRefused {
        /// `perf_event_paranoid`, when it could be read.
        paranoid: Option<i32>,
    },
    /// The rate was lowered to the kernel's limit.
    RateLimited {
        /// What was asked for.
        wanted_hz: u32,
        /// `perf_event_max_sample_rate`.
        limit_hz: u32,
    },
    /// Fewer stack bytes fit the memory that may be locked.
    StackBytesReduced {
        /// What was asked for.
        wanted: u32,
        /// What is copied.
        given: u32,
        /// What rings may take.
        lockable_bytes: u64,
    },
    /// The sample rings last less than they should.
    ShortBuffer {
        /// How long they last.
        buffer_ms: u32,
        /// What rings may take.
        lockable_bytes: u64,
    },
    /// One event per thread needs more descriptors than there are.
    SystemWide {
        /// How many descriptors were needed.
        needed: u64,
        /// How many there are.
        limit: u64,
    },
    /// This kernel does not count what it lost after the last record that could be written.
    NoLostCounts,
    /// This kernel does not report build IDs with mappings.
    NoBuildIds,
    /// This kernel cannot leave out started processes: who reads the records must.
    ChildrenNotExcluded,
}

impl fmt::Display for PlanNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCycles { errno } => {
                write!(
                    f,
                    "sampling by cpu-clock: the processor's cycle counter is not usable here ({errno:?})"
                )
            }
            Self::KernelRefused { paranoid: Some(level) } => {
                write!(f, "user time only: the kernel may not be sampled at perf_event_paranoid {level}")
            }
            Self::KernelRefused { paranoid: None } => {
                f.write_str("user time only: the kernel may not be sampled")
            }
            Self::RateLimited { wanted_hz, limit_hz } => write!(
                f,
                "{limit_hz} samples per second instead of {wanted_hz}: perf_event_max_sample_rate allows no more"
            ),
            Self::StackBytesReduced { wanted, given, lockable_bytes } => write!(
                f,
                "{given} bytes of stack per sample instead of {wanted}: rings may take only {} KiB",
                lockable_bytes >> 10
            ),
            Self::ShortBuffer { buffer_ms, lockable_bytes } => {
                write!(f, "rings last {buffer_ms} ms: they may take only {} KiB", lockable_bytes >> 10)
            }
            Self::SystemWide { needed, limit } => write!(
                f,
                "sampling every process and keeping the wanted ones: an event per thread and processor needs \
                 {needed} descriptors, {limit} are left"
            ),
            Self::NoLostCounts => f.write_str("this kernel does not count samples lost at the very end"),
            Self::NoBuildIds => f.write_str("this kernel reports mappings without build IDs"),
            Self::ChildrenNotExcluded => f.write_str("this kernel cannot leave out started processes"),
        }
    }
}
