//! Rows as aligned columns that fit the screen: the columns that may shrink share what the others leave.

use super::names::{cut_end, cut_start, shorten_function, shorten_path, width};
use super::screen::{Screen, Style};

/// How a column gives way when there is not room for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It does not.
    Whole,
    /// As names of functions shrink.
    Function,
    /// As paths shrink.
    Path,
    /// From its end.
    End,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    right: bool,
    fit: Fit,
}

impl Column {
    /// A column of numbers, aligned to the right.
    #[must_use]
    pub const fn number(title: &'static str) -> Self {
        Self { title, right: true, fit: Fit::Whole }
    }

    /// A column of texts, aligned to the left.
    #[must_use]
    pub const fn text(title: &'static str, fit: Fit) -> Self {
        Self { title, right: false, fit }
    }
}

/// One cell: text that is already escaped, and its style.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    indent: String,
    text: String,
    style: Style,
    fit: Option<Fit>,
}

impl Cell {
    /// A cell in plain style.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The cell in `style`.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The cell shrinking in another way than its column.
    #[must_use]
    pub fn fit(mut self, fit: Fit) -> Self {
        self.fit = Some(fit);
        self
    }

    /// The cell behind faint branches of a tree.
    #[must_use]
    pub fn indent(mut self, indent: impl Into<String>) -> Self {
        self.indent = indent.into();
        self
    }

    fn width(&self) -> usize {
        width(&self.indent) + width(&self.text)
    }
}

/// Columns and rows.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

const GAP: &str = "  ";
const MINIMUM: usize = 8;

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Appends a row; cells beyond the columns are not shown.
    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table as lines, each with its line break. Columns without any text are left out, and so is the line of
    /// titles when no column has one.
    #[must_use]
    pub fn render(&self, screen: &Screen) -> String {
        let filled = self.filled();
        let widths = filled.widths(screen.columns);
        let mut text = String::new();
        if filled.columns.iter().any(|column| !column.title.is_empty()) {
            let titles: Vec<_> =
                filled.columns.iter().map(|column| Cell::new(column.title).style(Style::Faint)).collect();
            filled.render_row(&titles, &widths, screen, &mut text);
        }
        for row in &filled.rows {
            filled.render_row(row, &widths, screen, &mut text);
        }
        text
    }

    /// The table without columns that say nothing.
    fn filled(&self) -> Self {
        let says = |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.width() > 0));
        let kept: Vec<usize> = (0..self.columns.len()).filter(|at| says(*at)).collect();
        let cells =
            |row: &Vec<Cell>| kept.iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect();
        Self {
            columns: kept.iter().map(|at| self.columns[*at]).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }

    fn render_row(&self, row: &[Cell], widths: &[usize], screen: &Screen, into: &mut String) {
        let mut pending = 0;
        for (index, ((column, cell), columns)) in self.columns.iter().zip(row).zip(widths).enumerate() {
            let gap = if index == 0 { 0 } else { GAP.len() };
            let (shown, used) = fit(cell, cell.fit.unwrap_or(column.fit), *columns, screen);
            let padding = columns.saturating_sub(used);
            let (before, after) = if column.right { (padding, 0) } else { (0, padding) };
            pending += gap + before;
            // Spaces wait until something follows them: no line ends in blanks.
            if used > 0 {
                into.push_str(&" ".repeat(pending));
                into.push_str(&shown);
                pending = 0;
            }
            pending += after;
        }
        into.push('\n');
    }

    fn widths(&self, available: usize) -> Vec<usize> {
        let mut widths = self.natural_widths();
        let gaps = GAP.len() * self.columns.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(available);
        // The widest gives way first, one column at a time, so that short ones stay whole.
        while excess > 0 {
            let shrinkable = |(index, width): &(usize, &usize)| {
                self.columns[*index].fit != Fit::Whole && **width > MINIMUM
            };
            let Some((widest, _)) =
                widths.iter().enumerate().filter(shrinkable).max_by_key(|(_, width)| **width)
            else {
                break;
            };
            let others = self.second_widest(&widths, widest);
            let step = excess.min(widths[widest] - others.max(MINIMUM).min(widths[widest] - 1));
            widths[widest] -= step;
            excess -= step;
        }
        widths
    }

    /// The width of the widest shrinkable column but `widest`: a column shrinks to it at once.
    fn second_widest(&self, widths: &[usize], widest: usize) -> usize {
        widths
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != widest && self.columns[*index].fit != Fit::Whole)
            .map(|(_, width)| *width)
            .max()
            .unwrap_or(0)
    }

    fn natural_widths(&self) -> Vec<usize> {
        let of_column = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(Cell::width);
            cells.chain([width(column.title)]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(of_column).collect()
    }
}

/// The cell in at most `columns`, painted, and the columns it takes.
fn fit(cell: &Cell, fit: Fit, columns: usize, screen: &Screen) -> (String, usize) {
    // A deep indent must leave room for what is indented.
    let indent = cut_start(&cell.indent, columns.saturating_sub(width(&cell.text).min(MINIMUM)));
    let room = columns - width(&indent);
    let text = match fit {
        Fit::Whole => cell.text.clone(),
        Fit::Function => shorten_function(&cell.text, room),
        Fit::Path => shorten_path(&cell.text, room),
        Fit::End => cut_end(&cell.text, room),
    };
    let used = width(&indent) + width(&text);
    (screen.paint(&indent, Style::Faint) + &screen.paint(&text, cell.style), used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[[&str; 3]], columns: usize, expected: &str) {
        let mut table = Table::new(&[
            Column::number("self"),
            Column::text("function", Fit::Function),
            Column::text("place", Fit::Path),
        ]);
        for row in rows {
            table.push(row.iter().map(|text| Cell::new(*text)).collect());
        }
        assert_eq!(table.render(&Screen { columns, color: false }), expected);
    }

    #[test]
    fn numbers_align_right_and_texts_left() {
        check(
            &[["9.1 %", "main", "a.rs:1"], ["12.0 %", "parse", "b.rs:22"]],
            80,
            "  self  function  place\n 9.1 %  main      a.rs:1\n12.0 %  parse     b.rs:22\n",
        );
    }

    #[test]
    fn the_widest_column_gives_way_first() {
        check(
            &[["1.0 %", "alpha::beta::gamma::delta", "src/a.rs:1"]],
            32,
            " self  function       place\n1.0 %  …::delta       src/a.rs:1\n",
        );
    }

    #[test]
    fn lines_do_not_end_in_blanks() {
        check(
            &[["1.0 %", "main", ""], ["", "f", "a.rs"]],
            80,
            " self  function  place\n1.0 %  main\n       f         a.rs\n",
        );
    }

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        check(&[["", "main", ""]], 80, "function\nmain\n");
    }

    #[test]
    fn a_screen_too_narrow_for_anything_is_survived() {
        check(
            &[["1.0 %", "abcdefghijkl", "abcdefghijkl"]],
            1,
            " self  function  place\n1.0 %  abcdefg…  …fghijkl\n",
        );
    }
}
