//! Costs by thread, beside what the kernel accounted to it.

use microscope_capture::{Capture, Tables, ThreadId};
use serde::Serialize;

use crate::select::Selection;
use crate::weights::{Cost, Quantity};
use crate::{Query, QueryError};

/// Costs by thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Threads<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for. The rows add up to it.
    pub whole: Cost,
    /// By cost, the largest first, then pid, tid and order of appearance. Threads never sampled are rows too.
    pub rows: Vec<ThreadRow<'c>>,
}

/// One thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ThreadRow<'c> {
    /// Its process.
    pub pid: u32,
    /// Its process's name.
    pub process: &'c str,
    /// Its id.
    pub tid: u32,
    /// Its name.
    pub name: &'c str,
    /// Its samples.
    pub cost: Cost,
    /// When it began, or was first seen.
    pub start_ns: u64,
    /// When it ended; absent when it outlived the recording.
    pub end_ns: Option<u64>,
    /// User CPU time the kernel accounted to it, where that was read.
    pub user_time_ns: Option<u64>,
    /// Kernel CPU time the kernel accounted to it, where that was read.
    pub system_time_ns: Option<u64>,
}

/// Costs by thread.
pub fn threads<'c>(capture: &'c Capture, query: &Query) -> Result<Threads<'c>, QueryError> {
    Ok(of(capture, &Selection::new(capture, query)?))
}

pub(crate) fn of<'c>(tables: &'c Tables, selection: &Selection) -> Threads<'c> {
    let rows: Vec<_> = by_cost(tables, selection).into_iter().map(|(_, row)| row).collect();
    let mut whole = Cost::default();
    rows.iter().for_each(|row| whole += row.cost);
    Threads { quantity: Quantity::new(tables, tables.measures.row(selection.measure)), whole, rows }
}

/// The selected threads, the costliest first.
pub(crate) fn by_cost<'c>(tables: &'c Tables, selection: &Selection) -> Vec<(ThreadId, ThreadRow<'c>)> {
    let costs = costs(tables, selection);
    let mut rows: Vec<_> = tables
        .threads
        .ids()
        .filter(|id| selection.takes_thread(*id))
        .map(|id| (id, row(tables, id, costs[id.index()])))
        .collect();
    rows.sort_by(|(_, a), (_, b)| b.cost.cmp(&a.cost).then_with(|| (a.pid, a.tid).cmp(&(b.pid, b.tid))));
    rows
}

/// By thread id: its samples.
fn costs(tables: &Tables, selection: &Selection) -> Vec<Cost> {
    let mut costs = vec![Cost::default(); tables.threads.len()];
    let samples = &tables.samples;
    for at in selection.range(tables) {
        if selection.takes(samples.thread[at], samples.measure[at]) {
            costs[samples.thread[at].index()] += Cost { weight: samples.weight[at], samples: 1 };
        }
    }
    costs
}

fn row(tables: &Tables, id: ThreadId, cost: Cost) -> ThreadRow<'_> {
    let thread = tables.threads.row(id);
    let process = tables.processes.row(thread.process);
    ThreadRow {
        pid: process.pid,
        process: tables.strings.get(process.name),
        tid: thread.tid,
        name: tables.strings.get(thread.name),
        cost,
        start_ns: thread.start_ns,
        end_ns: thread.end_ns,
        user_time_ns: thread.user_time_ns,
        system_time_ns: thread.system_time_ns,
    }
}
