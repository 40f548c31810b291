//! One declaration per table: the row, its columns in memory, and their order in the file.
//!
//! Tables are held by column (`samples.stack[i]`), since questions read few columns of many rows.

use crate::column::BadValue;

/// What the file and the validator need to know of any table.
pub trait Table: Default {
    /// The table's name in the file's directory and in messages.
    const NAME: &'static str;
    /// The columns' names in file order.
    const COLUMNS: &'static [&'static str];
    /// Rows held.
    fn len(&self) -> usize;
    /// Whether no row is held.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The cells of column `index` (of [`Self::COLUMNS`]) as the file keeps them.
    fn column_bits(&self, index: usize) -> Vec<u64>;
    /// Replaces column `index` by `cells`. A table is whole only when all columns were set to one length.
    fn set_column_bits(&mut self, index: usize, cells: &[u64]) -> Result<(), BadValue>;
    /// The length of column `index`.
    fn column_len(&self, index: usize) -> usize;
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
            const NAME: &'static str = $text;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),*];
            fn len(&self) -> usize {
                [$(self.$column.len()),*].into_iter().min().unwrap_or(0)
            }
            fn column_bits(&self, index: usize) -> Vec<u64> {
                let columns: &[fn(&Self) -> Vec<u64>] =
                    &[$(|table| table.$column.iter().map(|cell| $crate::Column::to_bits(*cell)).collect()),*];
                columns.get(index).map_or_else(Vec::new, |read| read(self))
            }
            fn set_column_bits(&mut self, index: usize, cells: &[u64]) -> Result<(), $crate::BadValue> {
                type Write<T> = fn(&mut T, &[u64]) -> Result<(), $crate::BadValue>;
                let columns: &[Write<Self>] = &[$(|table, cells| {
                    table.$column = cells.iter().map(|bits| $crate::Column::from_bits(*bits)).collect::<Result<_, _>>()?;
                    Ok(())
                }),*];
                columns.get(index).map_or(Ok(()), |write| write(self, cells))
            }
            fn column_len(&self, index: usize) -> usize {
                [$(self.$column.len()),*].get(index).copied().unwrap_or(0)
            }
        }
    };
}
pub(crate) use table;
