//! Merges stacks that have the same keys: one walk of the stack tree in preorder.

use rustc_hash::FxHashMap;

use super::nodes::Nodes;
use crate::ask::Question;
use crate::keys::KeyId;

pub(super) fn nodes(question: &Question<'_>) -> Nodes {
    let Question { tables, keys, paths, .. } = question;
    let mut merge = Merge { nodes: Nodes::new(), children: FxHashMap::default() };
    // Positions whose subtree is open: where it ends, and the node its frame led to.
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut at = 0;
    while at < paths.stack.len() {
        let end = paths.end[at] as usize;
        if paths.total[at].is_zero() {
            at = end;
            continue;
        }
        while open.last().is_some_and(|(end, _)| *end <= at) {
            open.pop();
        }
        let mut node = open.last().map_or(Nodes::ROOT, |(_, node)| *node);
        for key in keys.of(paths.frame(tables, at)).iter().rev() {
            if keys.joins_neighbors() && merge.nodes.key[node as usize] == *key {
                continue;
            }
            node = merge.child(node, *key);
            merge.nodes.total[node as usize] += paths.total[at];
        }
        merge.nodes.own[node as usize] += paths.own[at];
        open.push((end, node));
        at += 1;
    }
    merge.nodes
}

struct Merge {
    nodes: Nodes,
    children: FxHashMap<(u32, KeyId), u32>,
}

impl Merge {
    fn child(&mut self, parent: u32, key: KeyId) -> u32 {
        *self.children.entry((parent, key)).or_insert_with(|| self.nodes.push(parent, key))
    }
}
