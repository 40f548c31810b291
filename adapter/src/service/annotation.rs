//! One source file of a capture with its costs: found by name, with its text and what proves it.

use std::path::Path;

use microscope_analysis::overlay::{Mapping, Overlay, OverlayRequest, Proof, overlay};
use microscope_analysis::{Filter, MeasureChoice, QueryError};
use microscope_capture::{Capture, setting_names};
use thiserror::Error;

use super::sources::{self, Origin, SourceError, SourceFile, SourceText};

/// Why a source file cannot be annotated.
#[derive(Debug, Error)]
pub enum AnnotateError {
    /// No file, or several, have the name.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The capture has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// A source file, its costs and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The file of the capture.
    pub source: SourceFile,
    /// The costs; its labels are empty.
    pub overlay: Overlay,
    /// The text, where one was found.
    pub text: Option<SourceText>,
}

impl Annotation {
    /// Shows `text` instead of what was found.
    pub fn set_text(&mut self, capture: &Capture, text: &str, origin: Origin) {
        let text = SourceText::new(capture, &self.source, text.as_bytes(), origin);
        self.overlay.proof = text.proof;
        self.overlay.mapping = mapping(text.proof);
        self.text = Some(text);
    }
}

/// Annotates the file that `name` means, seen from `directory`.
pub fn annotate(capture: &Capture, name: &str, directory: &Path) -> Result<Annotation, AnnotateError> {
    let source = sources::find(capture, name, directory)?;
    let text = sources::text(capture, &source, name, directory);
    let proof = text.as_ref().map_or(Proof::Unknown, |text| text.proof);
    let own = own_directories(capture, directory);
    let request = OverlayRequest {
        path: name,
        files: &source.files,
        filter: &Filter::default(),
        measure: &MeasureChoice::default(),
        // The file asked for is of interest even when it lies elsewhere.
        is_workspace: &|path| path == source.path || is_own(path, &own),
        proof,
        mapping: mapping(proof),
    };
    Ok(Annotation { overlay: overlay(capture, &request)?, text, source })
}

/// Lines are those of the text where it is proved to be the compiled one.
fn mapping(proof: Proof) -> Mapping {
    if proof == Proof::DwarfMd5 { Mapping::Exact } else { Mapping::Unknown }
}

/// Where the user's own code lies: where they recorded, and where they are.
fn own_directories(capture: &Capture, directory: &Path) -> Vec<String> {
    let recorded = capture.setting(setting_names::DIRECTORY).map(str::to_owned).into_iter();
    recorded.chain([directory.to_string_lossy().into_owned()]).collect()
}

/// Whether code at `path` is the user's own: under one of their directories, or relative to where it was built.
fn is_own(path: &str, directories: &[String]) -> bool {
    let path = Path::new(path);
    path.is_relative() || directories.iter().any(|directory| path.starts_with(directory))
}
