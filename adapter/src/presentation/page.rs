//! What views share: where they are shown, their headline, and how costs and keys become cells.

use std::fmt::Write;

use microscope_analysis::{Cost, Key, KeyKind, Quantity};

use super::blocks::bar;
use super::escape::terminal;
use super::names::{cut_start, width};
use super::numbers::{bytes, count, counted, duration_ns, percent};
use super::places::{self, place};
use super::prose::wrap;
use super::screen::{Screen, Style};
use super::table::{Cell, Fit};

/// Where a view is shown.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Its width and colors.
    pub screen: Screen,
    /// The directory that paths are shown relative to; may be empty.
    pub directory: &'a str,
    /// Rows at most; 0 is all.
    pub limit: usize,
}

/// Columns of a bar.
pub(crate) const BAR: usize = 8;

impl Page<'_> {
    /// A view's first line and the blank one below it.
    pub(crate) fn headline(&self, title: &str, quantity: &Quantity<'_>, whole: Cost) -> String {
        let mut rest = format!(" · {}", whole_of(quantity, whole.weight));
        if quantity.source != "imported" {
            rest += &format!(" · {}", counted(whole.samples, "sample", "samples"));
        }
        let title = &cut_start(title, self.screen.columns.saturating_sub(width(&rest)));
        format!("{}{}\n\n", self.screen.paint(title, Style::Title), self.screen.paint(&rest, Style::Faint))
    }

    /// The rows that the limit lets through.
    pub(crate) fn shown<'r, T>(&self, rows: &'r [T]) -> &'r [T] {
        if self.limit == 0 { rows } else { &rows[..rows.len().min(self.limit)] }
    }

    /// The line below rows of which some are not shown; nothing when all are.
    pub(crate) fn left_out(&self, shown: usize, all: usize, what: &str) -> String {
        let mut text = String::new();
        if let Some(more) = all.checked_sub(shown).filter(|more| *more > 0) {
            let line = format!("… {} more {what}; --limit 0 shows all", count(more as u64));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", self.screen.paint(&line, Style::Faint));
        }
        text
    }

    /// A remark below rows, wrapped.
    pub(crate) fn faint_prose(&self, text: &str) -> String {
        let wrapped = wrap(text, self.screen.columns);
        wrapped.lines().map(|line| self.screen.paint(line, Style::Faint) + "\n").collect()
    }

    /// What a key stands for.
    pub(crate) fn key_cell(&self, key: &Key<'_>) -> Cell {
        let folded = if key.folded { " (folded)" } else { "" };
        match (key.kind, key.function, key.file) {
            (KeyKind::Line, _, Some(file)) => {
                Cell::new(place(file, key.line, self.directory)).style(Style::Place)
            }
            (KeyKind::Address, Some(function), _) => Cell::new(format!("{}{folded}", terminal(function))),
            (KeyKind::Module, ..) => Cell::new(places::path(&key.name, self.directory)),
            (KeyKind::Unlined, ..) => Cell::new(format!("(no line) {}", terminal(&key.name))).fit(Fit::End),
            (KeyKind::NoDebug, ..) => {
                Cell::new(format!("(no debug info) {}", without_debug(key))).fit(Fit::End)
            }
            (KeyKind::Function | KeyKind::Named | KeyKind::Address | KeyKind::Line, ..) => {
                Cell::new(format!("{}{folded}", terminal(&key.name)))
            }
            (KeyKind::KernelHidden | KeyKind::NoStack, ..) => {
                Cell::new(terminal(&key.name)).style(Style::Faint)
            }
        }
    }

    /// Where a key belongs: the function of a line, the module of anything else.
    pub(crate) fn owner_cell(&self, key: &Key<'_>) -> Cell {
        match (key.kind, key.function, key.module, key.address) {
            (KeyKind::Line, Some(function), ..) => Cell::new(terminal(function)),
            (KeyKind::Module, ..) => Cell::default(),
            (KeyKind::Address, Some(_), Some(module), Some(address)) => {
                Cell::new(format!("{}+{address:#x}", places::module(module)))
            }
            (_, _, Some(module), _) => Cell::new(places::module(module)),
            _ => Cell::default(),
        }
        .style(Style::Faint)
    }
}

fn without_debug(key: &Key<'_>) -> String {
    match key.function {
        Some(function) => terminal(function).into_owned(),
        None => places::module(&key.name).into_owned(),
    }
}

/// A share in the color of its size.
pub(crate) fn share_cell(part: u64, whole: u64) -> Cell {
    let text = if part == 0 { String::new() } else { percent(part, whole) };
    Cell::new(text).style(Style::of_share(part, whole))
}

/// A share as a bar.
pub(crate) fn bar_cell(part: u64, whole: u64) -> Cell {
    Cell::new(bar(part, whole, BAR)).style(Style::of_share(part, whole))
}

/// An amount of a quantity: `1.98 s`, `1,234`, `4.2 MiB`.
#[must_use]
pub fn amount(unit: &str, weight: u64) -> String {
    match unit {
        "ns" => duration_ns(weight),
        "bytes" => bytes(weight),
        _ => count(weight),
    }
}

/// An amount and what it is of: `1.98 s of CPU time`, `1.98 s of user CPU time only`, `12 cache-misses`.
#[must_use]
pub fn whole_of(quantity: &Quantity<'_>, weight: u64) -> String {
    let amount = amount(quantity.unit, weight);
    match (quantity.user_only, quantity.source) {
        (true, _) => format!("{amount} of user CPU time only"),
        (false, "cpu-samples") if quantity.unit == "ns" => format!("{amount} of CPU time"),
        _ if quantity.unit == "count" => format!("{amount} {}", terminal(quantity.name)),
        _ => format!("{amount} of {}", terminal(quantity.name)),
    }
}
