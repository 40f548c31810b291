//! Who calls a function, and what it calls: each sample once per neighbor, however often it recurs.

use microscope_capture::Capture;
use serde::Serialize;

use crate::ask::Question;
use crate::keys::KeyId;
use crate::weights::{Cost, Quantity};
use crate::{Key, Query, QueryError};

/// A key's neighbors on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edges<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for.
    pub whole: Cost,
    /// The keys of the name asked for; several when modules or files share it.
    pub keys: Vec<Key<'c>>,
    /// Samples that pass through any of them, each once.
    pub total: Cost,
    /// Samples without a neighbor on this side: it is outermost, or innermost.
    pub none: Cost,
    /// By cost, the largest first, then key.
    pub rows: Vec<EdgeRow<'c>>,
}

/// A neighbor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EdgeRow<'c> {
    /// Which.
    #[serde(flatten)]
    pub key: Key<'c>,
    /// Samples that have the call in their path, each once.
    pub cost: Cost,
}

/// What calls the keys of this name.
pub fn callers<'c>(capture: &'c Capture, query: &Query, name: &str) -> Result<Edges<'c>, QueryError> {
    edges(capture, query, name, Side::Callers)
}

/// What the keys of this name call.
pub fn callees<'c>(capture: &'c Capture, query: &Query, name: &str) -> Result<Edges<'c>, QueryError> {
    edges(capture, query, name, Side::Callees)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Callers,
    Callees,
}

fn edges<'c>(capture: &'c Capture, query: &Query, name: &str, side: Side) -> Result<Edges<'c>, QueryError> {
    let question = Question::new(capture, query)?;
    let chosen: Vec<bool> =
        (0..).take(question.keys.len()).map(|key| question.keys.key(capture, key).name == name).collect();
    if !chosen.contains(&true) {
        return Err(QueryError::UnknownFunction(name.to_owned()));
    }
    Ok(Walk::of(&question, &chosen, side).into_edges(&question))
}

/// What was found of the neighbors.
struct Walk<'q> {
    chosen: &'q [bool],
    side: Side,
    /// By neighbor: its cost, and where the subtree of the last outermost such call ends.
    costs: Vec<(Cost, usize)>,
    total: (Cost, usize),
    none: Cost,
}

impl<'q> Walk<'q> {
    fn of(question: &Question<'_>, chosen: &'q [bool], side: Side) -> Self {
        let zero = (Cost::default(), 0);
        let costs = vec![zero; chosen.len()];
        let mut walk = Self { chosen, side, costs, total: zero, none: Cost::default() };
        let Question { keys, paths, .. } = question;
        let mut open: Vec<(usize, Option<KeyId>)> = Vec::new();
        for at in 0..paths.len() {
            while open.last().is_some_and(|(end, _)| *end <= at) {
                open.pop();
            }
            let mut caller = open.last().and_then(|(_, key)| *key);
            let span = Span { at, end: paths.end(at), total: paths.total(at) };
            for key in keys.of(paths.frame(at)).iter().rev() {
                if !(keys.joins_neighbors() && caller == Some(*key)) {
                    walk.step(caller, *key, span);
                    caller = Some(*key);
                }
            }
            walk.ended(caller, paths.own(at));
            open.push((span.end, caller));
        }
        walk
    }

    fn step(&mut self, caller: Option<KeyId>, key: KeyId, span: Span) {
        if self.chosen[key as usize] {
            span.add_once(&mut self.total);
        }
        match (self.side, caller) {
            (Side::Callers, None) if self.chosen[key as usize] => self.none += span.total,
            (Side::Callers, Some(caller)) if self.chosen[key as usize] => {
                span.add_once(&mut self.costs[caller as usize]);
            }
            (Side::Callees, Some(caller)) if self.chosen[caller as usize] => {
                span.add_once(&mut self.costs[key as usize]);
            }
            _ => {}
        }
    }

    fn ended(&mut self, innermost: Option<KeyId>, own: Cost) {
        if self.side == Side::Callees && innermost.is_some_and(|key| self.chosen[key as usize]) {
            self.none += own;
        }
    }

    fn into_edges<'c>(self, question: &Question<'c>) -> Edges<'c> {
        let Question { tables, keys, .. } = question;
        let mut order: Vec<(KeyId, Cost)> = (0..).zip(self.costs.iter().map(|(cost, _)| *cost)).collect();
        order.retain(|(_, cost)| !cost.is_zero());
        order.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| keys.compare(tables, a.0, b.0)));
        let chosen = (0..).zip(self.chosen).filter(|(_, chosen)| **chosen);
        Edges {
            quantity: question.quantity(),
            whole: question.whole(),
            keys: chosen.map(|(key, _)| keys.key(tables, key)).collect(),
            total: self.total.0,
            none: self.none,
            rows: order.into_iter().map(|(key, cost)| EdgeRow { key: keys.key(tables, key), cost }).collect(),
        }
    }
}

/// A position of the stack tree, where its subtree ends, and what that weighs.
#[derive(Debug, Clone, Copy)]
struct Span {
    at: usize,
    end: usize,
    total: Cost,
}

impl Span {
    /// Adds to a cost, unless a subtree that was added to it is still open.
    fn add_once(self, (cost, open_until): &mut (Cost, usize)) {
        if *open_until <= self.at {
            *open_until = self.end;
            *cost += self.total;
        }
    }
}
