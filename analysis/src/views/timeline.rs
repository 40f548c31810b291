//! How much each thread ran over time: sampled cost in equal buckets.

use microscope_capture::{Capture, Tables};
use serde::Serialize;

use super::threads::{self, ThreadRow};
use crate::select::Selection;
use crate::weights::{Cost, Quantity};
use crate::{Query, QueryError};

/// A lane per thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeline<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for. All buckets of all lanes add up to its weight.
    pub whole: Cost,
    /// When the first bucket begins.
    pub from_ns: u64,
    /// How long a bucket is. At least 1.
    pub bucket_ns: u64,
    /// Threads that were sampled, in the order of [`super::Threads`].
    pub lanes: Vec<Lane<'c>>,
}

/// One thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lane<'c> {
    /// Which.
    pub thread: ThreadRow<'c>,
    /// By bucket: the weight of its samples. In nanoseconds, `bucket_ns` is one processor all the time.
    pub weights: Vec<u64>,
}

/// A lane per sampled thread in `buckets` equal parts (at least 1) of the time asked for.
pub fn timeline<'c>(capture: &'c Capture, query: &Query, buckets: u32) -> Result<Timeline<'c>, QueryError> {
    let selection = Selection::new(capture, query)?;
    let threads = threads::of(capture, &selection);
    let (from_ns, bucket_ns) = split(capture, &selection, u64::from(buckets.max(1)));
    let mut lane_of = vec![usize::MAX; capture.threads.len()];
    let mut lanes: Vec<Lane<'c>> = Vec::new();
    for (id, thread) in threads::by_cost(capture, &selection) {
        if thread.cost.is_zero() {
            continue;
        }
        lane_of[id.index()] = lanes.len();
        lanes.push(Lane { thread, weights: vec![0; buckets.max(1) as usize] });
    }
    let samples = &capture.samples;
    for at in selection.range(capture) {
        if selection.takes(samples.thread[at], samples.measure[at]) {
            let lane = &mut lanes[lane_of[samples.thread[at].index()]];
            let bucket = samples.time_ns[at].saturating_sub(from_ns) / bucket_ns;
            let last = lane.weights.len() - 1;
            lane.weights[usize::try_from(bucket).unwrap_or(last).min(last)] += samples.weight[at];
        }
    }
    Ok(Timeline { quantity: threads.quantity, whole: threads.whole, from_ns, bucket_ns, lanes })
}

/// The time asked for: its beginning and the length of a bucket. Open ends are those of the samples.
fn split(tables: &Tables, selection: &Selection, buckets: u64) -> (u64, u64) {
    let last = tables.samples.time_ns.last().map_or(0, |time| time.saturating_add(1));
    let until = selection.to_ns.unwrap_or(last).max(selection.from_ns);
    (selection.from_ns, (until - selection.from_ns).div_ceil(buckets).max(1))
}
