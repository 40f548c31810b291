//! The layout of a tree: which line stands for what, and the branches it begins with.
//!
//! A node that is its parent's only child goes straight below it, so that long chains of calls do not run off
//! the screen; of a very long chain only the ends are shown.

use microscope_analysis::views::{Hidden, Tree, TreeOrder, TreeRow};

/// A line of the drawing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The branches before it.
    pub(super) indent: String,
    /// What stands there.
    pub(super) item: Item,
}

/// What a line stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The row of this index.
    Node(usize),
    /// This many nodes of a chain.
    Skipped(usize),
    /// Children below the least share.
    Hidden(Hidden),
}

/// Nodes shown where a chain begins, and where it ends.
type Ends = (usize, usize);

/// Fewer nodes are not worth a line that stands for them.
const SKIPPED_MIN: usize = 3;

/// Hidden children below this share of the whole are not worth a line: one in so many.
const NOTABLE: u64 = 200;

/// The lines of `tree`; of long chains all only when `is_whole`.
pub(super) fn lines(tree: &Tree<'_>, is_whole: bool) -> Vec<Line> {
    let mut branches = Branches::new(tree);
    let skipped = if is_whole { vec![0; tree.rows.len()] } else { branches.skipped(tree) };
    let mut lines = Vec::new();
    for (index, row) in tree.rows.iter().enumerate() {
        lines.extend(branches.leave(row.depth));
        let indent = branches.enter(index, row);
        match skipped[index] {
            0 => lines.push(Line { indent, item: Item::Node(index) }),
            count if index == 0 || skipped[index - 1] == 0 => {
                lines.push(Line { indent, item: Item::Skipped(count) });
            }
            _ => {}
        }
    }
    lines.extend(branches.leave_all());
    lines
}

/// The branches that are open while rows are drawn in preorder.
struct Branches {
    /// By row: how many children are rows.
    children: Vec<u32>,
    /// Hidden children weigh at least this to be shown.
    notable: u64,
    /// From the imaginary root above all roots to the row drawn last.
    open: Vec<Open>,
}

/// A row whose children are being drawn.
struct Open {
    /// What its children's lines begin with.
    prefix: String,
    /// Children still to come, the line of hidden ones included.
    remaining: u32,
    /// Whether its single child goes straight below it.
    is_chain: bool,
    hidden: Option<Hidden>,
}

impl Open {
    fn new(prefix: String, children: u32, hidden: Option<Hidden>) -> Self {
        let remaining = children + u32::from(hidden.is_some());
        Self { prefix, remaining, is_chain: remaining == 1 && hidden.is_none(), hidden }
    }

    /// What the next child's own line begins with, and what the lines below it do.
    fn next_child(&mut self) -> (String, String) {
        self.remaining = self.remaining.saturating_sub(1);
        let (own, below) = match (self.is_chain, self.remaining) {
            (true, _) => ("", ""),
            (false, 0) => ("└─ ", "   "),
            (false, _) => ("├─ ", "│  "),
        };
        (self.prefix.clone() + own, self.prefix.clone() + below)
    }

    fn hidden_child(mut self) -> Option<Line> {
        let hidden = self.hidden?;
        Some(Line { indent: self.next_child().0, item: Item::Hidden(hidden) })
    }
}

impl Branches {
    fn new(tree: &Tree<'_>) -> Self {
        let (roots, children) = children(&tree.rows);
        let mut branches = Self { children, notable: tree.whole.weight / NOTABLE, open: Vec::new() };
        let hidden = branches.shown(tree.hidden);
        branches.open.push(Open::new(String::new(), roots, hidden));
        branches
    }

    fn shown(&self, hidden: Hidden) -> Option<Hidden> {
        (hidden.nodes > 0 && hidden.total.weight >= self.notable).then_some(hidden)
    }

    /// What the line of the next row begins with.
    fn enter(&mut self, index: usize, row: &TreeRow) -> String {
        let hidden = self.shown(row.hidden);
        let (own, below) = self.open.last_mut().map(Open::next_child).unwrap_or_default();
        self.open.push(Open::new(below, self.children[index], hidden));
        own
    }

    /// Closes what is not above `depth`; the lines of hidden children that this completes.
    fn leave(&mut self, depth: u32) -> Vec<Line> {
        let closed = self.open.split_off(self.open.len().min(depth as usize + 1));
        closed.into_iter().rev().filter_map(Open::hidden_child).collect()
    }

    fn leave_all(self) -> Vec<Line> {
        self.open.into_iter().rev().filter_map(Open::hidden_child).collect()
    }

    /// By row: of how many nodes of a chain that are not shown it is one; 0 for rows that are shown.
    fn skipped(&self, tree: &Tree<'_>) -> Vec<usize> {
        // What matters is near the code that ran: last in calls from the top, first among callers.
        let (first, last): Ends = if tree.order == TreeOrder::TopDown { (1, 4) } else { (4, 1) };
        let mut skipped = vec![0; tree.rows.len()];
        let mut begin = 0;
        for index in 1..=tree.rows.len() {
            if self.continues_chain(tree, index) {
                continue;
            }
            let inner = begin + first..index.saturating_sub(last);
            if inner.len() >= SKIPPED_MIN {
                skipped[inner.clone()].fill(inner.len());
            }
            begin = index;
        }
        skipped
    }

    /// Whether row `index` says nothing that the one before does not: its only child, without cost between them.
    fn continues_chain(&self, tree: &Tree<'_>, index: usize) -> bool {
        let (Some(parent), Some(row)) = (tree.rows.get(index - 1), tree.rows.get(index)) else {
            return false;
        };
        let is_only = row.depth == parent.depth + 1 && self.children[index - 1] == 1;
        let between = parent.total.weight.saturating_sub(row.total.weight);
        is_only && self.shown(parent.hidden).is_none() && between <= self.notable
    }
}

/// How many roots there are, and how many children each row has.
fn children(rows: &[TreeRow]) -> (u32, Vec<u32>) {
    let mut roots = 0;
    let mut children = vec![0; rows.len()];
    let mut above: Vec<usize> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        above.truncate(row.depth as usize);
        match above.last() {
            Some(parent) => children[*parent] += 1,
            None => roots += 1,
        }
        above.push(index);
    }
    (roots, children)
}
