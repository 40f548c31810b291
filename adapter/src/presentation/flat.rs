//! Costs by function, line, address or module, as a table.

use microscope_analysis::views::{Flat, FlatRow};
use microscope_analysis::{Cost, Granularity};

use super::page::{Page, bar_cell, share_cell};
use super::table::{Column, Fit, Table};

/// The table of `flat`, which was asked for by `by`.
#[must_use]
pub fn flat(flat: &Flat<'_>, by: Granularity, page: &Page<'_>) -> String {
    let rows = page.shown(&flat.rows);
    let title = format!("{} by own cost", plural(by));
    page.headline(&title, &flat.quantity, flat.whole)
        + &flat_table(rows, flat.whole, by, page)
        + &page.left_out(rows.len(), flat.rows.len(), "rows")
}

/// The table of single rows, without headline.
pub(crate) fn flat_table(rows: &[FlatRow<'_>], whole: Cost, by: Granularity, page: &Page<'_>) -> String {
    let mut table = Table::new(&columns(by));
    for row in rows {
        table.push(vec![
            share_cell(row.own.weight, whole.weight),
            bar_cell(row.own.weight, whole.weight),
            share_cell(row.total.weight, whole.weight),
            page.key_cell(&row.key),
            page.owner_cell(&row.key),
        ]);
    }
    table.render(&page.screen)
}

fn columns(by: Granularity) -> [Column; 5] {
    let (name, owner) = match by {
        Granularity::Function => (Column::text("function", Fit::Function), Column::text("module", Fit::End)),
        Granularity::Line => (Column::text("line", Fit::Path), Column::text("function", Fit::Function)),
        Granularity::Address => (Column::text("function", Fit::Function), Column::text("address", Fit::Path)),
        Granularity::Module => (Column::text("module", Fit::Path), Column::text("", Fit::End)),
    };
    [Column::number("self"), Column::text("", Fit::Whole), Column::number("total"), name, owner]
}

fn plural(by: Granularity) -> &'static str {
    match by {
        Granularity::Function => "Functions",
        Granularity::Line => "Lines",
        Granularity::Address => "Addresses",
        Granularity::Module => "Modules",
    }
}
