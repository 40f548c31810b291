//! Whether a text is the one that was compiled: decided from evidence that the caller gathered.

use microscope_capture::{FileId, HashKind, Tables};
use serde::Serialize;

/// What is known of the text against the code that was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Its MD5 is the one that the debug information carries.
    DwarfMd5,
    /// It was last changed before the binary was made.
    OlderThanBinary,
    /// It was changed after the binary was made, or its MD5 is another: numbers may be on wrong lines.
    NewerThanBinary,
    /// Nothing.
    #[default]
    Unknown,
}

/// Whether the overlay's lines are those of the text at hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mapping {
    /// They are.
    Exact,
    /// Lines were carried through edits.
    Moved,
    /// Not known.
    #[default]
    Unknown,
}

/// What the caller read of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextEvidence<'a> {
    /// Its MD5 in lower-case hexadecimal.
    pub md5: Option<&'a str>,
    /// Whether it was last changed before the binary was made.
    pub older_than_binary: Option<bool>,
}

impl Proof {
    /// What `text` proves about being the text of `files`.
    #[must_use]
    pub fn of(tables: &Tables, files: &[FileId], text: TextEvidence<'_>) -> Self {
        let compiled = files.iter().filter(|id| tables.files.hash_kind[id.index()] == HashKind::DwarfMd5);
        let hashes: Vec<&str> =
            compiled.map(|id| tables.strings.get(tables.files.hash[id.index()])).collect();
        match (text.md5, hashes.is_empty(), text.older_than_binary) {
            (Some(md5), false, _) if hashes.contains(&md5) => Self::DwarfMd5,
            (Some(_), false, _) | (_, _, Some(false)) => Self::NewerThanBinary,
            (_, _, Some(true)) => Self::OlderThanBinary,
            (_, _, None) => Self::Unknown,
        }
    }
}
