//! What a mapping maps: an owner of code, its proof of identity, and its image when it could be opened.

use std::sync::Arc;

use microscope_capture::{Builder, IdentityKind, Module, ModuleId, ModuleKind};
use thiserror::Error;

use crate::files::FileProblem;
use crate::image::{Identity, Image, ImageError, MappedRange};
use crate::records::FileKey;

/// An owner of code. Immutable and shared: mappings of many processes point to one.
#[derive(Clone)]
pub struct LoadedModule {
    /// Its row.
    pub id: ModuleId,
    /// What owns the code.
    pub kind: ModuleKind,
    /// The path as the target saw it, for people; not every path is UTF-8.
    pub path: Box<str>,
    /// What proves which code it is. Without an image there is none: addresses in it would be file offsets,
    /// which must never be looked up in a file of that identity.
    pub identity: Identity,
    /// The file's checked headers; its descriptor stays open as long as this is shared.
    pub image: Result<Arc<Image>, NoImage>,
    /// The file's place; absent where nothing was opened.
    pub file_key: Option<FileKey>,
}

/// Why a module has no image.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoImage {
    /// It is memory, not a file.
    #[error("it is memory without a file")]
    Memory,
    /// The file could not be opened.
    #[error(transparent)]
    NotOpened(#[from] FileProblem),
    /// What could be opened is not the file that was mapped.
    #[error("another file lies at its path now")]
    Replaced,
    /// The kernel said nothing that could prove a file to be the mapped one.
    #[error("nothing proves which file it was")]
    NoEvidence,
    /// The file is no ELF file, or a broken one.
    #[error(transparent)]
    BadImage(#[from] ImageError),
    /// The file has no loaded segment where it was mapped.
    #[error("the mapped part belongs to no loaded segment")]
    NoSegment,
    /// The recorder keeps as many files open as it may.
    #[error("the recorder keeps {files_max} files open and opens no more")]
    Bound {
        /// The limit.
        files_max: usize,
    },
}

impl LoadedModule {
    /// The relative address of a mapping's first byte; `None` when the image says that nothing is loaded there.
    /// Without an image the file offset stands in, and for memory the address itself.
    pub(super) fn relative_start(&self, start_address: u64, range: MappedRange) -> Option<u64> {
        match (&self.image, self.kind) {
            (Ok(image), ModuleKind::Vdso) => image.svma_of_mapping(MappedRange { file_offset: 0, ..range }),
            (Ok(image), _) => image.svma_of_mapping(range),
            (Err(_), ModuleKind::Anonymous) => Some(start_address),
            (Err(_), _) => Some(range.file_offset),
        }
    }
}

/// A module before it has a row.
pub(super) struct Candidate {
    pub(super) kind: ModuleKind,
    pub(super) path: Box<str>,
    pub(super) identity: Identity,
    pub(super) image: Result<Arc<Image>, NoImage>,
    pub(super) file_key: Option<FileKey>,
}

impl Candidate {
    pub(super) fn without_image(kind: ModuleKind, path: Box<str>, reason: NoImage) -> Self {
        Self { kind, path, identity: no_identity(), image: Err(reason), file_key: None }
    }

    /// Gives it its row.
    pub(super) fn load(self, rows: &mut Builder) -> LoadedModule {
        let Self { kind, path, identity, image, file_key } = self;
        let row = Module {
            kind,
            path: rows.string(&path),
            identity_kind: identity.kind,
            identity: rows.string(&identity.text),
            debug_path: rows.string(""),
        };
        LoadedModule { id: rows.module(row), kind, path, identity, image, file_key }
    }
}

pub(super) fn no_identity() -> Identity {
    Identity { kind: IdentityKind::None, text: String::new() }
}

/// What a path says of its mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    Vdso,
    Memory,
    File,
}

/// The kernel's names for memory that is no file.
const MEMORY: [&[u8]; 6] = [b"[", b"//", b"anon_inode:", b"/dev/zero", b"/anon_hugepage", b"/SYSV"];

pub(super) fn path_kind(path: &[u8]) -> PathKind {
    if path == b"[vdso]" {
        PathKind::Vdso
    } else if !path.starts_with(b"/") || MEMORY.iter().any(|name| path.starts_with(name)) {
        PathKind::Memory
    } else {
        PathKind::File
    }
}

/// The kernel writes this after the path of a file that has none any more.
const DELETED: &[u8] = b" (deleted)";

/// The path without the kernel's remark, and whether it was there.
pub(super) fn split_deleted(path: &[u8]) -> (&[u8], bool) {
    path.strip_suffix(DELETED).map_or((path, false), |path| (path, true))
}
