//! The first pass over samples: how much each stack weighs. Every view starts from these integers.

use std::ops::AddAssign;

use microscope_capture::{Measure, MeasureSource, StackId, Tables};
use serde::Serialize;

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
        let mut weights = Self::empty(tables.stacks.len());
        let samples = &tables.samples;
        let range = selection.range(tables);
        let rows = samples.stack[range.clone()].iter().zip(&samples.weight[range.clone()]);
        if selection.takes_all_of_range() {
            rows.for_each(|(stack, weight)| weights.add(*stack, *weight));
        } else {
            let who = samples.thread[range.clone()].iter().zip(&samples.measure[range]);
            rows.zip(who)
                .filter(|(_, (thread, measure))| selection.takes(**thread, **measure))
                .for_each(|((stack, weight), _)| weights.add(*stack, *weight));
        }
        weights.sum();
        weights
    }

    /// Adds one sample; [`Self::sum`] completes the whole.
    #[inline]
    pub(crate) fn add(&mut self, stack: Option<StackId>, weight: u64) {
        let cell = stack.map_or(&mut self.no_stack, |stack| &mut self.of_stack[stack.index()]);
        *cell += Cost { weight, samples: 1 };
    }

    /// Brings the whole up to date.
    pub(crate) fn sum(&mut self) {
        self.whole = self.no_stack;
        self.of_stack.iter().for_each(|cost| self.whole += *cost);
    }
}
