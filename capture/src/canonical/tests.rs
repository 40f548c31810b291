//! Equal rows give equal bytes.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use crate::testing::{random_tables, shuffled};
use crate::{Builder, Capture, CodeRole, Frame, FrameKind, Tables};

fn canonical(mut tables: Tables) -> Tables {
    tables.canonicalize().unwrap();
    tables
}

proptest! {
    #[test]
    fn arrival_and_interning_order_do_not_show(seed: u64, order: u64, size in 0_usize..40) {
        let tables = random_tables(seed, size);
        let other = canonical(shuffled(&tables, order));
        prop_assert_eq!(&tables, &other);
        let bytes = |tables| Capture::validate(tables).unwrap().to_bytes();
        prop_assert_eq!(bytes(tables), bytes(other));
    }

    #[test]
    fn canonical_rows_stay_as_they_are(seed: u64, size in 0_usize..40) {
        let tables = random_tables(seed, size);
        prop_assert_eq!(canonical(tables.clone()), tables);
    }

    #[test]
    fn canonical_rows_are_valid(seed: u64, size in 0_usize..40) {
        prop_assert!(Capture::validate(random_tables(seed, size)).is_ok());
    }
}

#[test]
fn rows_that_nothing_names_are_dropped() {
    let mut builder = Builder::new();
    let name = builder.string("unused");
    let frame =
        Frame { kind: FrameKind::Named, role: CodeRole::Plain, module: None, address: u64::from(name.get()) };
    let frame = builder.frame(frame);
    builder.stack(None, frame);
    let capture = builder.finish().unwrap();
    assert_eq!(capture.into_tables(), Tables::default());
}

#[test]
fn equal_dictionary_rows_become_one() {
    let mut tables = random_tables(3, 12);
    let before = tables.clone();
    let used = tables.samples.stack.iter().position(Option::is_some).unwrap();
    let stack = tables.stacks.row(tables.samples.stack[used].unwrap());
    let twin = tables.stacks.push(stack);
    tables.samples.stack[used] = Some(twin);
    assert_eq!(canonical(tables), before);
}

#[test]
fn ids_that_name_nothing_are_refused_unchanged() {
    let mut tables = random_tables(1, 8);
    tables.samples.thread[0] = crate::ThreadId::new(9999);
    let before = tables.clone();
    let error = tables.canonicalize().unwrap_err().to_string();
    assert!(error.contains("no row 9999 in table threads"), "{error}");
    assert_eq!(tables, before);
}
