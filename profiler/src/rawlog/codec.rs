//! How values are written into a raw log: little-endian integers, lengths before what they count, one byte for
//! which variant. Reading trusts no length.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A value that a raw log keeps.
pub(super) trait Field: Sized {
    fn write(&self, out: &mut Vec<u8>);
    /// `None` when the bytes are no such value.
    fn read(input: &mut Input<'_>) -> Option<Self>;
}

/// Bytes of a chunk not read yet.
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

macro_rules! integers {
    ($($type:ident),*) => {$(
        impl Field for $type {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn read(input: &mut Input<'_>) -> Option<Self> {
                input.take(size_of::<Self>())?.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i32);

impl Field for usize {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u64).write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        u64::read(input)?.try_into().ok()
    }
}

impl Field for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(*self).write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        match u8::read(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        if bool::read(input)? { T::read(input).map(Some) } else { Some(None) }
    }
}

impl<T: Field, E: Field> Field for Result<T, E> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_ok().write(out);
        match self {
            Ok(value) => value.write(out),
            Err(error) => error.write(out),
        }
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        if bool::read(input)? { T::read(input).map(Ok) } else { E::read(input).map(Err) }
    }
}

impl<T: Field> Field for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|value| value.write(out));
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let count = usize::read(input)?;
        // No value is shorter than a byte, so a count beyond the bytes is a lie.
        (count <= input.0.len()).then(|| (0..count).map(|_| T::read(input)).collect())?
    }
}

/// Bytes as one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Field for Bytes {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.len().write(out);
        out.extend_from_slice(&self.0);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let count = usize::read(input)?;
        input.take(count).map(|bytes| Self(bytes.to_vec()))
    }
}

impl Field for PathBuf {
    fn write(&self, out: &mut Vec<u8>) {
        Bytes(self.as_os_str().as_bytes().to_vec()).write(out);
    }
    fn read(input: &mut Input<'_>) -> Option<Self> {
        Bytes::read(input).map(|bytes| OsString::from_vec(bytes.0).into())
    }
}

/// Structures, field by field.
macro_rules! fields {
    ($($type:ident { $($field:ident),* $(,)? })*) => {$(
        impl Field for $type {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }
            fn read(input: &mut Input<'_>) -> Option<Self> {
                Some(Self { $($field: Field::read(input)?),* })
            }
        }
    )*};
}

/// Enums, by a code for each variant and then its fields.
macro_rules! variants {
    ($($type:ident { $($code:literal => $variant:ident $({ $($field:ident),* })?,)* })*) => {$(
        impl Field for $type {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $({ $($field),* })? => {
                        out.push($code);
                        $($($field.write(out);)*)?
                    })*
                }
            }
            fn read(input: &mut Input<'_>) -> Option<Self> {
                Some(match u8::read(input)? {
                    $($code => Self::$variant $({ $($field: Field::read(input)?),* })?,)*
                    _ => return None,
                })
            }
        }
    )*};
}
pub(super) use {fields, variants};
