//! Source lines by cost, and what belongs to no line.

use microscope_analysis::Cost;
use microscope_analysis::views::{LineRow, Lines};

use super::escape::terminal;
use super::page::{Page, bar_cell, share_cell};
use super::places::place;
use super::screen::Style;
use super::table::{Cell, Column, Fit, Table};
use super::worth::not_on_a_line;

/// The table of `lines`.
#[must_use]
pub fn lines(lines: &Lines<'_>, page: &Page<'_>) -> String {
    let rows = page.shown(&lines.rows);
    let elsewhere = not_on_a_line([lines.unlined, lines.no_debug, lines.no_stack], lines.whole);
    page.headline("Lines by own cost", &lines.quantity, lines.whole)
        + &line_table(rows, lines.whole, page)
        + &page.left_out(rows.len(), lines.rows.len(), "lines")
        + &elsewhere.map_or_else(String::new, |text| format!("\n{}", page.faint_prose(&text)))
}

/// The table of single lines, without headline.
pub(crate) fn line_table(rows: &[LineRow<'_>], whole: Cost, page: &Page<'_>) -> String {
    let mut table = Table::new(&[
        Column::number("self"),
        Column::text("", Fit::Whole),
        Column::number("total"),
        Column::text("line", Fit::Path),
        Column::text("function", Fit::Function),
    ]);
    for row in rows {
        table.push(vec![
            share_cell(row.own.weight, whole.weight),
            bar_cell(row.own.weight, whole.weight),
            share_cell(row.total.weight, whole.weight),
            Cell::new(place(row.file, Some(row.line), page.directory)).style(Style::Place),
            Cell::new(terminal(row.function)),
        ]);
    }
    table.render(&page.screen)
}
