//! Puts nodes into their final order: siblings by weight, then key; the tree in preorder.

use super::nodes::{Limits, Nodes};
use super::{Hidden, Tree, TreeOrder, TreeRow};
use crate::Key;
use crate::ask::Question;
use crate::keys::{Identity, KeyId};
use crate::weights::Cost;

pub(super) fn rows<'c>(question: &Question<'c>, nodes: Nodes, order: TreeOrder, limits: &Limits) -> Tree<'c> {
    let children = Children::new(question, &nodes);
    let mut output = Output {
        tree: Tree {
            quantity: question.quantity(),
            whole: question.whole(),
            order,
            keys: Vec::new(),
            rows: Vec::new(),
            hidden: nodes.hidden.get(&Nodes::ROOT).copied().unwrap_or_default(),
        },
        shown_key: vec![u32::MAX; question.keys.len()],
    };
    let mut pending = vec![(Nodes::ROOT, 0_u32)];
    while let Some((node, depth)) = pending.pop() {
        let row = output.row(question, &nodes, node, depth);
        let first = pending.len();
        for child in children.of(node) {
            let total = nodes.total[*child as usize];
            if limits.show(total, depth) {
                pending.push((*child, depth + 1));
            } else {
                output.hide(row, total);
            }
        }
        pending[first..].reverse();
    }
    let mut frameless = question.weights.no_stack;
    frameless += nodes.own[Nodes::ROOT as usize];
    output.frameless(question, frameless);
    output.tree
}

/// Children by node, in their final order.
struct Children {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Children {
    fn new(question: &Question<'_>, nodes: &Nodes) -> Self {
        let mut starts = vec![0_u32; nodes.len() + 1];
        nodes.parent.iter().skip(1).for_each(|parent| starts[*parent as usize + 1] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut ordered = vec![0_u32; nodes.len().saturating_sub(1)];
        for (node, parent) in (0_u32..).zip(&nodes.parent).skip(1) {
            let slot = &mut next[*parent as usize];
            ordered[*slot as usize] = node;
            *slot += 1;
        }
        let mut children = Self { starts, nodes: ordered };
        children.sort(question, nodes);
        children
    }

    fn sort(&mut self, question: &Question<'_>, nodes: &Nodes) {
        for range in self.starts.windows(2) {
            self.nodes[range[0] as usize..range[1] as usize].sort_unstable_by(|a, b| {
                let (total_a, total_b) = (nodes.total[*a as usize], nodes.total[*b as usize]);
                total_b.cmp(&total_a).then_with(|| {
                    question.keys.compare(question.tables, nodes.key[*a as usize], nodes.key[*b as usize])
                })
            });
        }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.nodes[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}

struct Output<'c> {
    tree: Tree<'c>,
    /// By key id: its index in the tree's keys.
    shown_key: Vec<u32>,
}

impl<'c> Output<'c> {
    /// Appends the row of `node`, whose depth counts the root as 0, and returns its index; the root has none.
    fn row(&mut self, question: &Question<'c>, nodes: &Nodes, node: u32, depth: u32) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let at = node as usize;
        let hidden = nodes.hidden.get(&node).copied().unwrap_or_default();
        let key = self.key(question, nodes.key[at]);
        self.tree.rows.push(TreeRow { depth, key, own: nodes.own[at], total: nodes.total[at], hidden });
        Some(self.tree.rows.len() - 1)
    }

    fn hide(&mut self, row: Option<usize>, total: Cost) {
        let hidden: &mut Hidden = match row {
            Some(row) => &mut self.tree.rows[row].hidden,
            None => &mut self.tree.hidden,
        };
        hidden.nodes += 1;
        hidden.total += total;
    }

    /// Samples whose path has no key are the last root.
    fn frameless(&mut self, question: &Question<'c>, cost: Cost) {
        if !cost.is_zero() {
            let key = u32::try_from(self.tree.keys.len()).unwrap_or(u32::MAX);
            self.tree.keys.push(Key::new(question.tables, Identity::NoStack));
            let hidden = Hidden::default();
            self.tree.rows.push(TreeRow { depth: 0, key, own: cost, total: cost, hidden });
        }
    }

    fn key(&mut self, question: &Question<'c>, key: KeyId) -> u32 {
        let slot = &mut self.shown_key[key as usize];
        if *slot == u32::MAX {
            *slot = u32::try_from(self.tree.keys.len()).unwrap_or(u32::MAX);
            self.tree.keys.push(question.keys.key(question.tables, key));
        }
        *slot
    }
}
