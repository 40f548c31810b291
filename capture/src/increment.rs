//! What a builder made since it was last asked: the one form that feeds both the spool and the segments.
//!
//! Tables come in three kinds:
//!
//! * *kept* dictionaries only grow and stay in the builder, whose indexes name their rows;
//! * *evolving* rows stay as well and may change later (a thread ends): changed rows are told again;
//! * *passing* rows leave the builder, so its memory does not grow with the recording.

use crate::Tables;
use crate::model::*;
use crate::table::Table;

/// Calls a macro with the fields of tables that only grow and stay.
macro_rules! for_each_kept {
    ($macro:ident) => {
        $macro! { files, functions, frames, stacks, measures, snapshots, probe_sites }
    };
}
/// Calls a macro with the fields and types of tables whose rows may change.
macro_rules! for_each_evolving {
    ($macro:ident) => {
        $macro! {
            modules: Modules, processes: Processes, threads: Threads, mappings: Mappings, tasks: Tasks,
            settings: Settings
        }
    };
}
/// Calls a macro with the fields of tables whose rows tell what code means: they go with the dictionaries.
macro_rules! for_each_meaning {
    ($macro:ident) => {
        $macro! { facts, failures, source_texts }
    };
}
/// Calls a macro with the fields of tables whose rows happened at a time.
macro_rules! for_each_timed {
    ($macro:ident) => {
        $macro! {
            samples, intervals, waits, claims, syscalls, label_spans, probe_records, counters, marks,
            rate_changes, duty_changes, losses
        }
    };
}
pub(crate) use {for_each_evolving, for_each_timed};

/// Rows that changed, with their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revision<T> {
    /// The number of each row.
    pub numbers: Vec<u32>,
    /// The rows as they are now.
    pub rows: T,
}

macro_rules! declare_revisions {
    ($($field:ident: $type:ident),*) => {
        /// Rows of evolving tables that changed after an earlier increment told them.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Revisions { $(
            #[doc = concat!("Changed rows of `", stringify!($field), "`.")]
            pub $field: Revision<$type>,
        )* }
    };
}
for_each_evolving!(declare_revisions);

/// The rows a builder made since its last increment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Increment {
    /// New rows. Ids in them count from the beginning of the epoch. Strings begin with the empty one,
    /// which is not new.
    pub appended: Tables,
    /// Changed rows.
    pub revised: Revisions,
}

impl Tables {
    /// Appends an increment. Applied in order, all increments of an epoch make its tables.
    pub fn apply(&mut self, increment: &Increment) {
        self.append_dictionaries(&increment.appended);
        self.append_timed(&increment.appended);
        self.revise(&increment.revised);
    }

    /// Appends strings, dictionaries and what code means.
    pub(crate) fn append_dictionaries(&mut self, new: &Tables) {
        for text in new.strings.iter().skip(1) {
            self.strings.push(text);
        }
        macro_rules! append_each {
            ($($field:ident $(: $type:ident)?),*) => {$( Table::append(&mut self.$field, &new.$field); )*};
        }
        for_each_kept!(append_each);
        for_each_evolving!(append_each);
        for_each_meaning!(append_each);
    }

    /// Appends rows that happened at a time.
    pub(crate) fn append_timed(&mut self, new: &Tables) {
        macro_rules! append_each {
            ($($field:ident),*) => {$( Table::append(&mut self.$field, &new.$field); )*};
        }
        for_each_timed!(append_each);
    }

    /// Replaces changed rows.
    pub(crate) fn revise(&mut self, revised: &Revisions) {
        macro_rules! revise_each {
            ($($field:ident: $type:ident),*) => {$(
                for (at, number) in revised.$field.numbers.iter().enumerate().take(revised.$field.rows.len()) {
                    self.$field.set_row(*number as usize, revised.$field.rows.row_at(at));
                }
            )*};
        }
        for_each_evolving!(revise_each);
    }
}

/// What earlier increments told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// Samples that left the builder.
    pub(crate) samples: u32,
    /// Rows told of strings, of kept tables, and the evolving rows as they were told.
    strings: usize,
    files: usize,
    functions: usize,
    frames: usize,
    stacks: usize,
    measures: usize,
    snapshots: usize,
    probe_sites: usize,
    evolving: Tables,
}

impl Told {
    /// Takes what is new or changed in `tables`, and remembers that it was told.
    pub(crate) fn take(&mut self, tables: &mut Tables) -> Increment {
        let mut increment = Increment::default();
        self.take_kept(tables, &mut increment.appended);
        self.take_evolving(tables, &mut increment);
        take_passing(tables, &mut increment.appended);
        let samples = u32::try_from(increment.appended.samples.len()).unwrap_or(u32::MAX);
        self.samples = self.samples.saturating_add(samples);
        increment
    }

    fn take_kept(&mut self, tables: &Tables, new: &mut Tables) {
        for text in tables.strings.iter().skip(self.strings.max(1)) {
            new.strings.push(text);
        }
        self.strings = tables.strings.len();
        macro_rules! take_each {
            ($($field:ident),*) => {$(
                new.$field = tables.$field.tail(self.$field);
                self.$field = tables.$field.len();
            )*};
        }
        for_each_kept!(take_each);
    }

    fn take_evolving(&mut self, tables: &Tables, increment: &mut Increment) {
        macro_rules! take_each {
            ($($field:ident: $type:ident),*) => {$(
                let (told, now) = (&mut self.evolving.$field, &tables.$field);
                increment.appended.$field = now.tail(told.len());
                increment.revised.$field = changed(told, now);
                if *told != *now {
                    told.clone_from(now);
                }
            )*};
        }
        for_each_evolving!(take_each);
    }

    /// What was told when `tables` hold every row of all increments again.
    pub(crate) fn all_of(tables: &Tables) -> Self {
        let mut told = Self::default();
        let mut copy = tables.clone();
        told.take(&mut copy);
        told.samples = 0;
        told
    }
}

fn take_passing(tables: &mut Tables, new: &mut Tables) {
    macro_rules! take_each {
        ($($field:ident),*) => {$( new.$field = std::mem::take(&mut tables.$field); )*};
    }
    for_each_meaning!(take_each);
    for_each_timed!(take_each);
}

/// The rows among those told that are different now.
fn changed<T: Table>(told: &T, now: &T) -> Revision<T> {
    let numbers: Vec<u32> = (0..u32::try_from(told.len().min(now.len())).unwrap_or(u32::MAX))
        .filter(|row| told.row_at(*row as usize) != now.row_at(*row as usize))
        .collect();
    Revision { rows: now.gather(&numbers), numbers }
}
