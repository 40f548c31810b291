//! Call trees by key: from the outermost frame inward, or inverted from where samples ended outward.

mod cursor;
mod grow;
mod inverted;
mod top_down;

use microscope_capture::Capture;
use serde::Serialize;

use crate::ask::Question;
use crate::weights::{Cost, Quantity};
use crate::{Key, Query, QueryError};

/// How a tree is built and what it leaves out. The default is the whole tree from the top.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeOptions {
    /// From which end.
    pub order: TreeOrder,
    /// Nodes below this share of the whole, in millionths, are left out; what they weigh is stated.
    pub min_ppm: u32,
    /// Levels shown; absent is all.
    pub depth_max: Option<u32>,
}

/// From which end paths are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeOrder {
    /// Roots are outermost frames, children are what they called.
    #[default]
    TopDown,
    /// Roots are where samples ended, children are their callers.
    Inverted,
}

/// A call tree in preorder: a row's children follow it, one deeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tree<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for. The totals of rows of depth 0, with [`Self::hidden`], add up to it.
    pub whole: Cost,
    /// From which end paths were read.
    pub order: TreeOrder,
    /// What rows are about.
    pub keys: Vec<Key<'c>>,
    /// Siblings by total, the largest first, then by key.
    pub rows: Vec<TreeRow>,
    /// Roots that were left out.
    pub hidden: Hidden,
}

/// One node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TreeRow {
    /// 0 is a root.
    pub depth: u32,
    /// The index in [`Tree::keys`].
    pub key: u32,
    /// Paths that end at this node, read in the tree's order.
    #[serde(rename = "self")]
    pub own: Cost,
    /// Paths through this node.
    pub total: Cost,
    /// Children that were left out.
    pub hidden: Hidden,
}

/// Nodes that were left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Hidden {
    /// How many, without what is below them.
    pub nodes: u32,
    /// What they weigh.
    pub total: Cost,
}

/// The call tree.
pub fn tree<'c>(capture: &'c Capture, query: &Query, options: &TreeOptions) -> Result<Tree<'c>, QueryError> {
    Ok(of(&Question::new(capture, query)?, options))
}

pub(crate) fn of<'c>(question: &Question<'c>, options: &TreeOptions) -> Tree<'c> {
    match options.order {
        TreeOrder::TopDown => grow::tree(question, &top_down::TopDown(question), options),
        TreeOrder::Inverted => grow::tree(question, &inverted::Inverted(question), options),
    }
}
