//! A call tree as a table whose names hang on branches.

use microscope_analysis::views::{Hidden, Tree, TreeOrder};

use super::branches::{Item, lines};
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
    let lines = lines(tree, page.limit == 0);
    let shown = page.shown(&lines);
    let mut is_shortened = false;
    for line in shown {
        let indent = shorten_indent(&line.indent, page.screen.columns);
        is_shortened |= indent.starts_with('+');
        table.push(match line.item {
            Item::Node(index) => node_row(tree, index, indent, page),
            Item::Hidden(hidden) => hidden_row(tree, hidden, indent),
            Item::Skipped(count) => skipped_row(tree.order, count, indent),
        });
    }
    let title = match tree.order {
        TreeOrder::TopDown => "Calls from the top",
        TreeOrder::Inverted => "Callers of what ran",
    };
    page.headline(title, &tree.quantity, tree.whole)
        + &table.render(&page.screen)
        + &page.left_out(shown.len(), lines.len(), "lines")
        + &if is_shortened { page.faint_prose(SHORTENED) } else { String::new() }
}

/// What the numbers before branches mean.
const SHORTENED: &str = "+N: as many more branches, left of those that are drawn.";

fn node_row(tree: &Tree<'_>, index: usize, indent: String, page: &Page<'_>) -> Vec<Cell> {
    let Some(row) = tree.rows.get(index) else { return Vec::new() };
    let Some(key) = tree.keys.get(row.key as usize) else { return Vec::new() };
    let whole = tree.whole.weight;
    // Read from the inside, paths end at their outermost frame: that is no cost of its own.
    let own = if tree.order == TreeOrder::Inverted { 0 } else { row.own.weight };
    vec![
        share_cell(row.total.weight, whole),
        share_cell(own, whole),
        page.key_cell(key).indent(indent),
        page.owner_cell(key),
    ]
}

fn hidden_row(tree: &Tree<'_>, hidden: Hidden, indent: String) -> Vec<Cell> {
    let nodes = counted(u64::from(hidden.nodes), "smaller one", "smaller ones");
    let share = percent(hidden.total.weight, tree.whole.weight);
    let text = Cell::new(format!("… {nodes}")).style(Style::Faint).indent(indent);
    vec![Cell::new(share).style(Style::Faint), Cell::default(), text]
}

fn skipped_row(order: TreeOrder, count: usize, indent: String) -> Vec<Cell> {
    let what = if order == TreeOrder::TopDown { "calls" } else { "callers" };
    let text = Cell::new(format!("⋮ {count} {what}")).style(Style::Faint).indent(indent);
    vec![Cell::default(), Cell::default(), text]
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
