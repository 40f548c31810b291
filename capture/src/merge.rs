//! Puts the tables of several epochs together: each epoch numbered its rows anew.
//!
//! Rows are appended with their ids shifted. Then what was told in more than one epoch becomes one row
//! again: equal code, and modules, processes, threads, mappings, tasks and settings of one identity, whose
//! later row is the truer one. Equal stacks meet when the rows are canonicalized.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::model::for_each_table;
use crate::table::Table;
use crate::{Process, Strings, TableKind, Tables};

impl Tables {
    /// The rows of all `epochs`, in their order. To be canonicalized before they are a capture.
    #[must_use]
    pub fn merge(epochs: Vec<Tables>) -> Self {
        let mut merged = Self::default();
        for epoch in epochs {
            merged.absorb(epoch);
        }
        merged.unify_strings();
        merged.unify_code();
        merged.unify_identities();
        merged
    }

    /// Appends all rows of `other`, its ids shifted behind the rows that are here.
    fn absorb(&mut self, mut other: Self) {
        other.shift_behind(self);
        for text in other.strings.iter().skip(1) {
            self.strings.push(text);
        }
        macro_rules! append_each {
            ($($field:ident: $type:ty,)*) => {$( Table::append(&mut self.$field, &other.$field); )*};
        }
        for_each_table!(append_each);
    }

    fn shift_behind(&mut self, before: &Self) {
        let shifted = |kind, rows: usize| {
            let first = before.rows(kind);
            (first..first + rows).map(|row| u32::try_from(row).unwrap_or(u32::MAX)).collect::<Vec<_>>()
        };
        let mut strings = vec![0];
        strings.extend(shifted(TableKind::Strings, self.strings.len() - 1));
        self.renumber(TableKind::Strings, &strings);
        macro_rules! shift_each {
            ($($field:ident: $type:ty,)*) => {$(
                let numbers = shifted(<$type>::KIND, Table::len(&self.$field));
                self.renumber(<$type>::KIND, &numbers);
            )*};
        }
        for_each_table!(shift_each);
    }

    fn unify_strings(&mut self) {
        let mut numbers = Vec::with_capacity(self.strings.len());
        let (mut strings, mut known) = (Strings::default(), FxHashMap::default());
        known.insert("", 0);
        for text in self.strings.iter() {
            numbers.push(*known.entry(text).or_insert_with(|| strings.push(text).get()));
        }
        self.strings = strings;
        self.renumber(TableKind::Strings, &numbers);
    }

    /// What code is: equal rows become one before facts are attached to them.
    fn unify_code(&mut self) {
        unify(self, |tables| &mut tables.files, |row| row, first);
        unify(self, |tables| &mut tables.modules, |row| (row.kind, row.path, row.identity), later);
        unify(self, |tables| &mut tables.functions, |row| row, first);
        unify(self, |tables| &mut tables.frames, |row| row, first);
        unify(self, |tables| &mut tables.facts, |row| (row.frame, row.depth), first);
        unify(self, |tables| &mut tables.failures, |row| row, first);
        unify(self, |tables| &mut tables.source_texts, |row| row.file, later);
    }

    /// Who ran: rows of one identity become one, as it was told last.
    fn unify_identities(&mut self) {
        unify(self, |tables| &mut tables.processes, |row| (row.pid, row.start_ns), later_process);
        unify(self, |tables| &mut tables.threads, |row| (row.process, row.tid, row.start_ns), later);
        let mapping = |row: crate::Mapping| (row.process, row.module, row.start_address, row.valid_from_ns);
        unify(self, |tables| &mut tables.mappings, mapping, later);
        unify(self, |tables| &mut tables.tasks, |row| (row.number, row.name, row.first_seen_ns), later);
        unify(self, |tables| &mut tables.settings, |row| (row.process, row.name), later);
    }
}

fn first<Row>(_: usize, row: Row, _: Row) -> Row {
    row
}

fn later<Row>(_: usize, _: Row, row: Row) -> Row {
    row
}

/// A later row of a process must not name a parent that only a later epoch told: it keeps the earlier one.
fn later_process(number: usize, earlier: Process, later: Process) -> Process {
    let told_before = |id: &crate::ProcessId| id.index() < number;
    Process {
        parent: later.parent.filter(told_before).or(earlier.parent),
        exec_of: later.exec_of.filter(told_before).or(earlier.exec_of),
        ..later
    }
}

/// Makes rows with equal keys one: the first keeps its place, `merge(place, first, later)` its cells.
fn unify<T: Table, K: Eq + Hash>(
    tables: &mut Tables,
    table: fn(&mut Tables) -> &mut T,
    key: impl Fn(T::Row) -> K,
    merge: impl Fn(usize, T::Row, T::Row) -> T::Row,
) {
    let rows = table(tables);
    let (mut unified, mut numbers, mut known) = (T::default(), Vec::new(), FxHashMap::default());
    for row in (0..rows.len()).map(|number| rows.row_at(number)) {
        let number = *known.entry(key(row)).or_insert(unified.len());
        if number == unified.len() {
            unified.push_row(row);
        } else {
            unified.set_row(number, merge(number, unified.row_at(number), row));
        }
        numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
    }
    *rows = unified;
    tables.renumber(T::KIND, &numbers);
}
