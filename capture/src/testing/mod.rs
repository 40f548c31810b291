//! Rows for tests and benches: arbitrary valid captures, the same rows in another order, and large ones.
//!
//! Behind the feature `testing`. Everything is made from a seed, so every failure can be repeated.

mod random;
mod shuffled;
mod synthetic;

pub use random::random_tables;
pub use shuffled::shuffled;
pub use synthetic::Synthetic;

use crate::{TableKind, Tables};

/// The tables in which two sets of rows differ: a short answer where the rows themselves are a long one.
#[must_use]
pub fn differences(one: &Tables, other: &Tables) -> Vec<&'static str> {
    let mut different = Vec::new();
    if one.strings != other.strings {
        different.push(TableKind::Strings.name());
    }
    macro_rules! compare_each {
        ($($field:ident: $type:ty,)*) => {$(
            if one.$field != other.$field {
                different.push(<$type as crate::table::Table>::NAME);
            }
        )*};
    }
    crate::model::for_each_table!(compare_each);
    different
}

/// A small deterministic generator (xorshift64*): tests need repeatable numbers, not good ones.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`; 0 when that is 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { (self.next() >> 11) % limit }
    }

    /// True once in `of` times.
    pub const fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// One of some values. Panics without any.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}
