//! The closed choices of a recording and their names, as the command line and the settings of a capture spell
//! them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A name that is none of a choice's values.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("'{given}' is no {what}: choose {known}")]
pub struct UnknownName {
    /// What was chosen.
    pub what: &'static str,
    /// What was given.
    pub given: String,
    /// The values there are.
    pub known: String,
}

macro_rules! choice {
    ($(#[$about:meta])* $type:ident ($what:literal) { $($(#[$doc:meta])* $value:ident => $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $($(#[$doc])* $value,)+ }

        impl $type {
            /// Every value, in the order help lists them.
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];

            /// The name that people type and captures store.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(given: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|value| value.name() == given).ok_or_else(|| UnknownName {
                    what: $what,
                    given: given.to_owned(),
                    known: Self::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }
    };
}

choice! {
    /// A rate and a depth that belong together.
    Preset("preset") {
        /// Hardly noticeable: 99 samples a second, 8 KiB of stack.
        Low => "low",
        /// 999 samples a second, 16 KiB of stack.
        #[default]
        Default => "default",
        /// 4,999 samples a second, 32 KiB of stack.
        High => "high",
    }
}

impl Preset {
    /// Samples per second of CPU time. Off the round number, so as not to beat with timers of the program.
    pub fn rate_hz(self) -> u32 {
        match self {
            Self::Low => 99,
            Self::Default => 999,
            Self::High => 4_999,
        }
    }

    /// Bytes of user stack copied with each sample.
    pub fn stack_bytes(self) -> u32 {
        match self {
            Self::Low => 8 << 10,
            Self::Default => 16 << 10,
            Self::High => 32 << 10,
        }
    }
}

choice! {
    /// Which evidence of callers a sample carries.
    StackPolicy("stack policy") {
        /// A copy of the top of the stack, unwound by call-frame information.
        #[default]
        Copy => "copy",
        /// The kernel's walk along frame pointers.
        FramePointers => "frame-pointers",
        /// Both, kept apart.
        Both => "both",
        /// The sampled instruction alone.
        None => "none",
    }
}

impl StackPolicy {
    /// Whether user stack bytes are copied.
    pub fn copies(self) -> bool {
        matches!(self, Self::Copy | Self::Both)
    }

    /// Whether the kernel walks the user's frame pointers.
    pub fn follows_frame_pointers(self) -> bool {
        matches!(self, Self::FramePointers | Self::Both)
    }
}

choice! {
    /// What triggers a sample.
    EventChoice("event") {
        /// Cycles where the processor counts them, else the CPU clock.
        #[default]
        Auto => "auto",
        /// Time on a processor, by a timer of the kernel.
        CpuClock => "cpu-clock",
        /// The same, counted per task.
        TaskClock => "task-clock",
        /// Processor cycles that were not halted.
        Cycles => "cycles",
        /// Retired instructions.
        Instructions => "instructions",
        /// Misses of the last-level cache.
        CacheMisses => "cache-misses",
        /// Mispredicted branches.
        BranchMisses => "branch-misses",
        /// Page faults.
        PageFaults => "page-faults",
    }
}

choice! {
    /// Whether code of the kernel is sampled.
    KernelChoice("kernel choice") {
        /// With its stacks where permitted, else left out, and said so.
        #[default]
        Auto => "auto",
        /// With its stacks, or not at all.
        On => "on",
        /// Without its stacks.
        Off => "off",
    }
}
