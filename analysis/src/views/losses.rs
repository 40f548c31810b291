//! What a recording is worth: what was lost, how stacks ended, and what could not be named.

use microscope_capture::{Capture, Loss, LossKind, Tables};
use serde::{Serialize, Serializer};

use super::ends::{self, EndRow};
use crate::select::Selection;
use crate::weights::{Cost, Quantity};
use crate::{Query, QueryError};

/// Losses, cut stacks and failures of naming.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Losses<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for.
    pub whole: Cost,
    /// Samples that were taken but are not in the capture.
    pub lost_samples: u64,
    /// In the order of the capture: time, then kind.
    pub rows: Vec<LossRow<'c>>,
    /// How stacks ended.
    pub ends: Vec<EndRow<'c>>,
    /// Address ranges without names.
    pub failures: Vec<FailureRow<'c>>,
}

/// One loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LossRow<'c> {
    /// What.
    #[serde(serialize_with = "kind_name")]
    pub kind: LossKind,
    /// How many.
    pub count: u64,
    /// What [`Self::count`] counts: `samples`, `records` or `ns`.
    pub unit: &'static str,
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub until_ns: u64,
    /// The processor, when it is of one.
    pub cpu: Option<u16>,
    /// The process, when it is of one.
    pub pid: Option<u32>,
    /// The thread, when it is of one.
    pub tid: Option<u32>,
    /// More, or empty.
    pub detail: &'c str,
}

/// An address range without a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureRow<'c> {
    /// The module's path.
    pub module: &'c str,
    /// What [`Self::identity`] is.
    pub identity_kind: &'static str,
    /// The module's identity, or empty.
    pub identity: &'c str,
    /// The first relative address.
    pub from_address: u64,
    /// One past the last.
    pub to_address: u64,
    /// Each file that was tried, and why it was refused.
    pub tried: Vec<Tried<'c>>,
}

/// A file that was tried for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tried<'c> {
    /// Its path.
    pub file: &'c str,
    /// Why it was refused.
    pub reason: &'c str,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn kind_name<S: Serializer>(kind: &LossKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// What was lost and what could not be named.
pub fn losses<'c>(capture: &'c Capture, query: &Query) -> Result<Losses<'c>, QueryError> {
    let selection = Selection::new(capture, query)?;
    let ends = ends::of(capture, &selection);
    Ok(Losses {
        quantity: ends.quantity,
        whole: ends.whole,
        lost_samples: lost_samples(capture, &selection),
        rows: loss_rows(capture, &selection).map(|row| loss_row(capture, row)).collect(),
        ends: ends.rows,
        failures: failure_rows(capture),
    })
}

/// The losses that concern the selected threads and times.
pub(crate) fn loss_rows<'c>(tables: &'c Tables, selection: &'c Selection) -> impl Iterator<Item = Loss> + 'c {
    tables.losses.iter().map(|(_, row)| row).filter(|row| {
        selection.overlaps(row.from_ns, row.until_ns) && selection.concerns(tables, row.process, row.thread)
    })
}

/// Samples that were taken but are not there. Records that a full ring lost count as samples.
pub(crate) fn lost_samples(tables: &Tables, selection: &Selection) -> u64 {
    loss_rows(tables, selection)
        .filter(|row| unit_of(row.kind) == "samples")
        .fold(0, |sum, row| row.count.saturating_add(sum))
}

const fn unit_of(kind: LossKind) -> &'static str {
    match kind {
        LossKind::RingFull | LossKind::UnknownThread => "samples",
        LossKind::BeforeArming => "ns",
        _ => "records",
    }
}

fn loss_row(tables: &Tables, row: Loss) -> LossRow<'_> {
    LossRow {
        kind: row.kind,
        count: row.count,
        unit: unit_of(row.kind),
        from_ns: row.from_ns,
        until_ns: row.until_ns,
        cpu: row.cpu,
        pid: row.process.map(|id| tables.processes.pid[id.index()]),
        tid: row.thread.map(|id| tables.threads.tid[id.index()]),
        detail: tables.strings.get(row.detail),
    }
}

fn failure_rows(tables: &Tables) -> Vec<FailureRow<'_>> {
    let text = |id| tables.strings.get(id);
    let rows = tables.failures.iter().map(|(_, row)| {
        let module = tables.modules.row(row.module);
        let reasons = text(row.reason).lines().chain(std::iter::repeat(""));
        FailureRow {
            module: text(module.path),
            identity_kind: module.identity_kind.name(),
            identity: text(module.identity),
            from_address: row.from_address,
            to_address: row.to_address,
            tried: text(row.tried)
                .lines()
                .zip(reasons)
                .map(|(file, reason)| Tried { file, reason })
                .collect(),
        }
    });
    rows.collect()
}
