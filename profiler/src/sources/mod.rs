//! Which source texts a capture may carry, read at the recording's end.
//!
//! Comes in: the file rows that frames name. Goes out: a text for each file the rules allow, else only its
//! hash. A path in debug information is a claim of the program's maker, so a text is kept only when it lies
//! where the user works (the working directory or a `--sources` directory), or is proved to be what was
//! compiled (its MD5 stands in the line table). It is read with the rights of the target's owner.

mod read;

use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use microscope_capture::{Builder, File, FileId, HashKind, SourceText};

use crate::image::hex;

pub use read::{Owner, SOURCE_BYTES_MAX, TextReader};

/// Which texts are kept.
#[derive(Debug, Clone, Default)]
pub struct SourceRules {
    /// Directories whose files are kept. Invariant: absolute.
    pub roots: Vec<PathBuf>,
    /// Keep no text, only hashes.
    pub hashes_only: bool,
}

impl SourceRules {
    fn keeps(&self, path: &Path, proved: bool) -> bool {
        !self.hashes_only && (proved || self.roots.iter().any(|root| path.starts_with(root)))
    }
}

/// Adds texts and hashes of the files that `builder` names.
pub fn collect(builder: &mut Builder, rules: &SourceRules, reader: &TextReader) {
    for id in builder.tables.files.ids() {
        collect_one(builder, id, rules, reader);
    }
}

fn collect_one(builder: &mut Builder, id: FileId, rules: &SourceRules, reader: &TextReader) {
    let file = builder.tables.files.row(id);
    let path = PathBuf::from(builder.tables.strings.get(file.path));
    let Some(text) = reader.read(&path) else { return };
    let hash = hex_md5(text.as_bytes());
    let proved = file.hash_kind == HashKind::DwarfMd5 && builder.tables.strings.get(file.hash) == hash;
    if rules.keeps(&path, proved) {
        let text = builder.string(&text);
        builder.tables.source_texts.push(SourceText { file: id, text });
    }
    if file.hash_kind == HashKind::None {
        let hash = builder.string(&hash);
        set_hash(builder, id, File { hash_kind: HashKind::TextMd5, hash, ..file });
    }
}

fn set_hash(builder: &mut Builder, id: FileId, file: File) {
    builder.tables.files.hash_kind[id.index()] = file.hash_kind;
    builder.tables.files.hash[id.index()] = file.hash;
}

/// MD5 as lower-case hexadecimal text: the hash that DWARF 5 line tables carry.
#[must_use]
pub fn hex_md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

#[cfg(test)]
mod tests;
