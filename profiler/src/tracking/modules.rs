//! Every module met so far, by what the kernel said of its file: a file is opened once, whoever maps it.

use std::sync::Arc;

use microscope_capture::{Builder, IdentityKind, ModuleKind};
use rustc_hash::FxHashMap;

use super::limits::Limits;
use super::locate::{Mapped, locate};
use super::module::{Candidate, LoadedModule, NoImage, PathKind, no_identity, path_kind, split_deleted};
use crate::files::{FileProblem, Files, Place, Text};
use crate::image::{self, Identity, Image};
use crate::records::Evidence;

/// The number of a module among those met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ModuleIndex(u32);

/// How often a file that could not be opened is tried again, for other processes that map it.
const ATTEMPTS_MAX: u8 = 4;

#[derive(Default)]
pub(super) struct Modules {
    all: Vec<Arc<LoadedModule>>,
    known: FxHashMap<Evidence, Vec<Known>>,
    /// What stands for a module where its image says that nothing is loaded.
    without_segment: FxHashMap<ModuleIndex, ModuleIndex>,
    images: usize,
}

/// Paths of one file, or of files that nothing tells apart.
struct Known {
    path: Box<[u8]>,
    module: ModuleIndex,
    attempts: u8,
}

impl Modules {
    pub(super) fn get(&self, index: ModuleIndex) -> Option<&Arc<LoadedModule>> {
        self.all.get(index.0 as usize)
    }

    pub(super) fn all(&self) -> &[Arc<LoadedModule>] {
        &self.all
    }

    /// The module that `mapped` maps; opened now if it is new.
    pub(super) fn of(
        &mut self,
        mapped: &Mapped<'_>,
        files: &dyn Files,
        limits: &Limits,
        rows: &mut Builder,
    ) -> Option<ModuleIndex> {
        let known = self.known.get(&mapped.evidence);
        let place = known.and_then(|all| all.iter().position(|known| &*known.path == mapped.path));
        if let Some(found) = place.and_then(|place| known?.get(place))
            && !self.may_be_tried_again(found)
        {
            return Some(found.module);
        }
        if place.is_none() && self.all.len() >= limits.modules {
            return None;
        }
        let candidate = self.open(mapped, files, limits);
        let module = self.push(candidate.load(rows));
        let known = self.known.entry(mapped.evidence).or_default();
        match place.and_then(|place| known.get_mut(place)) {
            Some(again) => {
                again.attempts += 1;
                again.module = module;
            }
            None => known.push(Known { path: mapped.path.into(), module, attempts: 1 }),
        }
        Some(module)
    }

    /// The same module where its image says nothing is loaded: its addresses must not mix with the others.
    pub(super) fn without_segment(&mut self, of: ModuleIndex, rows: &mut Builder) -> Option<ModuleIndex> {
        if let Some(known) = self.without_segment.get(&of) {
            return Some(*known);
        }
        let path = self.get(of)?.path.clone();
        let module = Candidate::without_image(ModuleKind::File, path, NoImage::NoSegment).load(rows);
        let module = self.push(module);
        self.without_segment.insert(of, module);
        Some(module)
    }

    fn may_be_tried_again(&self, known: &Known) -> bool {
        let failed = self.get(known.module).map(|module| &module.image);
        known.attempts < ATTEMPTS_MAX
            && matches!(failed, Some(Err(NoImage::NotOpened(_) | NoImage::Replaced)))
    }

    fn push(&mut self, module: LoadedModule) -> ModuleIndex {
        self.images += usize::from(module.image.is_ok());
        let index = ModuleIndex(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Arc::new(module));
        index
    }

    fn open(&self, mapped: &Mapped<'_>, files: &dyn Files, limits: &Limits) -> Candidate {
        let (bare, _) = split_deleted(mapped.path);
        let path: Box<str> = limits.text(bare).into();
        match path_kind(bare) {
            PathKind::Memory => Candidate::without_image(ModuleKind::Anonymous, path, NoImage::Memory),
            PathKind::Vdso => vdso(path, files),
            PathKind::File if self.images >= limits.images => {
                let reason = NoImage::Bound { files_max: limits.images };
                Candidate::without_image(ModuleKind::File, path, reason)
            }
            PathKind::File => match locate(mapped, files) {
                Ok((image, file_key)) => Candidate {
                    kind: ModuleKind::File,
                    path,
                    identity: image.identity(),
                    image: Ok(Arc::new(image)),
                    file_key: Some(file_key),
                },
                Err(reason) => Candidate::without_image(ModuleKind::File, path, reason),
            },
        }
    }
}

/// The kernel's module, by the build ID that the running kernel states.
pub(super) fn kernel(files: &dyn Files, rows: &mut Builder) -> Arc<LoadedModule> {
    let notes = files.text(&Text::KernelNotes).map(|answer| answer.value).unwrap_or_default();
    let identity = image::build_id_of_notes(&notes)
        .map_or_else(no_identity, |id| Identity { kind: IdentityKind::GnuBuildId, text: image::hex(&id) });
    let (path, image) = ("[kernel]".into(), Err(NoImage::Memory));
    let kernel = Candidate { kind: ModuleKind::Kernel, path, identity, image, file_key: None };
    Arc::new(kernel.load(rows))
}

fn vdso(path: Box<str>, files: &dyn Files) -> Candidate {
    let image = files
        .open(&Place::Vdso)
        .map_err(|problem: FileProblem| NoImage::from(problem))
        .and_then(|opened| Ok(Arc::new(Image::parse(opened.handle)?)));
    let identity = image.as_ref().map_or_else(|_| no_identity(), |image| image.identity());
    Candidate { kind: ModuleKind::Vdso, path, identity, image, file_key: None }
}
