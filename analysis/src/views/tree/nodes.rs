//! Nodes of a key tree under construction. Node 0 is the root above all roots; parents precede children.

use rustc_hash::FxHashMap;

use super::{Hidden, TreeOptions};
use crate::keys::KeyId;
use crate::weights::Cost;

/// What a tree leaves out, as absolute numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    min_weight: u64,
    depth_max: u32,
}

impl Limits {
    pub(super) fn new(options: &TreeOptions, whole: Cost) -> Self {
        let min = (u128::from(whole.weight) * u128::from(options.min_ppm)).div_ceil(1_000_000);
        Self {
            min_weight: u64::try_from(min).unwrap_or(u64::MAX),
            depth_max: options.depth_max.unwrap_or(u32::MAX),
        }
    }

    /// Whether a node of `total` at `depth` (0 is a root) is shown.
    pub(super) fn show(&self, total: Cost, depth: u32) -> bool {
        total.weight >= self.min_weight && depth < self.depth_max
    }
}

/// The nodes.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) parent: Vec<u32>,
    /// The root's is meaningless.
    pub(super) key: Vec<KeyId>,
    pub(super) own: Vec<Cost>,
    pub(super) total: Vec<Cost>,
    /// Children left out while building.
    pub(super) hidden: FxHashMap<u32, Hidden>,
}

impl Nodes {
    pub(super) const ROOT: u32 = 0;

    /// The root alone.
    pub(super) fn new() -> Self {
        let zero = vec![Cost::default()];
        Self {
            parent: vec![0],
            key: vec![KeyId::MAX],
            own: zero.clone(),
            total: zero,
            hidden: FxHashMap::default(),
        }
    }

    /// Appends a node.
    pub(super) fn push(&mut self, parent: u32, key: KeyId) -> u32 {
        self.parent.push(parent);
        self.key.push(key);
        self.own.push(Cost::default());
        self.total.push(Cost::default());
        u32::try_from(self.parent.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }
}
