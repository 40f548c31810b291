//! The DWARF sections of a module, owned, and the borrowed view that `gimli` reads.

use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId};

use crate::image::{Image, ImageError, SectionData};

/// Bytes of a section.
pub(super) type Slice<'a> = EndianSlice<'a, LittleEndian>;
/// The view of all sections; cheap to make.
pub(super) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
/// A unit's context for reading its entries.
pub(super) type GimliUnit<'a> = gimli::Unit<Slice<'a>>;

/// The owned sections.
pub(super) struct Sections {
    main: DwarfSections<SectionData>,
    supplementary: Option<DwarfSections<SectionData>>,
}

/// Borrowed views of the main and the supplementary file.
pub(super) struct Borrowed<'a> {
    /// The module's own; its strings may be in the supplementary file.
    pub(super) main: Dwarf<'a>,
    /// The supplementary file's, with entries that the main file's refer to.
    pub(super) supplementary: Option<Dwarf<'a>>,
}

impl Sections {
    pub(super) fn load(image: &Image, supplementary: Option<&Image>) -> Result<Self, ImageError> {
        Ok(Self { main: load(image)?, supplementary: supplementary.map(load).transpose()? })
    }

    /// Whether there is no debug information.
    pub(super) fn is_empty(&self) -> bool {
        let borrowed = self.main.borrow(slice);
        borrowed.units().next().ok().flatten().is_none()
    }

    pub(super) fn borrow(&self) -> Borrowed<'_> {
        Borrowed {
            main: self.main.borrow_with_sup(self.supplementary.as_ref(), slice),
            supplementary: self.supplementary.as_ref().map(|sections| sections.borrow(slice)),
        }
    }
}

fn slice(data: &SectionData) -> Slice<'_> {
    EndianSlice::new(data, LittleEndian)
}

fn load(image: &Image) -> Result<DwarfSections<SectionData>, ImageError> {
    DwarfSections::load(|id| {
        let data = if is_needed(id) { image.section(id.name())? } else { None };
        Ok(data.unwrap_or_else(|| SectionData::new(0, Vec::new())))
    })
}

/// The sections that names, chains and lines come from; variables and macros are not read.
fn is_needed(id: SectionId) -> bool {
    matches!(
        id,
        SectionId::DebugAbbrev
            | SectionId::DebugAddr
            | SectionId::DebugAranges
            | SectionId::DebugInfo
            | SectionId::DebugLine
            | SectionId::DebugLineStr
            | SectionId::DebugRanges
            | SectionId::DebugRngLists
            | SectionId::DebugStr
            | SectionId::DebugStrOffsets
    )
}
