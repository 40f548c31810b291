//! Splits samples by where they ended, then each group by its caller, and so on outward.
//!
//! A group holds cursors, places in the stack tree from which its paths go on. Paths that meet at one place
//! are one cursor from there on, and groups below the limits are not split, so a limited tree costs little
//! more than what it shows.

use super::nodes::{Limits, Nodes};
use crate::ask::Question;
use crate::keys::KeyId;
use crate::weights::Cost;
use microscope_capture::StackId;

/// A level of a frame of a stack, and what passes through it.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    key: KeyId,
    stack: StackId,
    level: u32,
    cost: Cost,
}

impl Cursor {
    fn place(&self) -> (KeyId, StackId, u32) {
        (self.key, self.stack, self.level)
    }
}

pub(super) fn nodes(question: &Question<'_>, limits: &Limits) -> Nodes {
    let mut nodes = Nodes::new();
    let mut groups = vec![(Nodes::ROOT, 0_u32, innermost(question, &mut nodes))];
    while let Some((parent, depth, mut cursors)) = groups.pop() {
        cursors.sort_unstable_by_key(Cursor::place);
        for group in cursors.chunk_by(|a, b| a.key == b.key) {
            let total = sum(group);
            if limits.show(total, depth) {
                let node = nodes.push(parent, group[0].key);
                nodes.total[node as usize] = total;
                let callers = callers(question, group, &mut nodes.own[node as usize]);
                groups.push((node, depth + 1, callers));
            } else {
                let hidden = nodes.hidden.entry(parent).or_default();
                hidden.nodes += 1;
                hidden.total += total;
            }
        }
    }
    nodes
}

fn sum(group: &[Cursor]) -> Cost {
    let mut total = Cost::default();
    group.iter().for_each(|cursor| total += cursor.cost);
    total
}

/// Where every sample ended. What has no key at all stays at the root.
fn innermost(question: &Question<'_>, nodes: &mut Nodes) -> Vec<Cursor> {
    let mut cursors = Vec::new();
    for (stack, cost) in question.tables.stacks.ids().zip(&question.weights.of_stack) {
        if !cost.is_zero() {
            match at_or_outward(question, Some(stack), 0) {
                Some(place) => cursors.push(Cursor { cost: *cost, ..place }),
                None => nodes.own[Nodes::ROOT as usize] += *cost,
            }
        }
    }
    cursors
}

/// The callers of a group's cursors; paths that have none end at the group's node.
fn callers(question: &Question<'_>, group: &[Cursor], own: &mut Cost) -> Vec<Cursor> {
    let mut found: Vec<Cursor> = Vec::with_capacity(group.len());
    for cursor in group {
        match outward(question, *cursor) {
            None => *own += cursor.cost,
            Some(next) => match found.last_mut() {
                Some(last) if last.place() == next.place() => last.cost += next.cost,
                _ => found.push(next),
            },
        }
    }
    found.sort_unstable_by_key(Cursor::place);
    found.dedup_by(|later, kept| {
        let same = later.place() == kept.place();
        if same {
            kept.cost += later.cost;
        }
        same
    });
    found
}

/// The next key outward from `cursor`.
fn outward(question: &Question<'_>, cursor: Cursor) -> Option<Cursor> {
    let mut next = at_or_outward(question, Some(cursor.stack), cursor.level + 1)?;
    while question.keys.joins_neighbors() && next.key == cursor.key {
        next = at_or_outward(question, Some(next.stack), next.level + 1)?;
    }
    Some(Cursor { cost: cursor.cost, ..next })
}

/// The key at `level` of `stack`'s frame, or the innermost one of the nearest caller that has any.
fn at_or_outward(question: &Question<'_>, mut stack: Option<StackId>, mut level: u32) -> Option<Cursor> {
    let stacks = &question.tables.stacks;
    while let Some(id) = stack {
        let keys = question.keys.of(stacks.frame[id.index()]);
        if let Some(key) = keys.get(level as usize) {
            return Some(Cursor { key: *key, stack: id, level, cost: Cost::default() });
        }
        (stack, level) = (stacks.parent[id.index()], 0);
    }
    None
}
