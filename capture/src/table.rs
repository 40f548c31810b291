//! One declaration per table: the row, its columns in memory, and their order in the file.
//!
//! Tables are held by column (`samples.stack[i]`), since questions read few columns of many rows.

use std::hash::Hash;

use crate::cells::Cells;
use crate::{Column, TableKind};

/// What is known of a column without looking at its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The column's name.
    pub name: &'static str,
    /// The table whose row numbers its cells are, if they are ids.
    pub refers_to: Option<TableKind>,
    /// Whether a cell may be absent: then 0 in the file is absent, and `v + 1` is value `v`.
    pub optional: bool,
}

impl ColumnInfo {
    /// A column of `T` called `name`.
    pub(crate) const fn of<T: Column>(name: &'static str) -> Self {
        Self { name, refers_to: T::REFERS_TO, optional: T::OPTIONAL }
    }
}

/// What the file, the validator and the renumbering need to know of any table.
pub trait Table: Default + Clone {
    /// One row.
    type Row: Copy + Ord + Hash;
    /// Which table it is.
    const KIND: TableKind;
    /// The table's name in messages.
    const NAME: &'static str;
    /// The columns in file order.
    const COLUMNS: &'static [ColumnInfo];
    /// Rows held: as many as the shortest column has cells.
    fn len(&self) -> usize;
    /// Whether no row is held.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Every column, in the order of [`Self::COLUMNS`].
    fn columns(&self) -> Vec<&dyn Cells>;
    /// Every column, in the order of [`Self::COLUMNS`], to change.
    fn columns_mut(&mut self) -> Vec<&mut dyn Cells>;
    /// Row `index`. Panics when there is no such row.
    fn row_at(&self, index: usize) -> Self::Row;
    /// Replaces row `index`, if there is one.
    fn set_row(&mut self, index: usize, row: Self::Row);
    /// Appends a row.
    fn push_row(&mut self, row: Self::Row);
    /// Appends every row of `other`, ids unchanged.
    fn append(&mut self, other: &Self);
    /// The rows whose numbers are given, in that order.
    #[must_use]
    fn gather(&self, rows: &[u32]) -> Self;
    /// The rows from number `from` on.
    #[must_use]
    fn tail(&self, from: usize) -> Self;
}

/// Declares a table: the row type, the column type, the id type.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub table $table:ident($text:literal) of $(#[$rmeta:meta])* $row:ident by $id:ident {
            $($(#[$cmeta:meta])* $column:ident: $type:ty,)*
        }
    ) => {
        $(#[$rmeta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $row { $($(#[$cmeta])* pub $column: $type,)* }

        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $table { $($(#[$cmeta])* pub $column: Vec<$type>,)* }

        impl $table {
            /// Appends a row and returns its id.
            pub fn push(&mut self, row: $row) -> $id {
                let id = $id::new(u32::try_from($crate::table::Table::len(self)).unwrap_or(u32::MAX));
                $(self.$column.push(row.$column);)*
                id
            }
            /// Row `id`. Panics when there is no such row: ids of a validated capture always have one.
            #[must_use]
            pub fn row(&self, id: $id) -> $row {
                $row { $($column: self.$column[id.index()],)* }
            }
            /// Row `id`, if there is one.
            #[must_use]
            pub fn get(&self, id: $id) -> Option<$row> {
                let index = id.index();
                Some($row { $($column: *self.$column.get(index)?,)* })
            }
            /// Every id, in order.
            pub fn ids(&self) -> impl DoubleEndedIterator<Item = $id> + ExactSizeIterator + use<> {
                (0..u32::try_from($crate::table::Table::len(self)).unwrap_or(u32::MAX)).map($id::new)
            }
            /// Every row with its id, in order.
            pub fn iter(&self) -> impl DoubleEndedIterator<Item = ($id, $row)> + '_ {
                self.ids().map(|id| (id, self.row(id)))
            }
            /// Rows held.
            #[must_use]
            pub fn len(&self) -> usize {
                $crate::table::Table::len(self)
            }
            /// Whether no row is held.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl FromIterator<$row> for $table {
            fn from_iter<I: IntoIterator<Item = $row>>(rows: I) -> Self {
                let mut table = Self::default();
                for row in rows { table.push(row); }
                table
            }
        }

        impl $crate::table::Table for $table {
            type Row = $row;
            const KIND: $crate::TableKind = $crate::TableKind::$table;
            const NAME: &'static str = $text;
            const COLUMNS: &'static [$crate::table::ColumnInfo] =
                &[$($crate::table::ColumnInfo::of::<$type>(stringify!($column))),*];
            fn len(&self) -> usize {
                [$(self.$column.len()),*].into_iter().min().unwrap_or(0)
            }
            fn columns(&self) -> Vec<&dyn $crate::cells::Cells> {
                vec![$(&self.$column),*]
            }
            fn columns_mut(&mut self) -> Vec<&mut dyn $crate::cells::Cells> {
                vec![$(&mut self.$column),*]
            }
            fn row_at(&self, index: usize) -> $row {
                $row { $($column: self.$column[index],)* }
            }
            fn set_row(&mut self, index: usize, row: $row) {
                $(if let Some(cell) = self.$column.get_mut(index) { *cell = row.$column; })*
            }
            fn push_row(&mut self, row: $row) {
                self.push(row);
            }
            fn append(&mut self, other: &Self) {
                $(self.$column.extend_from_slice(&other.$column);)*
            }
            fn gather(&self, rows: &[u32]) -> Self {
                Self { $($column: rows.iter().map(|row| self.$column[*row as usize]).collect(),)* }
            }
            fn tail(&self, from: usize) -> Self {
                Self { $($column: self.$column.get(from..).unwrap_or_default().to_vec(),)* }
            }
        }
    };
}
pub(crate) use table;
