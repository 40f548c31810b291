//! The first pass over samples: how much each stack weighs. Every view starts from these integers.

use std::ops::{AddAssign, Range, Sub};

use microscope_capture::{Measure, MeasureSource, StackId, Tables};
use serde::Serialize;

use crate::both::both;
use crate::select::Selection;

/// An amount of the quantity asked for, and how many samples it was seen by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cost {
    /// In the unit of the result's [`Quantity`].
    pub weight: u64,
    /// Samples.
    pub samples: u64,
}

impl Cost {
    /// Whether nothing was seen.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.weight == 0 && self.samples == 0
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.samples += other.samples;
    }
}

impl Sub for Cost {
    type Output = Self;
    /// What is left of a sum that `part` belongs to.
    fn sub(self, part: Self) -> Self {
        Self {
            weight: self.weight.saturating_sub(part.weight),
            samples: self.samples.saturating_sub(part.samples),
        }
    }
}

/// What a result's weights are: equal sources and units only may be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quantity<'c> {
    /// The name of the event or imported value.
    pub name: &'c str,
    /// Where it comes from, such as `cpu-samples`.
    pub source: &'static str,
    /// The unit: `ns`, `count` or `bytes`.
    pub unit: &'static str,
    /// The configured distance of samples, in the unit (cycles: events); absent when not periodic.
    pub period: Option<u64>,
    /// Whether kernel time was not permitted, so that every total is user time only.
    pub user_only: bool,
}

impl<'c> Quantity<'c> {
    /// Describes `measure`.
    #[must_use]
    pub fn new(tables: &'c Tables, measure: Measure) -> Self {
        Self {
            name: tables.strings.get(measure.name),
            source: measure.source.name(),
            unit: measure.unit.name(),
            period: measure.period,
            user_only: measure.source == MeasureSource::UserCpuSamples,
        }
    }
}

/// Samples from which on a second thread pays.
pub(crate) const SAMPLES_WORTH_A_THREAD: usize = 100_000;
/// Samples whose weights are looked at before they are added: few enough to stay in the first cache.
const SAMPLES_PER_CHUNK: usize = 1024;

/// How much each stack weighs, of the samples that a selection lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Weights {
    /// By stack id: samples that ended at exactly this stack.
    pub(crate) of_stack: Vec<Cost>,
    /// Samples without a stack.
    pub(crate) no_stack: Cost,
    /// All of it.
    pub(crate) whole: Cost,
}

impl Weights {
    pub(crate) fn empty(stacks: usize) -> Self {
        Self { of_stack: vec![Cost::default(); stacks], no_stack: Cost::default(), whole: Cost::default() }
    }

    /// Adds up the samples of `tables` that `selection` lets through. Reads only the columns it must.
    pub(crate) fn of(tables: &Tables, selection: &Selection) -> Self {
        let range = selection.range(tables);
        let mut weights = if range.len() < SAMPLES_WORTH_A_THREAD {
            Self::of_rows(tables, selection, range)
        } else {
            let middle = range.start + range.len() / 2;
            let (mut first, second) = both(
                || Self::of_rows(tables, selection, range.start..middle),
                || Self::of_rows(tables, selection, middle..range.end),
            );
            first.merge(&second);
            first
        };
        weights.sum();
        weights
    }

    /// The same of some rows; the whole is not yet summed.
    fn of_rows(tables: &Tables, selection: &Selection, range: Range<usize>) -> Self {
        let mut weights = Self::empty(tables.stacks.len());
        let samples = &tables.samples;
        if selection.takes_all_of_range() {
            weights.add_all(&samples.stack[range.clone()], &samples.weight[range]);
        } else {
            for at in range.filter(|at| selection.takes(samples.thread[*at], samples.measure[*at])) {
                weights.add(samples.stack[at], Cost { weight: samples.weight[at], samples: 1 });
            }
        }
        weights
    }

    fn merge(&mut self, other: &Self) {
        self.no_stack += other.no_stack;
        self.of_stack.iter_mut().zip(&other.of_stack).for_each(|(cost, other)| *cost += *other);
    }

    /// Adds up every sample. Most weights are the sampling period, and counting touches a quarter of the
    /// memory that adding does: it is the cache that bounds this pass.
    fn add_all(&mut self, stacks: &[Option<StackId>], weights: &[u64]) {
        let usual = weights.first().copied().unwrap_or(0);
        // By stack, and last those without.
        let mut counts = vec![0_u32; self.of_stack.len() + 1];
        for (stacks, weights) in stacks.chunks(SAMPLES_PER_CHUNK).zip(weights.chunks(SAMPLES_PER_CHUNK)) {
            if weights.iter().all(|weight| *weight == usual) {
                let none = counts.len() - 1;
                stacks.iter().for_each(|stack| counts[stack.map_or(none, StackId::index)] += 1);
            } else {
                let rows = stacks.iter().zip(weights);
                rows.for_each(|(stack, weight)| self.add(*stack, Cost { weight: *weight, samples: 1 }));
            }
        }
        let all = self.of_stack.iter_mut().chain([&mut self.no_stack]);
        for (cost, count) in all.zip(counts).filter(|(_, count)| *count > 0) {
            *cost += Cost { weight: usual * u64::from(count), samples: u64::from(count) };
        }
    }

    /// Adds samples of one stack; [`Self::sum`] completes the whole.
    #[inline]
    pub(crate) fn add(&mut self, stack: Option<StackId>, cost: Cost) {
        *stack.map_or(&mut self.no_stack, |stack| &mut self.of_stack[stack.index()]) += cost;
    }

    /// Brings the whole up to date.
    pub(crate) fn sum(&mut self) {
        self.whole = self.no_stack;
        self.of_stack.iter().for_each(|cost| self.whole += *cost);
    }
}
