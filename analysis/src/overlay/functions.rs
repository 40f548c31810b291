//! Costs of the functions that have code in the overlaid file.

use std::collections::BTreeMap;

use microscope_capture::{FileId, Tables};

use super::Functions;
use crate::ask::Question;
use crate::facts::FactIndex;
use crate::keys::KeyId;
use crate::views::KeyCosts;

/// The lines of a function that were seen in the file.
type Extent = (u32, u32);

pub(super) fn functions(question: &Question<'_>, files: &[FileId]) -> Functions {
    let tables = question.tables;
    let costs = KeyCosts::new(question);
    let mut rows: Vec<_> = extents(question, files)
        .into_iter()
        .filter(|(key, _)| !costs.of_key[*key as usize].total.is_zero())
        .map(|(key, (first, last))| {
            let key_row = question.keys.key(tables, key);
            let declared = key_row.line.filter(|line| *line <= first);
            (declared.unwrap_or(first), key_row.name.into_owned(), last, key)
        })
        .collect();
    rows.sort();
    let mut columns =
        Functions { measure: super::measure_id(tables, question.measure), ..Functions::default() };
    for (line, name, end_line, key) in rows {
        columns.name.push(name);
        columns.line.push(line);
        columns.end_line.push(end_line);
        columns.own.push(costs.of_key[key as usize].own.weight);
        columns.total.push(costs.of_key[key as usize].total.weight);
        columns.label.push(String::new());
    }
    columns
}

/// By function key: its first and last line seen in the file.
fn extents(question: &Question<'_>, files: &[FileId]) -> BTreeMap<KeyId, Extent> {
    let Question { tables, keys, .. } = question;
    let facts = FactIndex::new(tables);
    let mut extents = BTreeMap::new();
    for frame in tables.frames.ids() {
        for (row, key) in facts.rows(frame).iter().zip(keys.of(frame)) {
            if let Some(line) = line_here(tables, files, *row as usize) {
                let extent: &mut Extent = extents.entry(*key).or_insert((line, line));
                *extent = (extent.0.min(line), extent.1.max(line));
            }
        }
    }
    extents
}

fn line_here(tables: &Tables, files: &[FileId], row: usize) -> Option<u32> {
    let (file, line) = (tables.facts.file[row]?, tables.facts.line[row]);
    (line != 0 && files.contains(&file)).then_some(line)
}
