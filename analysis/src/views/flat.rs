//! Costs by key: how much ended there, and how much passed through.

use microscope_capture::{Capture, StackId, Tables};
use serde::Serialize;

use crate::ask::Question;
use crate::keys::{Identity, KeyId};
use crate::weights::{Cost, Quantity};
use crate::{Key, Query, QueryError};

/// Costs by key, the largest own cost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flat<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for. The own costs of the rows add up to it.
    pub whole: Cost,
    /// By own cost, then total, then key.
    pub rows: Vec<FlatRow<'c>>,
}

/// One key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlatRow<'c> {
    /// What it is.
    #[serde(flatten)]
    pub key: Key<'c>,
    /// Samples whose innermost level it is.
    #[serde(rename = "self")]
    pub own: Cost,
    /// Samples that have it anywhere in their path, each once.
    pub total: Cost,
}

/// Costs by key.
pub fn flat<'c>(capture: &'c Capture, query: &Query) -> Result<Flat<'c>, QueryError> {
    Ok(of(&Question::new(capture, query)?))
}

pub(crate) fn of<'c>(question: &Question<'c>) -> Flat<'c> {
    let costs = KeyCosts::new(question);
    let Question { tables, keys, .. } = question;
    let mut order: Vec<(KeyId, &KeyCost)> = (0..).zip(&costs.of_key).collect();
    order.retain(|(_, cost)| !cost.total.is_zero());
    order.sort_unstable_by(|(a, cost_a), (b, cost_b)| {
        (cost_b.own, cost_b.total).cmp(&(cost_a.own, cost_a.total)).then_with(|| keys.compare(tables, *a, *b))
    });
    let row = |(key, cost): (KeyId, &KeyCost)| FlatRow {
        key: keys.key(tables, key),
        own: cost.own,
        total: cost.total,
    };
    let mut rows: Vec<_> = order.into_iter().map(row).collect();
    rows.extend(frameless_row(tables, costs.frameless));
    Flat { quantity: question.quantity(), whole: question.whole(), rows }
}

fn frameless_row(tables: &Tables, cost: Cost) -> Option<FlatRow<'_>> {
    let key = Key::new(tables, Identity::NoStack);
    (!cost.is_zero()).then_some(FlatRow { key, own: cost, total: cost })
}

/// Costs by dense key.
pub(crate) struct KeyCosts {
    pub(crate) of_key: Vec<KeyCost>,
    /// Samples whose path has no key.
    pub(crate) frameless: Cost,
}

/// Costs of one key.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyCost {
    pub(crate) own: Cost,
    pub(crate) total: Cost,
    /// Where the subtree of its last outermost occurrence ends.
    open_until: usize,
}

impl KeyCosts {
    pub(crate) fn new(question: &Question<'_>) -> Self {
        let Question { keys, paths, weights, .. } = question;
        let of_key = vec![KeyCost::default(); keys.len()];
        let mut costs = Self { of_key, frameless: weights.no_stack };
        for at in 0..paths.len() {
            let own = paths.own(at);
            if !own.is_zero() {
                match innermost_key(question, at) {
                    Some(key) => costs.of_key[key as usize].own += own,
                    None => costs.frameless += own,
                }
            }
            for key in keys.of(paths.frame(at)) {
                let cost = &mut costs.of_key[*key as usize];
                if cost.open_until <= at {
                    cost.open_until = paths.end(at);
                    cost.total += paths.total(at);
                }
            }
        }
        costs
    }
}

/// The innermost key of the path at a position. Frames that a look drops leave their cost with their caller.
fn innermost_key(question: &Question<'_>, at: usize) -> Option<KeyId> {
    let Question { tables, keys, paths, .. } = question;
    if let Some(key) = keys.of(paths.frame(at)).first() {
        return Some(*key);
    }
    let parent = |stack: &StackId| tables.stacks.parent[stack.index()];
    let callers = std::iter::successors(parent(&paths.stack(at)), parent);
    callers.map(|stack| keys.of(tables.stacks.frame[stack.index()])).find_map(|keys| keys.first().copied())
}
