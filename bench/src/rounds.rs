//! Interleaves recorders: each round runs all of them, so that what disturbs the machine disturbs them alike.

use anyhow::Result;
use microscope_tests::{Built, Program};

use crate::statistics::{median, noise};
use crate::{Facts, Recorder};

/// Two recordings of a recorder, short and long: their difference is free of start-up and of the end.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The short recording.
    pub short: Facts,
    /// The long recording.
    pub long: Facts,
}

/// The CPU times that the target consumes in the short and the long recording of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    /// Of the short one.
    pub short_ms: u32,
    /// Of the long one.
    pub long_ms: u32,
}

/// The target of all benches: two threads, stacks of 22 frames.
pub fn target() -> Result<Built> {
    Program::new("stacks.cpp").flags("-O2 -fno-omit-frame-pointer").build()
}

/// Runs every recorder in every round; returns each recorder's pairs.
pub fn run(recorders: &[Recorder], rounds: u32, lengths: Lengths) -> Result<Vec<Vec<Pair>>> {
    let target = target()?;
    let mut pairs = vec![Vec::new(); recorders.len()];
    for _ in 0..rounds {
        for (recorder, pairs) in recorders.iter().zip(&mut pairs) {
            let short = recorder.run(&target, lengths.short_ms)?;
            let long = recorder.run(&target, lengths.long_ms)?;
            pairs.push(Pair { short, long });
        }
    }
    Ok(pairs)
}

/// A median with its noise.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Measured {
    /// The median of all rounds.
    pub median: f64,
    /// Half the width of the band in which repeated medians fall.
    pub noise: f64,
}

impl Measured {
    /// The median and noise of a quantity over pairs.
    pub fn over(pairs: &[Pair], quantity: impl Fn(&Pair) -> f64) -> Self {
        Self::of(&pairs.iter().map(quantity).collect::<Vec<_>>())
    }

    /// The median and noise of values.
    pub fn of(values: &[f64]) -> Self {
        Self { median: median(values), noise: noise(values) }
    }

    /// How much slower the target was in each pair than beside nobody in the same round, in percent.
    pub fn slowdown(pairs: &[Pair], alone: &[Pair]) -> Self {
        Self::of(
            &pairs.iter().zip(alone).map(|(pair, alone)| pair.slowdown_percent(alone)).collect::<Vec<_>>(),
        )
    }
}

impl Pair {
    /// Recorder CPU per sample, net of what every recording costs.
    pub fn cpu_ns_per_sample(&self) -> f64 {
        (self.long.recorder_cpu_ns - self.short.recorder_cpu_ns) / (self.long.samples - self.short.samples)
    }

    /// Recorder CPU of the short recording less its samples' part: starting and ending.
    pub fn fixed_cpu_ns(&self) -> f64 {
        self.short.recorder_cpu_ns - self.cpu_ns_per_sample() * self.short.samples
    }

    /// Bytes per sample of the long recording's file, dictionaries in.
    pub fn bytes_per_sample(&self) -> f64 {
        self.long.file_bytes / self.long.samples
    }

    /// The share of samples lost, in percent.
    pub fn lost_percent(&self) -> f64 {
        100.0 * self.long.lost / (self.long.lost + self.long.samples)
    }

    /// By how many percent the target was slower than beside nobody in the same round.
    pub fn slowdown_percent(&self, alone: &Self) -> f64 {
        100.0 * (self.long.target_round_ns / alone.long.target_round_ns - 1.0)
    }
}
