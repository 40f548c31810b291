//! One file's unwind sections: which description covers an address.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::SectionBytes;
use super::entry::{ENTRY_BYTES_MAX, Head, SectionKind};
use super::search::{HeaderTable, Index, Place};

/// A section and the address its file states for it.
#[derive(Debug)]
pub struct Section {
    /// The relative address of the first byte; 0 for sections that are not loaded.
    pub address: u64,
    /// Its bytes, decompressed.
    pub bytes: SectionBytes,
}

impl Section {
    /// Bytes at a relative address, as far as the section reaches.
    pub(super) fn at(&self, address: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        let offset = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(offset, len.min(self.bytes.len().checked_sub(offset)?))
    }
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
    table: Option<HeaderTable>,
    index: OnceLock<Index>,
}

impl UnwindImage {
    /// Takes the sections of a file; reads no more than the head of the search table.
    #[must_use]
    pub fn new(sections: UnwindSections) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let id = ImageId(NEXT.fetch_add(1, Ordering::Relaxed));
        let table = sections.eh_frame_hdr.as_ref().and_then(HeaderTable::parse);
        Self { id, sections, table, index: OnceLock::new() }
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

    /// Whether some rules can only be found after [`UnwindImage::index`], which has not run: descriptions
    /// without a usable search table. Until then stacks that need one end with `EndReason::NotIndexed`.
    #[must_use]
    pub fn needs_index(&self) -> bool {
        self.index.get().is_none() && self.has_unlisted()
    }

    /// Builds the missing search table by scanning the sections; on any thread, once. Takes about 20 ms per
    /// 100,000 functions. Does nothing for an image that needs none.
    pub fn index(&self) {
        if !self.has_unlisted() {
            return;
        }
        self.index.get_or_init(|| {
            let mut index = Index::default();
            if let (Some(section), None) = (&self.sections.eh_frame, self.table) {
                index.scan(SectionKind::EhFrame, section);
            }
            if let Some(section) = &self.sections.debug_frame {
                index.scan(SectionKind::DebugFrame, section);
            }
            index.finish();
            index
        });
    }

    fn has_unlisted(&self) -> bool {
        self.sections.debug_frame.is_some() || (self.table.is_none() && self.sections.eh_frame.is_some())
    }

    /// The description the linker's table names for an address; it may not cover it.
    pub(super) fn listed(&self, address: u64) -> Option<Place> {
        let bytes = &self.sections.eh_frame_hdr.as_ref()?.bytes;
        let description = self.table?.description_before(bytes, address)?;
        let offset = description.checked_sub(self.sections.eh_frame.as_ref()?.address)?;
        Some(Place { kind: SectionKind::EhFrame, offset })
    }

    /// The description the built index names for an address; it may not cover it.
    pub(super) fn indexed(&self, address: u64) -> Option<Place> {
        self.index.get()?.description_before(address)
    }

    /// A section of entries.
    pub(super) fn entries(&self, kind: SectionKind) -> Option<&Section> {
        match kind {
            SectionKind::EhFrame => self.sections.eh_frame.as_ref(),
            SectionKind::DebugFrame => self.sections.debug_frame.as_ref(),
        }
    }

    /// The head and the bytes of an entry.
    pub(super) fn entry(&self, place: Place) -> Option<(Head, Cow<'_, [u8]>)> {
        let bytes = &self.entries(place.kind)?.bytes;
        let offset = usize::try_from(place.offset).ok()?;
        let head = bytes.get(offset, Head::BYTES_MAX.min(bytes.len().checked_sub(offset)?))?;
        let head = Head::parse(place.kind, place.offset, &head).ok()??;
        (head.len <= ENTRY_BYTES_MAX).then_some(())?;
        Some((head, bytes.get(offset, head.len)?))
    }

    /// Instructions at an address of an executable section; fewer than wanted at its end.
    pub(super) fn code(&self, address: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        self.sections.text.iter().chain(&self.sections.stubs).find_map(|section| section.at(address, len))
    }
}
