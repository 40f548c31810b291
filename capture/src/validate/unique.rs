//! Dictionaries hold each row once.
//!
//! A canonical capture's dictionaries ascend, which proves it by comparing neighbors. Others are hashed.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::{Invalid, Rule};
use crate::table::Table;
use crate::{StringId, TableKind, Tables};

/// Strings are unique, and the first one is empty.
pub(super) fn strings(tables: &Tables) -> Result<(), Invalid> {
    let strings = &tables.strings;
    if !strings.get(StringId::new(0)).is_empty() {
        return Err(Invalid::cell(TableKind::Strings, 0, "text", Rule::FirstNotEmpty));
    }
    all_unique(TableKind::Strings, || strings.iter())
}

/// Files, modules, functions, frames, stacks and measures are unique.
pub(super) fn dictionaries(tables: &Tables) -> Result<(), Invalid> {
    rows(&tables.files)?;
    rows(&tables.modules)?;
    rows(&tables.functions)?;
    rows(&tables.frames)?;
    rows(&tables.stacks)?;
    rows(&tables.measures)
}

fn rows<T: Table>(table: &T) -> Result<(), Invalid> {
    all_unique(T::KIND, || (0..table.len()).map(|row| table.row_at(row)))
}

fn all_unique<V: Ord + Hash, I: Iterator<Item = V>>(
    kind: TableKind,
    values: impl Fn() -> I,
) -> Result<(), Invalid> {
    if values().is_sorted_by(|before, after| before < after) {
        return Ok(());
    }
    let mut seen = FxHashMap::default();
    for (row, value) in values().enumerate() {
        if let Some(other) = seen.insert(value, row) {
            return Err(Invalid::row(kind, row, Rule::Duplicate { other }));
        }
    }
    Ok(())
}
