//! How stacks ended: by reason and by the module of the outermost frame reached, and what would help.

use microscope_capture::setting_names::STACK_BYTES;
use microscope_capture::{Capture, EndReason, ModuleId, ModuleKind, Tables};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::select::Selection;
use crate::weights::{Cost, Quantity};
use crate::{Query, QueryError};

/// How stacks ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ends<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for. The rows add up to it.
    pub whole: Cost,
    /// Whole stacks first, then by samples, the most first, then by reason and module.
    pub rows: Vec<EndRow<'c>>,
}

/// Stacks that ended for one reason in one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EndRow<'c> {
    /// Why.
    #[serde(serialize_with = "reason_name")]
    pub reason: EndReason,
    /// The path of the outermost frame's module; absent when in none that is known.
    pub module: Option<&'c str>,
    /// The samples.
    pub cost: Cost,
    /// What would make such stacks whole, when something would.
    pub remedy: Option<Remedy>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn reason_name<S: Serializer>(reason: &EndReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(reason.name())
}

/// What would make stacks whole. Presentation says it in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Copy more stack bytes a sample.
    MoreStackBytes,
    /// As many as the kernel copies were copied: build the module with frame pointers and use both.
    FramePointers,
    /// Build the module with unwind tables, or with frame pointers and use both.
    UnwindTables,
    /// Let the recorder read the module's file.
    ReadableFile,
    /// Have the runtime describe its generated code: a perf map or registered objects.
    DescribeGeneratedCode,
    /// Copy the stack instead of following frame pointers, or not asking for callers at all.
    CopyStack,
    /// Lose no records: larger rings or a lower rate.
    LoseFewerRecords,
}

impl Remedy {
    /// What would help against `reason`.
    #[must_use]
    pub const fn of(reason: EndReason) -> Option<Self> {
        match reason {
            EndReason::StackBytes => Some(Self::MoreStackBytes),
            EndReason::NoRule | EndReason::BadRule => Some(Self::UnwindTables),
            EndReason::NoFile => Some(Self::ReadableFile),
            EndReason::FramePointers | EndReason::NotWanted => Some(Self::CopyStack),
            EndReason::UncertainMapping => Some(Self::LoseFewerRecords),
            _ => None,
        }
    }
}

/// How stacks ended.
pub fn ends<'c>(capture: &'c Capture, query: &Query) -> Result<Ends<'c>, QueryError> {
    Ok(of(capture, &Selection::new(capture, query)?))
}

pub(crate) fn of<'c>(tables: &'c Tables, selection: &Selection) -> Ends<'c> {
    let mut whole = Cost::default();
    let mut rows: Vec<EndRow<'c>> = Vec::new();
    let is_all_copied = copies_all(tables);
    for ((reason, module), cost) in by_reason_and_module(tables, selection) {
        whole += cost;
        let is_generated = module.is_some_and(|id| tables.modules.kind[id.index()] == ModuleKind::Anonymous);
        let module = module.map(|id| tables.strings.get(tables.modules.path[id.index()]));
        let remedy = Remedy::of(reason).map(|remedy| possible(remedy, is_all_copied, is_generated));
        rows.push(EndRow { reason, module, cost, remedy });
    }
    let cut = |row: &EndRow<'_>| row.reason != EndReason::Complete;
    rows.sort_by(|a, b| {
        (cut(a), b.cost.samples, b.cost.weight, a.reason, a.module).cmp(&(
            cut(b),
            a.cost.samples,
            a.cost.weight,
            b.reason,
            b.module,
        ))
    });
    Ends { quantity: Quantity::new(tables, tables.measures.row(selection.measure)), whole, rows }
}

/// Bytes of stack that the kernel copies at most.
const STACK_BYTES_MOST: u32 = 65_528;

/// Whether more bytes of stack could not have been asked for.
fn copies_all(tables: &Tables) -> bool {
    let copied = tables.setting(STACK_BYTES).and_then(|bytes| bytes.parse::<u32>().ok());
    copied.is_some_and(|bytes| bytes >= STACK_BYTES_MOST)
}

fn possible(remedy: Remedy, is_all_copied: bool, is_generated: bool) -> Remedy {
    match remedy {
        Remedy::MoreStackBytes if is_all_copied => Remedy::FramePointers,
        // No compiler's option reaches code that is made at run time.
        Remedy::UnwindTables if is_generated => Remedy::DescribeGeneratedCode,
        remedy => remedy,
    }
}

type Counted = ((EndReason, Option<ModuleId>), Cost);

/// In no order: the caller sorts.
fn by_reason_and_module(tables: &Tables, selection: &Selection) -> impl Iterator<Item = Counted> + use<> {
    let modules = outermost_modules(tables);
    let mut costs: FxHashMap<_, Cost> = FxHashMap::default();
    let samples = &tables.samples;
    for at in selection.range(tables) {
        if selection.takes(samples.thread[at], samples.measure[at]) {
            let module = samples.stack[at].and_then(|stack| modules[stack.index()]);
            let cost = costs.entry((samples.end[at], module)).or_default();
            *cost += Cost { weight: samples.weight[at], samples: 1 };
        }
    }
    costs.into_iter()
}

/// By stack: the module of its outermost frame.
fn outermost_modules(tables: &Tables) -> Vec<Option<ModuleId>> {
    let mut modules: Vec<Option<ModuleId>> = Vec::with_capacity(tables.stacks.len());
    for (_, row) in tables.stacks.iter() {
        modules.push(match row.parent {
            Some(parent) => modules[parent.index()],
            None => tables.frames.module[row.frame.index()],
        });
    }
    modules
}
