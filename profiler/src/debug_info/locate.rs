//! The debug file of a module, found by identity: a matching path alone proves nothing.
//!
//! Tried in order: the module itself, the build-ID directory, the places its `.gnu_debuglink` may mean; then, for
//! what was found, the supplementary file that dwz split off. Every candidate is kept with the reason it was refused.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{FileHandle, ReadAt};
use crate::image::{AltLink, DebugLink, Image, hex};

/// Opens a regular file of this machine by its path.
pub type OpenHost = Arc<dyn Fn(&Path) -> io::Result<FileHandle> + Send + Sync>;

const DEBUG_ROOT: &str = "/usr/lib/debug";
/// Debug files whose checksum is computed are at most this long.
const CHECKED_BYTES_MAX: u64 = 4 << 30;

/// A file that was tried for a module's debug information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Its path.
    pub path: String,
    /// Why it was refused; `None` when it is used.
    pub refused: Option<String>,
}

/// What was found for a module.
#[derive(Default)]
pub(super) struct Located {
    /// The separate debug file; absent when the module has its own debug information, or none was found.
    pub(super) debug: Option<Image>,
    /// The supplementary file of whichever holds the debug information.
    pub(super) supplementary: Option<Image>,
    /// Every file tried, in order.
    pub(super) tried: Vec<Tried>,
}

/// Finds the debug information of `module`, which lies at `path`.
pub(super) fn locate(module: &Image, path: &Path, open: &OpenHost) -> Located {
    let mut search = Search { open, located: Located::default() };
    let found_at = if has_debug_info(module) {
        search.note(path, None);
        path.to_owned()
    } else {
        search.note(path, Some("it has no .debug_info".to_owned()));
        search.separate_file(module, path).unwrap_or_default()
    };
    let holder = search.located.debug.clone().unwrap_or_else(|| module.clone());
    if let Ok(Some(link)) = holder.alt_link() {
        search.supplementary_file(&link, &found_at);
    }
    search.located
}

fn has_debug_info(image: &Image) -> bool {
    has_section(image, &[".debug_info", ".zdebug_info"])
}

fn has_section(image: &Image, names: &[&str]) -> bool {
    image.sections().iter().any(|section| section.has_bytes && names.contains(&&*section.name))
}

struct Search<'a> {
    open: &'a OpenHost,
    located: Located,
}

impl Search<'_> {
    fn note(&mut self, path: &Path, refused: Option<String>) {
        self.located.tried.push(Tried { path: path.to_string_lossy().into_owned(), refused });
    }

    /// Finds and keeps the separate debug file; returns its path.
    fn separate_file(&mut self, module: &Image, path: &Path) -> Option<PathBuf> {
        let build_id = module.build_id();
        let link = module.debug_link().ok().flatten();
        let by_build_id = build_id.as_deref().and_then(build_id_path).into_iter();
        let by_link = link.iter().flat_map(|link| debug_link_paths(link, path));
        for candidate in by_build_id.chain(by_link) {
            let proof =
                |image: &Image, file: &FileHandle| prove(image, file, build_id.as_deref(), link.as_ref());
            if let Some(image) = self.attempt(&candidate, proof) {
                self.located.debug = Some(image);
                return Some(candidate);
            }
        }
        None
    }

    fn supplementary_file(&mut self, link: &AltLink, holder: &Path) {
        for candidate in alt_link_paths(link, holder) {
            let proof = |image: &Image, _: &FileHandle| match image.build_id() {
                Some(found) if found == link.build_id => Ok(()),
                found => Err(other_build_id(found.as_deref(), &link.build_id)),
            };
            if let Some(image) = self.attempt(&candidate, proof) {
                self.located.supplementary = Some(image);
                return;
            }
        }
    }

    /// Opens, parses and proves a candidate, and notes what became of it.
    fn attempt(
        &mut self,
        candidate: &Path,
        proof: impl Fn(&Image, &FileHandle) -> Result<(), String>,
    ) -> Option<Image> {
        let opened = (self.open)(candidate).map_err(|error| error.to_string());
        let parsed = opened.and_then(|file| {
            let image = Image::parse(file.clone()).map_err(|error| error.to_string())?;
            proof(&image, &file).map(|()| image)
        });
        self.note(candidate, parsed.as_ref().err().cloned());
        parsed.ok()
    }
}

/// Proves that a file belongs to a module: by the module's build ID if it has one, else by the link's checksum.
fn prove(
    image: &Image,
    file: &FileHandle,
    build_id: Option<&[u8]>,
    link: Option<&DebugLink>,
) -> Result<(), String> {
    if let Some(wanted) = build_id {
        let found = image.build_id();
        if found.as_deref() != Some(wanted) {
            return Err(other_build_id(found.as_deref(), wanted));
        }
    } else if let Some(link) = link {
        let found = crc32(&**file).map_err(|error| error.to_string())?;
        if found != link.crc32 {
            return Err(format!("its checksum is {found:08x}, the module names {:08x}", link.crc32));
        }
    }
    match has_section(image, &[".debug_info", ".zdebug_info", ".debug_line", ".symtab"]) {
        true => Ok(()),
        false => Err("it has neither debug information nor symbols".to_owned()),
    }
}

fn other_build_id(found: Option<&[u8]>, wanted: &[u8]) -> String {
    match found {
        Some(found) => format!("its build ID is {}, not {}", hex(found), hex(wanted)),
        None => format!("it has no build ID, {} is wanted", hex(wanted)),
    }
}

/// `/usr/lib/debug/.build-id/ab/cdef….debug`.
fn build_id_path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first().filter(|(_, rest)| !rest.is_empty())?;
    Some(format!("{DEBUG_ROOT}/.build-id/{first:02x}/{}.debug", hex(rest)).into())
}

/// Beside the module, in `.debug/` there, and in the debug root's copy of its directory.
fn debug_link_paths(link: &DebugLink, module: &Path) -> Vec<PathBuf> {
    let (Some(directory), Ok(name)) = (module.parent(), std::str::from_utf8(&link.file_name)) else {
        return Vec::new();
    };
    let in_root = Path::new(DEBUG_ROOT).join(directory.strip_prefix("/").unwrap_or(directory));
    [directory.join(name), directory.join(".debug").join(name), in_root.join(name)]
        .into_iter()
        .filter(|path| path.is_absolute() && path != module)
        .collect()
}

/// Where the link says, relative to the file that has it, and the build-ID directory.
fn alt_link_paths(link: &AltLink, holder: &Path) -> Vec<PathBuf> {
    let named = std::str::from_utf8(&link.path).ok();
    let named = named.and_then(|path| Some(holder.parent()?.join(path))).filter(|path| path.is_absolute());
    named.into_iter().chain(build_id_path(&link.build_id)).collect()
}

/// The checksum of a whole file.
fn crc32(file: &dyn ReadAt) -> io::Result<u32> {
    let size = file.len();
    if size > CHECKED_BYTES_MAX {
        return Err(io::Error::other(format!("{size} bytes are too many to compute its checksum")));
    }
    let (mut crc, mut chunk, mut offset) = (flate2::Crc::new(), vec![0; 1 << 18], 0);
    loop {
        let count = file.read_at(offset, &mut chunk)?;
        crc.update(chunk.get(..count).unwrap_or_default());
        offset += count as u64;
        if count == 0 || offset > CHECKED_BYTES_MAX {
            return Ok(crc.sum());
        }
    }
}
