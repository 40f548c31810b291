//! Costs by source line, with what was inlined there, and what belongs to no line.

use microscope_capture::Capture;
use serde::Serialize;

use super::flat::{KeyCost, KeyCosts};
use crate::ask::Question;
use crate::keys::{Identity, KeyId};
use crate::weights::{Cost, Quantity};
use crate::{Granularity, Query, QueryError};

/// Costs by line. The own costs of rows, `unlined`, `no_debug` and `no_stack` add up to the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lines<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for.
    pub whole: Cost,
    /// Samples in code that debug information attributes to no line.
    pub unlined: Cost,
    /// Samples in code without debug information.
    pub no_debug: Cost,
    /// Samples without any frame.
    pub no_stack: Cost,
    /// By own cost, then total, then path and line.
    pub rows: Vec<LineRow<'c>>,
}

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LineRow<'c> {
    /// The source file's path, as the debug information has it.
    pub file: &'c str,
    /// The line, from 1.
    pub line: u32,
    /// The function of the first fact that has the line.
    pub function: &'c str,
    /// Samples at this line, inlined code attributed to its own lines.
    #[serde(rename = "self")]
    pub own: Cost,
    /// Samples in code that was inlined into the innermost frame by a call on this line.
    pub inlined: Cost,
    /// Samples that have the line anywhere in their path, each once.
    pub total: Cost,
}

/// Costs by line, whatever granularity the query names.
pub fn lines<'c>(capture: &'c Capture, query: &Query) -> Result<Lines<'c>, QueryError> {
    let query = Query { by: Granularity::Line, ..query.clone() };
    Ok(of(&Question::new(capture, &query)?))
}

pub(crate) fn of<'c>(question: &Question<'c>) -> Lines<'c> {
    let (costs, inlined) = (KeyCosts::new(question), inlined(question));
    let mut lines = Lines {
        quantity: question.quantity(),
        whole: question.whole(),
        unlined: Cost::default(),
        no_debug: Cost::default(),
        no_stack: costs.frameless,
        rows: Vec::new(),
    };
    for (key, KeyCost { own, total, .. }) in (0..).zip(costs.of_key) {
        match question.keys.identity(key) {
            Identity::Unlined(_) => lines.unlined += own,
            Identity::Line { .. } if !total.is_zero() => {
                lines.rows.extend(row(question, key, own, inlined[key as usize], total));
            }
            Identity::Line { .. } => {}
            _ => lines.no_debug += own,
        }
    }
    lines.rows.sort_unstable_by(|a, b| {
        (b.own, b.total).cmp(&(a.own, a.total)).then_with(|| (a.file, a.line).cmp(&(b.file, b.line)))
    });
    lines
}

fn row<'c>(
    question: &Question<'c>,
    key: KeyId,
    own: Cost,
    inlined: Cost,
    total: Cost,
) -> Option<LineRow<'c>> {
    let Identity::Line { path, line, function } = question.keys.identity(key) else { return None };
    let strings = &question.tables.strings;
    let function = strings.get(question.tables.functions.name[function.index()]);
    Some(LineRow { file: strings.get(path), line, function, own, inlined, total })
}

/// By key: what was inlined into innermost frames by a call at that line, each sample once.
fn inlined(question: &Question<'_>) -> Vec<Cost> {
    let Question { keys, paths, .. } = question;
    let mut costs = vec![Cost::default(); keys.len()];
    for at in 0..paths.len() {
        if let Some((_, calls)) = keys.of(paths.frame(at)).split_first() {
            for (level, key) in calls.iter().enumerate() {
                if !calls[..level].contains(key) {
                    costs[*key as usize] += paths.own(at);
                }
            }
        }
    }
    costs
}
