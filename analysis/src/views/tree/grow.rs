//! Splits paths by their first key, then each group by its next, and so on: the rows of a tree in preorder.
//!
//! The cursors of groups that wait are kept in one pile, the group that comes next on top, so growing a tree
//! allocates nothing per node. Groups below the limits are not split: a limited tree costs little more than
//! what it shows.

use super::cursor::{Cursor, Direction};
use super::{Hidden, Tree, TreeOptions, TreeRow};
use crate::Key;
use crate::ask::Question;
use crate::keys::{Identity, KeyId};
use crate::weights::Cost;

/// What a tree leaves out, as absolute numbers.
#[derive(Debug, Clone, Copy)]
struct Limits {
    min_weight: u64,
    depth_max: u32,
}

impl Limits {
    fn new(options: &TreeOptions, whole: Cost) -> Self {
        let min = (u128::from(whole.weight) * u128::from(options.min_ppm)).div_ceil(1_000_000);
        let min_weight = u64::try_from(min).unwrap_or(u64::MAX);
        Self { min_weight, depth_max: options.depth_max.unwrap_or(u32::MAX) }
    }

    /// Whether a node of `total` at `depth` (0 is a root) is shown.
    const fn show(self, total: Cost, depth: u32) -> bool {
        total.weight >= self.min_weight && depth < self.depth_max
    }
}

/// A node that has not got its row yet.
#[derive(Debug, Clone, Copy)]
struct Group {
    key: KeyId,
    depth: u32,
    total: Cost,
    /// Where its cursors begin; they last to the next group's.
    first: usize,
}

pub(super) fn tree<'c>(
    question: &Question<'c>,
    direction: &impl Direction,
    options: &TreeOptions,
) -> Tree<'c> {
    let mut growth = Growth {
        question,
        limits: Limits::new(options, question.whole()),
        tree: Tree {
            quantity: question.quantity(),
            whole: question.whole(),
            order: options.order,
            keys: Vec::new(),
            rows: Vec::new(),
            hidden: Hidden::default(),
        },
        shown_key: vec![u32::MAX; question.keys.len()],
        groups: Vec::new(),
        pile: Vec::new(),
        found: Vec::new(),
        siblings: Vec::new(),
    };
    let mut frameless = question.weights.no_stack;
    frameless += direction.begin(&mut growth.found);
    growth.tree.hidden = growth.split(0);
    while growth.grow(direction) {}
    growth.frameless(frameless);
    growth.tree
}

struct Growth<'q, 'c> {
    question: &'q Question<'c>,
    limits: Limits,
    tree: Tree<'c>,
    /// By key id: its index in the tree's keys.
    shown_key: Vec<u32>,
    /// Nodes that wait for their row; the next one is the last.
    groups: Vec<Group>,
    /// Their cursors, in the same order.
    pile: Vec<Cursor>,
    /// Where the paths of the node at hand go on.
    found: Vec<Cursor>,
    /// The same as groups, in `found`.
    siblings: Vec<Group>,
}

impl<'c> Growth<'_, 'c> {
    /// Makes the row of the next node and the groups of its children; answers false when none is left.
    fn grow(&mut self, direction: &impl Direction) -> bool {
        let Some(group) = self.groups.pop() else { return false };
        let mut own = Cost::default();
        self.found.clear();
        for cursor in &self.pile[group.first..] {
            own += direction.go_on(*cursor, &mut self.found);
        }
        self.pile.truncate(group.first);
        let key = self.key(group.key);
        let hidden = self.split(group.depth + 1);
        self.tree.rows.push(TreeRow { depth: group.depth, key, own, total: group.total, hidden });
        true
    }

    /// Puts what was found on the pile as groups by key; answers what the limits leave out.
    fn split(&mut self, depth: u32) -> Hidden {
        self.found.sort_unstable_by_key(Cursor::order);
        self.find_siblings(depth);
        let mut hidden = Hidden::default();
        for at in 0..self.siblings.len() {
            let sibling = self.siblings[at];
            if self.limits.show(sibling.total, depth) {
                self.pile_up(sibling);
            } else {
                hidden.nodes += 1;
                hidden.total += sibling.total;
            }
        }
        hidden
    }

    /// Groups `found`, the lightest first: what is piled up last is grown first.
    fn find_siblings(&mut self, depth: u32) {
        self.siblings.clear();
        for (first, cursor) in self.found.iter().enumerate() {
            match self.siblings.last_mut() {
                Some(group) if group.key == cursor.key => group.total += cursor.cost,
                _ => self.siblings.push(Group { key: cursor.key, depth, total: cursor.cost, first }),
            }
        }
        let Question { keys, tables, .. } = self.question;
        self.siblings
            .sort_unstable_by(|a, b| a.total.cmp(&b.total).then_with(|| keys.compare(tables, b.key, a.key)));
    }

    /// Moves a group's cursors to the pile. Those at one place become one.
    fn pile_up(&mut self, group: Group) {
        let first = self.pile.len();
        for cursor in self.found[group.first..].iter().take_while(|cursor| cursor.key == group.key) {
            match self.pile[first..].last_mut() {
                Some(last) if last.order() == cursor.order() => last.cost += cursor.cost,
                _ => self.pile.push(*cursor),
            }
        }
        self.groups.push(Group { first, ..group });
    }

    fn key(&mut self, key: KeyId) -> u32 {
        let slot = &mut self.shown_key[key as usize];
        if *slot == u32::MAX {
            *slot = u32::try_from(self.tree.keys.len()).unwrap_or(u32::MAX);
            self.tree.keys.push(self.question.keys.key(self.question.tables, key));
        }
        *slot
    }

    /// Samples whose path has no key are the last root.
    fn frameless(&mut self, cost: Cost) {
        if !cost.is_zero() {
            let key = u32::try_from(self.tree.keys.len()).unwrap_or(u32::MAX);
            self.tree.keys.push(Key::new(self.question.tables, Identity::NoStack));
            let hidden = Hidden::default();
            self.tree.rows.push(TreeRow { depth: 0, key, own: cost, total: cost, hidden });
        }
    }
}
