//! Rules of files, modules and source texts.

use rustc_hash::FxHashMap;

use super::{Invalid, Rule, SOURCE_TEXT_BYTES_MAX};
use crate::{HashKind, IdentityKind, TableKind, Tables};

/// The longest identity of a module, as text.
const IDENTITY_BYTES_MAX: usize = 256;

/// A file's hash is an MD5 in lower-case hexadecimal exactly when its kind says so.
pub(super) fn hashes_fit_their_kind(tables: &Tables) -> Result<(), Invalid> {
    for (id, file) in tables.files.iter() {
        let hash = tables.strings.get(file.hash);
        let fits = match file.hash_kind {
            HashKind::None => hash.is_empty(),
            HashKind::DwarfMd5 | HashKind::TextMd5 => hash.len() == 32 && is_hexadecimal(hash),
        };
        if !fits {
            return Err(Invalid::cell(
                TableKind::Files,
                id.index(),
                "hash",
                bad_hash(file.hash_kind.name(), hash),
            ));
        }
    }
    Ok(())
}

/// A module's identity is of the form its kind says.
pub(super) fn identities_fit_their_kind(tables: &Tables) -> Result<(), Invalid> {
    for (id, module) in tables.modules.iter() {
        let identity = tables.strings.get(module.identity);
        let fits = match module.identity_kind {
            IdentityKind::None => identity.is_empty(),
            IdentityKind::GoBuildId => !identity.is_empty(),
            IdentityKind::GnuBuildId | IdentityKind::SegmentHash => {
                !identity.is_empty() && identity.len().is_multiple_of(2) && is_hexadecimal(identity)
            }
        };
        if !fits || identity.len() > IDENTITY_BYTES_MAX {
            let rule = bad_hash(module.identity_kind.name(), identity);
            return Err(Invalid::cell(TableKind::Modules, id.index(), "identity", rule));
        }
    }
    Ok(())
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn bad_hash(kind: &'static str, found: &str) -> Rule {
    Rule::BadHash { kind, found: found.chars().take(64).collect() }
}

/// A file has at most one source text.
pub(super) fn one_text_per_file(tables: &Tables) -> Result<(), Invalid> {
    let mut seen = FxHashMap::default();
    for (row, file) in tables.source_texts.file.iter().enumerate() {
        if let Some(other) = seen.insert(*file, row) {
            return Err(Invalid::cell(TableKind::SourceTexts, row, "file", Rule::Duplicate { other }));
        }
    }
    Ok(())
}

/// Source texts are at most [`SOURCE_TEXT_BYTES_MAX`] long.
pub(super) fn texts_are_bounded(tables: &Tables) -> Result<(), Invalid> {
    for (row, text) in tables.source_texts.text.iter().enumerate() {
        let bytes = tables.strings.get(*text).len();
        if bytes > SOURCE_TEXT_BYTES_MAX {
            let rule = Rule::TooLong { bytes, max: SOURCE_TEXT_BYTES_MAX };
            return Err(Invalid::cell(TableKind::SourceTexts, row, "text", rule));
        }
    }
    Ok(())
}
