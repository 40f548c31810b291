//! Writes JSON as it goes: the text of a profile never is in memory as a whole.

use std::io::{self, Write};

use serde::Serialize;

/// A JSON text under way. It trusts its caller to close what was opened.
pub(super) struct Json<W> {
    out: W,
    /// Whether something precedes at this level.
    follows: bool,
}

impl<W: Write> Json<W> {
    pub(super) const fn new(out: W) -> Self {
        Self { out, follows: false }
    }

    /// Opens an object, as a value.
    pub(super) fn object(&mut self) -> io::Result<()> {
        self.open(b"{")
    }

    /// Closes an object.
    pub(super) fn end_object(&mut self) -> io::Result<()> {
        self.close(b"}")
    }

    /// Opens an array, as a value.
    pub(super) fn array(&mut self) -> io::Result<()> {
        self.open(b"[")
    }

    /// Closes an array.
    pub(super) fn end_array(&mut self) -> io::Result<()> {
        self.close(b"]")
    }

    /// The name of the value that comes next.
    pub(super) fn key(&mut self, name: &str) -> io::Result<()> {
        self.value(name)?;
        self.out.write_all(b":")?;
        self.follows = false;
        Ok(())
    }

    /// A whole value.
    pub(super) fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> io::Result<()> {
        self.separate()?;
        serde_json::to_writer(&mut self.out, value)?;
        Ok(())
    }

    /// A named value.
    pub(super) fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> io::Result<()> {
        self.key(name)?;
        self.value(value)
    }

    /// A named array.
    pub(super) fn column<T: Serialize>(
        &mut self,
        name: &str,
        cells: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        self.key(name)?;
        self.array()?;
        for cell in cells {
            self.value(&cell)?;
        }
        self.end_array()
    }

    fn open(&mut self, bracket: &[u8]) -> io::Result<()> {
        self.separate()?;
        self.follows = false;
        self.out.write_all(bracket)
    }

    fn close(&mut self, bracket: &[u8]) -> io::Result<()> {
        self.follows = true;
        self.out.write_all(bracket)
    }

    fn separate(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.follows, true) {
            self.out.write_all(b",")?;
        }
        Ok(())
    }
}
