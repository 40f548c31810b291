//! What a recording is asked for: a [`RecordRequest`] of free fields goes in, a [`RecordOptions`] that cannot
//! be wrong comes out, checked once. Everything later reads the checked value only.

mod choices;

use std::time::Duration;

use thiserror::Error;

pub use choices::{EventChoice, KernelChoice, Preset, StackPolicy, UnknownName};

/// Samples per second of CPU time that may be asked for.
pub const RATE_HZ_RANGE: std::ops::RangeInclusive<u32> = 1..=100_000;
/// Bytes of user stack that may be copied with a sample. The kernel ends a record at 65,528 bytes and then
/// cuts the copied part by itself.
pub const STACK_BYTES_RANGE: std::ops::RangeInclusive<u32> = 512..=65_528;

/// What somebody asks for; absent fields take the preset's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordRequest {
    /// Where absent fields come from.
    pub preset: Preset,
    /// Samples per second of CPU time.
    pub rate_hz: Option<u32>,
    /// Which evidence of callers each sample carries.
    pub stack: Option<StackPolicy>,
    /// Bytes of user stack copied with each sample.
    pub stack_bytes: Option<u32>,
    /// What triggers a sample.
    pub event: Option<EventChoice>,
    /// Whether code of the kernel is sampled.
    pub kernel: Option<KernelChoice>,
    /// Whether processes that the targets start are left out.
    pub without_children: bool,
    /// How long to record; absent means to the targets' end.
    pub duration: Option<Duration>,
}

/// What is wrong with a request.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OptionsError {
    /// The rate is zero or more than any kernel gives.
    #[error("{given} samples per second cannot be taken: choose 1 to {most}", most = RATE_HZ_RANGE.end())]
    Rate {
        /// What was asked for.
        given: u32,
    },
    /// The stack size is out of range or not made of whole words.
    #[error(
        "{given} bytes of stack cannot be copied: choose a multiple of 8 from {least} to {most}",
        least = STACK_BYTES_RANGE.start(),
        most = STACK_BYTES_RANGE.end()
    )]
    StackBytes {
        /// What was asked for.
        given: u32,
    },
    /// A stack size was given to a policy that copies no stack.
    #[error("--stack-bytes {given} has no meaning with --stack {policy}, which copies no stack")]
    StackBytesUnused {
        /// What was asked for.
        given: u32,
        /// The policy it was asked of.
        policy: StackPolicy,
    },
    /// A recording of no time at all.
    #[error("a duration of zero records nothing")]
    Duration,
}

/// A request that was checked. Invariant: rate and stack bytes lie in their ranges, stack bytes are whole
/// words and zero exactly when the policy copies none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    preset: Preset,
    rate_hz: u32,
    stack: StackPolicy,
    stack_bytes: u32,
    event: EventChoice,
    kernel: KernelChoice,
    children: bool,
    duration: Option<Duration>,
}

impl RecordOptions {
    /// Checks a request and fills in its preset.
    pub fn check(request: &RecordRequest) -> Result<Self, OptionsError> {
        let stack = request.stack.unwrap_or_default();
        Ok(Self {
            preset: request.preset,
            rate_hz: check_rate(request.rate_hz.unwrap_or(request.preset.rate_hz()))?,
            stack,
            stack_bytes: check_stack_bytes(stack, request.stack_bytes, request.preset)?,
            event: request.event.unwrap_or_default(),
            kernel: request.kernel.unwrap_or_default(),
            children: !request.without_children,
            duration: check_duration(request.duration)?,
        })
    }

    /// A preset as it is.
    pub fn preset(preset: Preset) -> Self {
        Self {
            preset,
            rate_hz: preset.rate_hz(),
            stack: StackPolicy::default(),
            stack_bytes: preset.stack_bytes(),
            event: EventChoice::default(),
            kernel: KernelChoice::default(),
            children: true,
            duration: None,
        }
    }

    /// The preset that unnamed values came from.
    pub fn base(&self) -> Preset {
        self.preset
    }

    /// Samples per second of CPU time.
    pub fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    /// Which evidence of callers each sample carries.
    pub fn stack(&self) -> StackPolicy {
        self.stack
    }

    /// Bytes of user stack copied with each sample; zero when the policy copies none.
    pub fn stack_bytes(&self) -> u32 {
        self.stack_bytes
    }

    /// What triggers a sample.
    pub fn event(&self) -> EventChoice {
        self.event
    }

    /// Whether code of the kernel is sampled.
    pub fn kernel(&self) -> KernelChoice {
        self.kernel
    }

    /// Whether processes that the targets start are recorded too.
    pub fn children(&self) -> bool {
        self.children
    }

    /// How long to record; absent means to the targets' end.
    pub fn duration(&self) -> Option<Duration> {
        self.duration
    }
}

fn check_rate(given: u32) -> Result<u32, OptionsError> {
    if RATE_HZ_RANGE.contains(&given) { Ok(given) } else { Err(OptionsError::Rate { given }) }
}

fn check_stack_bytes(policy: StackPolicy, given: Option<u32>, preset: Preset) -> Result<u32, OptionsError> {
    match given {
        Some(given) if !policy.copies() => Err(OptionsError::StackBytesUnused { given, policy }),
        None if !policy.copies() => Ok(0),
        None => Ok(preset.stack_bytes()),
        Some(given) if STACK_BYTES_RANGE.contains(&given) && given.is_multiple_of(8) => Ok(given),
        Some(given) => Err(OptionsError::StackBytes { given }),
    }
}

fn check_duration(given: Option<Duration>) -> Result<Option<Duration>, OptionsError> {
    if given.is_some_and(|duration| duration.is_zero()) { Err(OptionsError::Duration) } else { Ok(given) }
}

#[cfg(test)]
mod tests;
