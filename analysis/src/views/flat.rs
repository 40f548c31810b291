//! Costs by key: how much ended there, and how much passed through.

use microscope_capture::{Capture, Tables};
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
    let mut order: Vec<KeyId> = (0..).take(question.keys.len()).collect();
    order.retain(|key| !costs.total[*key as usize].is_zero());
    let descending = |key: &KeyId| (costs.own[*key as usize], costs.total[*key as usize]);
    order.sort_unstable_by(|a, b| {
        descending(b).cmp(&descending(a)).then_with(|| question.keys.compare(question.tables, *a, *b))
    });
    let row = |key: KeyId| FlatRow {
        key: question.keys.key(question.tables, key),
        own: costs.own[key as usize],
        total: costs.total[key as usize],
    };
    let mut rows: Vec<_> = order.into_iter().map(row).collect();
    rows.extend(frameless_row(question.tables, costs.frameless));
    Flat { quantity: question.quantity(), whole: question.whole(), rows }
}

fn frameless_row(tables: &Tables, cost: Cost) -> Option<FlatRow<'_>> {
    let key = Key::new(tables, Identity::NoStack);
    (!cost.is_zero()).then_some(FlatRow { key, own: cost, total: cost })
}

/// Costs by dense key.
pub(crate) struct KeyCosts {
    pub(crate) own: Vec<Cost>,
    pub(crate) total: Vec<Cost>,
    /// Samples whose path has no key.
    pub(crate) frameless: Cost,
}

impl KeyCosts {
    pub(crate) fn new(question: &Question<'_>) -> Self {
        let Question { tables, keys, paths, weights, .. } = question;
        let zero = vec![Cost::default(); keys.len()];
        let mut costs = Self { own: zero.clone(), total: zero, frameless: weights.no_stack };
        // By key: where the subtree of its last outermost occurrence ends.
        let mut open_until = vec![0_usize; keys.len()];
        let mut innermost = InnermostKey::default();
        for at in 0..paths.stack.len() {
            let of_frame = keys.of(paths.frame(tables, at));
            let end = paths.end[at] as usize;
            match innermost.enter(at, end, of_frame.first().copied()) {
                Some(key) => costs.own[key as usize] += paths.own[at],
                None => costs.frameless += paths.own[at],
            }
            for key in of_frame {
                if open_until[*key as usize] <= at {
                    open_until[*key as usize] = end;
                    costs.total[*key as usize] += paths.total[at];
                }
            }
        }
        costs
    }
}

/// The innermost key of each path. Frames that a look drops leave their cost with their caller.
#[derive(Default)]
struct InnermostKey {
    /// Open positions that have a key: where their subtree ends, and the key.
    open: Vec<(usize, KeyId)>,
}

impl InnermostKey {
    /// The innermost key at position `at`, whose own frame has `key` and whose subtree ends at `end`.
    fn enter(&mut self, at: usize, end: usize, key: Option<KeyId>) -> Option<KeyId> {
        while self.open.last().is_some_and(|(end, _)| *end <= at) {
            self.open.pop();
        }
        self.open.extend(key.map(|key| (end, key)));
        self.open.last().map(|(_, key)| *key)
    }
}
