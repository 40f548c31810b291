//! Interned texts, all in one buffer.

use crate::StringId;

/// Interned texts in one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strings {
    text: String,
    /// Invariant: starts with 0, does not fall, ends with the text's length, on character boundaries.
    ends: Vec<u32>,
}

impl Default for Strings {
    /// One row: the empty string.
    fn default() -> Self {
        Self { text: String::new(), ends: vec![0] }
    }
}

impl Strings {
    /// Appends `text` without looking for an equal one; interning is the builder's.
    pub fn push(&mut self, text: &str) -> StringId {
        let id = StringId::new(u32::try_from(self.ends.len()).unwrap_or(u32::MAX));
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        id
    }

    /// Texts of the given lengths in bytes, cut from one text.
    ///
    /// Fails with the first row that ends beyond the text, inside a character, or before the text's end
    /// when it is the last.
    pub(crate) fn from_lengths(text: String, lengths: &[u64]) -> Result<Self, usize> {
        let mut ends = Vec::with_capacity(lengths.len());
        let mut end = 0_u64;
        for (row, length) in lengths.iter().enumerate() {
            end = end.checked_add(*length).ok_or(row)?;
            let at = u32::try_from(end).map_err(|_| row)?;
            if !text.is_char_boundary(at as usize) {
                return Err(row);
            }
            ends.push(at);
        }
        if end == text.len() as u64 && !ends.is_empty() {
            Ok(Self { text, ends })
        } else {
            Err(lengths.len())
        }
    }

    /// All texts, one after the other.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text of `id`; empty when there is no such row.
    #[must_use]
    pub fn get(&self, id: StringId) -> &str {
        let index = id.index();
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let Some(end) = self.ends.get(index) else { return "" };
        self.text.get(start as usize..*end as usize).unwrap_or("")
    }

    /// Every text, in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|index| self.get(StringId::new(u32::try_from(index).unwrap_or(u32::MAX))))
    }

    /// Bytes of all texts together.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Rows held, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: row 0 always is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
