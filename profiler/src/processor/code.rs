//! What the modules that mappings named are good for: unwind rules for the walk, names for the namers.

use std::io;
use std::path::Path;
use std::sync::Arc;

use microscope_capture::{EndReason, ModuleKind};

use crate::debug_info::{ModuleDebug, NameSource, OpenHost};
use crate::files::{Files, Place};
use crate::image::Image;
use crate::naming::Naming;
use crate::tracking::{LoadedModule, Space};
use crate::unwind::{CodeAt, CodeMap, Section, SectionBytes, UnwindImage, UnwindSections};

use super::unnamable::Unnamable;

/// Unwind images by module row.
pub(super) struct Code {
    images: Vec<Option<UnwindImage>>,
    /// Modules of the tracker that were looked at.
    seen: usize,
    open: OpenHost,
}

impl Code {
    pub(super) fn new(files: Arc<dyn Files>) -> Self {
        Self { images: Vec::new(), seen: 0, open: open_host(files) }
    }

    /// Takes in the modules that came since the last call. Reads no more than the heads of sections.
    pub(super) fn advance(&mut self, modules: &[Arc<LoadedModule>], naming: &mut Naming) {
        for module in modules.iter().skip(self.seen) {
            naming.add_module(module.id, self.name_source(module));
            let image = module.image.as_ref().ok().map(|image| UnwindImage::new(unwind_sections(image)));
            self.set(module.id.index(), image);
        }
        self.seen = modules.len();
    }

    fn set(&mut self, index: usize, image: Option<UnwindImage>) {
        if self.images.len() <= index {
            self.images.resize_with(index + 1, || None);
        }
        if let Some(image) = &image {
            // Almost every module has a search table and this does nothing. Samples that need the others
            // wait here; the queue before this step is what holds them.
            image.index();
        }
        self.images[index] = image;
    }

    fn name_source(&self, module: &LoadedModule) -> Arc<dyn NameSource> {
        match &module.image {
            Ok(image) => {
                let image = Image::clone(image);
                Arc::new(ModuleDebug::new(image, Path::new(&*module.path), Arc::clone(&self.open)))
            }
            Err(reason) => Arc::new(Unnamable::new(&module.path, reason)),
        }
    }

    /// The code of one process at one time.
    pub(super) fn of<'a>(&'a self, space: Space<'a>) -> ProcessCode<'a> {
        ProcessCode { space, code: self }
    }
}

/// The code of one process at one time.
pub(super) struct ProcessCode<'a> {
    space: Space<'a>,
    code: &'a Code,
}

impl CodeMap for ProcessCode<'_> {
    fn generation(&self) -> u64 {
        self.space.generation()
    }

    fn at(&self, address: u64) -> CodeAt<'_> {
        if self.space.is_uncertain() {
            return CodeAt::NoImage(EndReason::UncertainMapping);
        }
        let Some(view) = self.space.find(address) else { return CodeAt::Unmapped };
        match self.code.images.get(view.module.id.index()).and_then(Option::as_ref) {
            Some(image) => CodeAt::Image { image, relative_address: view.relative_address(address) },
            None if view.module.kind == ModuleKind::Anonymous => CodeAt::NoImage(EndReason::NoRule),
            None => CodeAt::NoImage(EndReason::NoFile),
        }
    }
}

fn open_host(files: Arc<dyn Files>) -> OpenHost {
    Arc::new(move |path: &Path| {
        let opened = files.open(&Place::Host { path: path.to_owned() });
        opened.map(|opened| opened.handle).map_err(io::Error::other)
    })
}

/// The linker's stubs, by the names that linkers give their sections.
const STUBS: [&str; 4] = [".plt", ".plt.got", ".plt.sec", ".iplt"];

fn unwind_sections(image: &Image) -> UnwindSections {
    let is_stub = |section: &&crate::image::Section| STUBS.contains(&&*section.name);
    let code = || image.sections().iter().filter(|section| section.executable && section.loaded);
    UnwindSections {
        eh_frame_hdr: named(image, ".eh_frame_hdr"),
        eh_frame: named(image, ".eh_frame"),
        debug_frame: named(image, ".debug_frame"),
        stubs: code().filter(is_stub).filter_map(|section| read(image, section)).collect(),
        text: code().filter(|section| !is_stub(section)).filter_map(|section| read(image, section)).collect(),
        entry: Some(image.entry()).filter(|entry| *entry != 0),
    }
}

fn named(image: &Image, name: &str) -> Option<Section> {
    let section = image.sections().iter().find(|section| &*section.name == name)?;
    read(image, section)
}

/// A section's bytes: read later, block by block, unless they must be decompressed whole.
fn read(image: &Image, section: &crate::image::Section) -> Option<Section> {
    if !section.has_bytes {
        return None;
    }
    let bytes = if section.compressed {
        SectionBytes::whole(image.section(&section.name).ok()??.to_vec())
    } else {
        SectionBytes::in_file(Arc::clone(image.file()), section.file_offset, section.size)
    };
    Some(Section { address: section.svma, bytes })
}
