//! From what a person calls a source file to the file of a capture, and to its text with what proves it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use microscope_analysis::overlay::{Proof, TextEvidence};
use microscope_capture::{Capture, FileId};
use microscope_profiler::sources::hex_md5;
use thiserror::Error;

/// Source texts beyond this are not shown: nobody reads them, and a device is not a file.
pub const TEXT_BYTES_MAX: u64 = 4 << 20;

/// Why no file of the capture is meant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceError {
    /// None matches.
    #[error("the capture has no cost in a file named {0:?}; 'report --view lines' lists those it has")]
    Unknown(String),
    /// Several match equally well.
    #[error("{name:?} may be any of {}; give more of the path", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The paths that match, at most ten.
        candidates: Vec<String>,
    },
}

/// A path of the capture, and every file row that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the debug information gives it.
    pub path: String,
    /// Its rows: one for each hash.
    pub files: Vec<FileId>,
}

/// Finds the file of the capture that `name` means: the one of exactly this path, or of the path seen from
/// `directory`; else the only one that ends with it; for an absolute name, the only one that shares the longest
/// end with it, since a program may have been built elsewhere.
pub fn find(capture: &Capture, name: &str, directory: &Path) -> Result<SourceFile, SourceError> {
    let paths = paths(capture);
    let full = normal(&directory.join(name));
    let exact = |(path, _): &(&&str, &Vec<FileId>)| **path == name || normal(Path::new(**path)) == full;
    if let Some(found) = paths.iter().find(exact) {
        return Ok(source_file(found));
    }
    let best = longest_suffixes(&paths, &normal(Path::new(name)));
    match best.as_slice() {
        [] => Err(SourceError::Unknown(name.to_owned())),
        [path] => Ok(SourceFile { path: (*path).to_owned(), files: paths[path].clone() }),
        several => Err(SourceError::Ambiguous {
            name: name.to_owned(),
            candidates: several.iter().take(10).map(|path| (*path).to_owned()).collect(),
        }),
    }
}

fn source_file((path, files): (&&str, &Vec<FileId>)) -> SourceFile {
    SourceFile { path: (*path).to_owned(), files: files.clone() }
}

fn paths(capture: &Capture) -> BTreeMap<&str, Vec<FileId>> {
    let mut paths = BTreeMap::<_, Vec<_>>::new();
    for (id, file) in capture.files.iter() {
        paths.entry(capture.strings.get(file.path)).or_default().push(id);
    }
    paths
}

/// The paths that share the most components with the end of `wanted`, at least its file's name, and all of it
/// when it is relative.
fn longest_suffixes<'c>(paths: &BTreeMap<&'c str, Vec<FileId>>, wanted: &Path) -> Vec<&'c str> {
    let names = wanted.components().filter(|component| matches!(component, Component::Normal(_))).count();
    let mut longest = if wanted.is_absolute() { 1 } else { names.max(1) };
    let mut best = Vec::new();
    for path in paths.keys() {
        let shared = shared_suffix(&normal(Path::new(path)), wanted);
        if shared > longest {
            (longest, best) = (shared, Vec::new());
        }
        if shared == longest {
            best.push(*path);
        }
    }
    best
}

fn shared_suffix(one: &Path, other: &Path) -> usize {
    let pairs = one.components().rev().zip(other.components().rev());
    pairs.take_while(|(a, b)| a == b && matches!(a, Component::Normal(_))).count()
}

/// The path without `.` and with `..` resolved by name: debug information joins directories as they were given.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Where a text was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In the capture.
    Capture,
    /// On this machine, now.
    Disk(PathBuf),
    /// In this program: the sample program's.
    Program,
}

/// A source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The text.
    pub text: String,
    /// Where it was found.
    pub origin: Origin,
    /// Whether it is the text that was compiled.
    pub proof: Proof,
}

impl SourceText {
    /// The text of `source` in `bytes`, with what its MD5 proves.
    #[must_use]
    pub fn new(capture: &Capture, source: &SourceFile, bytes: &[u8], origin: Origin) -> Self {
        let md5 = hex_md5(bytes);
        let evidence = TextEvidence { md5: Some(&md5), older_than_binary: None };
        let proof = Proof::of(capture, &source.files, evidence);
        Self { text: String::from_utf8_lossy(bytes).into_owned(), origin, proof }
    }
}

/// The text of `source`: the capture's own, else that of a file: of its path, or of the `name` it was asked for
/// by where only that is readable, or is proved to be what was compiled.
#[must_use]
pub fn text(capture: &Capture, source: &SourceFile, name: &str, directory: &Path) -> Option<SourceText> {
    let kept = capture.source_texts.iter().find(|(_, row)| source.files.contains(&row.file));
    if let Some((_, row)) = kept {
        let bytes = capture.strings.get(row.text).as_bytes();
        return Some(SourceText::new(capture, source, bytes, Origin::Capture));
    }
    let on_disk = |path: PathBuf| Some(SourceText::new(capture, source, &read(&path)?, Origin::Disk(path)));
    let by_path = on_disk(directory.join(&source.path));
    let is_proved = |text: &SourceText| text.proof == Proof::DwarfMd5;
    if by_path.as_ref().is_some_and(is_proved) {
        return by_path;
    }
    let by_name = on_disk(directory.join(name)).filter(|text| by_path.is_none() || is_proved(text));
    by_name.or(by_path)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    // A name may lead to a pipe or a device: only regular files are opened.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= TEXT_BYTES_MAX).then_some(bytes)
}
