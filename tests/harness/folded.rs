//! Folded stacks: `main;hot;spin 700`, one line a stack, the outermost function first.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anyhow::{Context, Result};

/// Stacks with their weights.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    stacks: Vec<(Vec<String>, f64)>,
}

impl Folded {
    /// Reads the format.
    pub fn parse(text: &str) -> Result<Self> {
        let mut stacks = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (stack, weight) = line.rsplit_once(' ').with_context(|| format!("no weight in {line}"))?;
            let weight = weight.parse().with_context(|| format!("no number ends {line}"))?;
            stacks.push((stack.split(';').map(str::to_owned).collect(), weight));
        }
        Ok(Self { stacks })
    }

    /// Adds a stack, the outermost function first.
    pub fn push(&mut self, stack: Vec<String>, weight: f64) {
        self.stacks.push((stack, weight));
    }

    /// The stacks with their weights.
    pub fn stacks(&self) -> impl Iterator<Item = (&[String], f64)> {
        self.stacks.iter().map(|(stack, weight)| (stack.as_slice(), *weight))
    }

    /// The weight of all stacks.
    pub fn whole(&self) -> f64 {
        self.stacks().map(|(_, weight)| weight).sum()
    }

    /// The percentage of the weight whose stack the predicate holds for.
    pub fn percent_where(&self, mut holds: impl FnMut(&[String]) -> bool) -> f64 {
        let whole = self.whole();
        let part: f64 = self.stacks().filter(|(stack, _)| holds(stack)).map(|(_, weight)| weight).sum();
        if whole == 0.0 { 0.0 } else { 100.0 * part / whole }
    }

    /// The percentage of the weight in whose stacks the functions call each other in this order.
    pub fn percent_of_path(&self, path: &[String]) -> f64 {
        self.percent_where(|stack| {
            stack.windows(path.len()).any(|frames| frames.iter().zip(path).all(same_function))
        })
    }

    /// The percentage of the weight in whose stacks the function is.
    pub fn total_percent(&self, function: &str) -> f64 {
        self.percent_where(|stack| stack.iter().any(|frame| is_function(frame, function)))
    }

    /// The percentage of the weight whose innermost frame is the function's.
    pub fn self_percent(&self, function: &str) -> f64 {
        self.percent_where(|stack| stack.last().is_some_and(|frame| is_function(frame, function)))
    }

    /// The median number of frames from `outer` to `inner`, both counted, over the stacks that have both.
    pub fn median_depth(&self, outer: &str, inner: &str) -> Option<usize> {
        let mut weights = BTreeMap::<usize, f64>::new();
        for (stack, weight) in self.stacks() {
            let first = stack.iter().position(|frame| is_function(frame, outer));
            let last = stack.iter().rposition(|frame| is_function(frame, inner));
            if let (Some(first), Some(last)) = (first, last)
                && first <= last
            {
                *weights.entry(last - first + 1).or_default() += weight;
            }
        }
        median(&weights)
    }

    /// The median number of frames over all stacks.
    pub fn median_frames(&self) -> Option<usize> {
        median(&self.depths())
    }

    /// The numbers of frames that the median may be: between the quantiles 0.4 and 0.6 of all stacks. Where half of
    /// the time has one depth and half another, chance decides which of them the median itself is.
    pub fn middle_frames(&self) -> Option<RangeInclusive<usize>> {
        let depths = self.depths();
        Some(quantile(&depths, 0.4)?..=quantile(&depths, 0.6)?)
    }

    /// The weight of the stacks of each depth.
    fn depths(&self) -> BTreeMap<usize, f64> {
        let mut weights = BTreeMap::new();
        for (stack, weight) in self.stacks() {
            *weights.entry(stack.len()).or_default() += weight;
        }
        weights
    }
}

fn median(weights: &BTreeMap<usize, f64>) -> Option<usize> {
    quantile(weights, 0.5)
}

fn quantile(weights: &BTreeMap<usize, f64>, share: f64) -> Option<usize> {
    let part = weights.values().sum::<f64>() * share;
    let mut below = 0.0;
    weights
        .iter()
        .find(|(_, weight)| {
            below += **weight;
            below >= part
        })
        .map(|(depth, _)| *depth)
}

fn same_function((frame, wanted): (&String, &String)) -> bool {
    is_function(frame, wanted)
}

/// Whether a name as a profiler shows it is the function's: return types, parameters, versions and the suffixes of
/// split or specialised copies do not matter.
pub fn is_function(shown: &str, wanted: &str) -> bool {
    shown.match_indices(wanted).any(|(start, _)| {
        let before = shown[..start].chars().next_back();
        let after = shown[start + wanted.len()..].chars().next();
        matches!(before, None | Some(' ' | '*' | '&'))
            && matches!(after, None | Some('(' | '.' | '@' | ' ' | '['))
    })
}
