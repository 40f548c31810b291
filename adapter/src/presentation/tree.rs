//! A call tree drawn with branches. A node that is its parent's only child goes straight below it, so that
//! long chains of calls do not run off the screen.

use microscope_analysis::views::{Hidden, Tree, TreeOrder, TreeRow};

use super::numbers::{counted, percent};
use super::page::{Page, share_cell};
use super::screen::Style;
use super::table::{Cell, Column, Fit, Table};

/// The drawing of `tree`.
#[must_use]
pub fn tree(tree: &Tree<'_>, page: &Page<'_>) -> String {
    let mut table = Table::new(&[
        Column::number("total"),
        Column::number("self"),
        Column::text("function", Fit::Function),
        Column::text("module", Fit::End),
    ]);
    let rows = page.shown(&tree.rows);
    let mut branches = Branches::new(tree);
    for row in rows {
        for (indent, hidden) in branches.leave(row.depth) {
            table.push(hidden_row(tree, hidden, &indent, page));
        }
        let indent = branches.enter(row);
        table.push(node_row(tree, row, indent, page));
    }
    if rows.len() == tree.rows.len() {
        for (indent, hidden) in branches.leave_all() {
            table.push(hidden_row(tree, hidden, &indent, page));
        }
    }
    let title = match tree.order {
        TreeOrder::TopDown => "Calls from the top",
        TreeOrder::Inverted => "Callers of what ran",
    };
    page.headline(title, &tree.quantity, tree.whole)
        + &table.render(&page.screen)
        + &page.left_out(rows.len(), tree.rows.len(), "nodes")
}

fn node_row(tree: &Tree<'_>, row: &TreeRow, indent: String, page: &Page<'_>) -> Vec<Cell> {
    let Some(key) = tree.keys.get(row.key as usize) else { return Vec::new() };
    let whole = tree.whole.weight;
    // Read from the inside, paths end at their outermost frame: that is no cost of its own.
    let own = if tree.order == TreeOrder::Inverted { 0 } else { row.own.weight };
    vec![
        share_cell(row.total.weight, whole),
        share_cell(own, whole),
        page.key_cell(key).indent(shorten_indent(&indent, page.screen.columns)),
        page.owner_cell(key),
    ]
}

fn hidden_row(tree: &Tree<'_>, hidden: Hidden, indent: &str, page: &Page<'_>) -> Vec<Cell> {
    let indent = shorten_indent(indent, page.screen.columns);
    let nodes = counted(u64::from(hidden.nodes), "smaller one", "smaller ones");
    let share = percent(hidden.total.weight, tree.whole.weight);
    let text = Cell::new(format!("… {nodes}")).style(Style::Faint).indent(indent);
    vec![Cell::new(share).style(Style::Faint), Cell::default(), text]
}

/// Columns of one level of branches.
const LEVEL: usize = 3;

/// An indent that takes at most two fifths of the screen: levels beyond are a number, as in `+12 │  ├─ `.
fn shorten_indent(indent: &str, columns: usize) -> String {
    let levels = indent.chars().count() / LEVEL;
    let most = (columns * 2 / 5 / LEVEL).max(1);
    match levels.checked_sub(most) {
        None | Some(0) => indent.to_owned(),
        Some(more) => {
            let shown: String = indent.chars().skip(more * LEVEL).collect();
            format!("+{more:<LEVEL$}{shown}")
        }
    }
}

/// The branches that are open while rows are drawn in preorder.
struct Branches {
    /// Children of each row still to come, in the order of rows.
    children: std::vec::IntoIter<u32>,
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
    hidden: Hidden,
}

impl Open {
    fn new(prefix: String, children: u32, hidden: Hidden) -> Self {
        let remaining = children + u32::from(hidden.nodes > 0);
        Self { prefix, remaining, is_chain: remaining == 1 && children == 1, hidden }
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
}

impl Branches {
    fn new(tree: &Tree<'_>) -> Self {
        let (roots, children) = children(&tree.rows);
        Self { children: children.into_iter(), open: vec![Open::new(String::new(), roots, tree.hidden)] }
    }

    /// What the line of `row`, the next one, begins with.
    fn enter(&mut self, row: &TreeRow) -> String {
        let (own, below) = self.open.last_mut().map(Open::next_child).unwrap_or_default();
        self.open.push(Open::new(below, self.children.next().unwrap_or(0), row.hidden));
        own
    }

    /// Closes what is not above `depth`; the lines of hidden children that this completes.
    fn leave(&mut self, depth: u32) -> Vec<(String, Hidden)> {
        let closed = self.open.split_off(self.open.len().min(depth as usize + 1));
        closed.into_iter().rev().filter_map(hidden_child).collect()
    }

    fn leave_all(self) -> Vec<(String, Hidden)> {
        self.open.into_iter().rev().filter_map(hidden_child).collect()
    }
}

fn hidden_child(mut parent: Open) -> Option<(String, Hidden)> {
    (parent.hidden.nodes > 0).then(|| (parent.next_child().0, parent.hidden))
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
