//! What one cell of a table may hold: everything is an unsigned integer on disk, and a typed value in memory.

use thiserror::Error;

use crate::TableKind;

/// A cell that no value of its column's type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{value} is no value of {expected}")]
pub struct BadValue {
    /// What was found.
    pub value: u64,
    /// The name of the column's type.
    pub expected: &'static str,
}

/// A value that a column stores.
pub trait Column: Copy {
    /// The table whose row numbers these cells are, if they are ids.
    const REFERS_TO: Option<TableKind> = None;
    /// Whether 0 stands for an absent value.
    const OPTIONAL: bool = false;
    /// The value as the file keeps it.
    fn to_bits(self) -> u64;
    /// The value back; refuses bits that no value has.
    fn from_bits(bits: u64) -> Result<Self, BadValue>;
    /// Whether values may need all 64 bits, so that there is no room for an absent one beside them.
    const WIDE: bool = false;
    /// Whether [`Self::from_bits`] gives the value back.
    fn is_storable(self) -> bool {
        true
    }
    /// An id after the rows of its table were renumbered: row `i` became `numbers[i]`. Other cells stay.
    #[must_use]
    fn renumbered(self, numbers: &[u32]) -> Self {
        let _ = numbers;
        self
    }
}

macro_rules! integer_column {
    ($($type:ty),*) => {$(
        impl Column for $type {
            const WIDE: bool = <$type>::BITS == 64;
            fn to_bits(self) -> u64 {
                u64::from(self)
            }
            fn from_bits(bits: u64) -> Result<Self, BadValue> {
                Self::try_from(bits).map_err(|_| BadValue { value: bits, expected: stringify!($type) })
            }
        }
    )*};
}
integer_column!(u8, u16, u32, u64);

impl Column for bool {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Result<Self, BadValue> {
        match bits {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(BadValue { value, expected: "bool" }),
        }
    }
}

/// Signed values are kept in zigzag form, so that small negative numbers stay small.
impl Column for i64 {
    const WIDE: bool = true;
    fn to_bits(self) -> u64 {
        ((self << 1) ^ (self >> 63)).cast_unsigned()
    }
    fn from_bits(bits: u64) -> Result<Self, BadValue> {
        Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }
}

/// An absent value is 0, value `v` is `v + 1`. `u64::MAX` itself cannot be stored as present.
impl<T: Column> Column for Option<T> {
    const REFERS_TO: Option<TableKind> = T::REFERS_TO;
    const OPTIONAL: bool = true;
    const WIDE: bool = T::WIDE;
    fn to_bits(self) -> u64 {
        self.map_or(0, |value| value.to_bits().saturating_add(1))
    }
    fn from_bits(bits: u64) -> Result<Self, BadValue> {
        match bits.checked_sub(1) {
            None => Ok(None),
            Some(value) => T::from_bits(value).map(Some),
        }
    }
    fn is_storable(self) -> bool {
        self.is_none_or(|value| value.to_bits() != u64::MAX)
    }
    fn renumbered(self, numbers: &[u32]) -> Self {
        self.map(|cell| cell.renumbered(numbers))
    }
}

/// Declares an enum whose variants have fixed codes on disk.
macro_rules! coded_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal => $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant = $code,)* }

        impl $name {
            /// Every value, in the order of its codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// The stable name that JSON and documents use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl $crate::Column for $name {
            fn to_bits(self) -> u64 {
                self as u64
            }
            fn from_bits(bits: u64) -> Result<Self, $crate::BadValue> {
                match bits {
                    $($code => Ok(Self::$variant),)*
                    value => Err($crate::BadValue { value, expected: stringify!($name) }),
                }
            }
        }
    };
}
pub(crate) use coded_enum;
