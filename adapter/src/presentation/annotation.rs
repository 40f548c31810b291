//! A source text with the cost of each line beside it, and the labels of overlays.

use std::collections::BTreeSet;

use microscope_analysis::overlay::{Measure, Overlay, Proof};
use microscope_analysis::{Cost, Quantity};

use super::escape::terminal;
use super::numbers::{counted, percent};
use super::page::{Page, share_cell};
use super::places::path;
use super::prose::wrap;
use super::screen::Style;
use super::table::{Cell, Column, Fit, Table};
use crate::service::annotation::Annotation;
use crate::service::sources::{Origin, SourceText};

/// Lines shown before and after one that has a cost.
const CONTEXT: usize = 3;

/// The annotated text; without a text, the lines that have a cost.
#[must_use]
pub fn annotation(annotation: &Annotation, page: &Page<'_>) -> String {
    let Some(measure) = annotation.overlay.measures.first() else { return String::new() };
    let title = path(&annotation.source.path, page.directory);
    let whole = Cost { weight: measure.whole, samples: measure.samples };
    page.headline(&title, &quantity(measure), whole)
        + &provenance(annotation, page)
        + &table(annotation, measure).render(&page.screen)
}

fn quantity(measure: &Measure) -> Quantity<'_> {
    Quantity {
        name: &measure.id,
        source: measure.source,
        unit: measure.unit,
        period: None,
        user_only: measure.source == "user-cpu-samples",
    }
}

fn provenance(annotation: &Annotation, page: &Page<'_>) -> String {
    let (words, style) = match &annotation.text {
        None => (
            "No text of this file was found, neither in the capture nor on this machine.".to_owned(),
            Style::Problem,
        ),
        Some(text) => (proof(text, page), proof_style(text.proof)),
    };
    let lines = wrap(&words, page.screen.columns);
    lines.lines().map(|line| page.screen.paint(line, style) + "\n").collect::<String>() + "\n"
}

fn proof(text: &SourceText, page: &Page<'_>) -> String {
    let origin = match &text.origin {
        // The same build made the text and the code.
        Origin::Program => return "The text is the one that was compiled, built into microscope.".to_owned(),
        Origin::Capture => "The text kept in the capture".to_owned(),
        Origin::Disk(found) => format!("The text of {}", path(&found.to_string_lossy(), page.directory)),
    };
    let proof = match text.proof {
        Proof::DwarfMd5 => "is the one that was compiled: its MD5 is the one in the debug information.",
        Proof::OlderThanBinary => "was last changed before the program was built.",
        Proof::NewerThanBinary => "is not the one that was compiled: numbers may stand on wrong lines.",
        Proof::Unknown => {
            "is not proved to be the one that was compiled: the debug information carries no MD5."
        }
    };
    format!("{origin} {proof}")
}

fn proof_style(proof: Proof) -> Style {
    if proof == Proof::NewerThanBinary { Style::Problem } else { Style::Faint }
}

fn table(annotation: &Annotation, measure: &Measure) -> Table {
    let mut table = Table::new(&[
        Column::number("mine"),
        Column::number("self"),
        Column::number("total"),
        Column::number("line"),
        Column::text("source", Fit::End),
    ]);
    let texts: Vec<&str> = annotation.text.as_ref().map_or_else(Vec::new, |text| text.text.lines().collect());
    let mut last = 0;
    for line in shown_lines(&annotation.overlay.lines.line, texts.len()) {
        if line > last + 1 && !texts.is_empty() {
            table.push(gap(line - last - 1));
        }
        table.push(row(annotation, measure, line, texts.get(line - 1).copied().unwrap_or("")));
        last = line;
    }
    if let Some(rest) = texts.len().checked_sub(last).filter(|rest| *rest > 0) {
        table.push(gap(rest));
    }
    table
}

/// Lines with a cost and their surroundings, ascending. Gaps of one line are filled: a mark takes as much room.
fn shown_lines(costly: &[u32], lines: usize) -> BTreeSet<usize> {
    let mut shown = BTreeSet::new();
    for line in costly.iter().map(|line| *line as usize) {
        shown.insert(line);
        shown.extend(
            (line.saturating_sub(CONTEXT)..=line + CONTEXT).filter(|near| (1..=lines).contains(near)),
        );
    }
    let ends = [0, lines + 1];
    let lonely = |line: &usize| {
        let borders = |neighbor: usize| shown.contains(&neighbor) || ends.contains(&neighbor);
        borders(line - 1) && borders(line + 1)
    };
    let filled: Vec<usize> = (1..=lines).filter(lonely).collect();
    shown.extend(filled);
    shown
}

fn gap(lines: usize) -> Vec<Cell> {
    let words = format!("⋮ {}", counted(lines as u64, "line", "lines"));
    vec![
        Cell::default(),
        Cell::default(),
        Cell::default(),
        Cell::default(),
        Cell::new(words).style(Style::Faint),
    ]
}

fn row(annotation: &Annotation, measure: &Measure, line: usize, text: &str) -> Vec<Cell> {
    let columns = &annotation.overlay.lines;
    // Lines of an overlay ascend.
    let at = columns.line.binary_search_by_key(&line, |costly| *costly as usize).ok();
    let weight = |column: &[u64]| at.and_then(|at| column.get(at)).copied().unwrap_or(0);
    let source = terminal(&text.replace('\t', "    ")).trim_end().to_owned();
    let style =
        if at.is_some() { Style::of_share(weight(&columns.mine), measure.whole) } else { Style::Faint };
    vec![
        share_cell(weight(&columns.mine), measure.whole),
        share_cell(weight(&columns.own), measure.whole),
        share_cell(weight(&columns.total), measure.whole),
        Cell::new(line.to_string()).style(Style::Faint),
        Cell::new(source).style(style),
    ]
}

/// Fills the label columns of an overlay, so that every editor shows the same text.
pub fn fill_labels(overlay: &mut Overlay) {
    let Some(whole) = overlay.measures.first().map(|measure| measure.whole) else { return };
    overlay.lines.label = overlay.lines.mine.iter().map(|mine| percent(*mine, whole)).collect();
    let functions = overlay.functions.total.iter().zip(&overlay.functions.own);
    overlay.functions.label = functions
        .map(|(total, own)| format!("{} · self {}", percent(*total, whole), percent(*own, whole)))
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(costly: &[u32], lines: usize, expected: &[usize]) {
        assert_eq!(shown_lines(costly, lines).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn costs_are_shown_with_their_surroundings() {
        check(&[6], 100, &[3, 4, 5, 6, 7, 8, 9]);
        check(&[1, 2], 3, &[1, 2, 3]);
    }

    #[test]
    fn a_gap_of_one_line_is_filled() {
        check(&[5, 13], 17, &(1..=17).collect::<Vec<_>>());
    }

    #[test]
    fn lines_beyond_the_text_are_shown_alone() {
        check(&[90], 10, &[90]);
    }
}
