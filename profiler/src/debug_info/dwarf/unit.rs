//! One unit: where it is, and what its root entry says, parsed when first needed.

use std::sync::{Arc, OnceLock};

use gimli::constants as dw;
use gimli::{
    Abbreviations, AttributeValue, DebugAddrBase, DebugInfoOffset, DebugLineOffset, DebugLocListsBase,
    DebugRngListsBase, DebugStrOffsetsBase, DwarfFileType, EndianSlice, LittleEndian, UnitHeader, UnitOffset,
};

use super::cache::FactsSlot;
use super::files::Files;
use super::naming::Die;
use super::ranges::RangeAttributes;
use super::scopes::Scopes;
use super::sections::{Borrowed, Dwarf, GimliUnit, Slice};

/// A unit of the main or the supplementary file.
pub(super) struct Unit {
    pub(super) offset: usize,
    pub(super) is_supplementary: bool,
    root: OnceLock<Option<Root>>,
    files: OnceLock<Files>,
    scopes: OnceLock<Scopes>,
    /// Kept by the cache, which may drop it again.
    pub(super) facts: FactsSlot,
}

/// What a unit's root entry says, without borrowing.
struct Root {
    abbreviations: Arc<Abbreviations>,
    low_pc: u64,
    str_offsets_base: DebugStrOffsetsBase<usize>,
    addr_base: DebugAddrBase<usize>,
    rnglists_base: DebugRngListsBase<usize>,
    line_program: Option<DebugLineOffset>,
    name: Option<Box<[u8]>>,
    directory: Option<Box<[u8]>>,
}

impl Unit {
    pub(super) fn new(offset: usize, is_supplementary: bool) -> Self {
        Self {
            offset,
            is_supplementary,
            root: OnceLock::new(),
            files: OnceLock::new(),
            scopes: OnceLock::new(),
            facts: FactsSlot::default(),
        }
    }

    /// The entry at `offset` of this unit.
    pub(super) fn die(&self, offset: UnitOffset) -> Die {
        Die { offset: self.offset.saturating_add(offset.0), is_supplementary: self.is_supplementary }
    }

    /// The file this unit is in.
    pub(super) fn dwarf<'b, 'a>(&self, borrowed: &'b Borrowed<'a>) -> Option<&'b Dwarf<'a>> {
        if self.is_supplementary { borrowed.supplementary.as_ref() } else { Some(&borrowed.main) }
    }

    /// The context for reading the unit's entries; `None` when its header or root is malformed.
    pub(super) fn context<'a>(&'a self, borrowed: &Borrowed<'a>) -> Option<GimliUnit<'a>> {
        let dwarf = self.dwarf(borrowed)?;
        let header = dwarf.unit_header(DebugInfoOffset(self.offset)).ok()?;
        let root = self.root.get_or_init(|| Root::parse(dwarf, header)).as_ref()?;
        Some(root.context(header))
    }

    /// The unit's line program.
    pub(super) fn line_program(&self, borrowed: &Borrowed<'_>) -> Option<DebugLineOffset> {
        self.context(borrowed)?;
        self.root.get()?.as_ref()?.line_program
    }

    /// The source files that the unit's lines and declarations name.
    pub(super) fn files<'a>(&'a self, borrowed: &Borrowed<'a>) -> &'a Files {
        self.files.get_or_init(|| Files::parse(self, borrowed).unwrap_or_default())
    }

    /// The namespaces and types of the unit.
    pub(super) fn scopes<'a>(&'a self, borrowed: &Borrowed<'a>) -> &'a Scopes {
        self.scopes.get_or_init(|| {
            self.context(borrowed).map_or_else(Scopes::default, |context| Scopes::parse(&context))
        })
    }
}

impl Root {
    fn parse(dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>) -> Option<Self> {
        let abbreviations = dwarf.abbreviations(&header).ok()?;
        let (context, attributes) = root_attributes(dwarf, header, abbreviations)?;
        let text = |value: Option<AttributeValue<Slice<'_>>>| {
            Some(dwarf.attr_string(&context, value?).ok()?.slice().into())
        };
        Some(Self {
            low_pc: context.low_pc,
            str_offsets_base: context.str_offsets_base,
            addr_base: context.addr_base,
            rnglists_base: context.rnglists_base,
            line_program: attributes.line_program,
            name: text(attributes.name),
            directory: text(attributes.directory),
            abbreviations: context.abbreviations,
        })
    }

    fn context<'a>(&'a self, header: UnitHeader<Slice<'a>>) -> GimliUnit<'a> {
        let slice = |bytes: &'a [u8]| EndianSlice::new(bytes, LittleEndian);
        GimliUnit {
            low_pc: self.low_pc,
            str_offsets_base: self.str_offsets_base,
            addr_base: self.addr_base,
            rnglists_base: self.rnglists_base,
            name: self.name.as_deref().map(slice),
            comp_dir: self.directory.as_deref().map(slice),
            ..bare_context(header, Arc::clone(&self.abbreviations))
        }
    }
}

/// A unit's context before anything is known of its root entry.
fn bare_context(header: UnitHeader<Slice<'_>>, abbreviations: Arc<Abbreviations>) -> GimliUnit<'_> {
    let (encoding, main) = (header.encoding(), DwarfFileType::Main);
    GimliUnit {
        header,
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, main),
        addr_base: DebugAddrBase(0),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, main),
        rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, main),
        line_program: None,
        dwo_id: None,
    }
}

/// What a unit's root entry says besides what the context keeps.
#[derive(Default)]
pub(super) struct RootAttributes<'a> {
    pub(super) ranges: RangeAttributes<'a>,
    line_program: Option<DebugLineOffset>,
    name: Option<AttributeValue<Slice<'a>>>,
    directory: Option<AttributeValue<Slice<'a>>>,
}

/// Reads a unit's root entry, but not its line program, which `gimli` would parse too.
pub(super) fn root_attributes<'a>(
    dwarf: &Dwarf<'a>,
    header: UnitHeader<Slice<'a>>,
    abbreviations: Arc<Abbreviations>,
) -> Option<(GimliUnit<'a>, RootAttributes<'a>)> {
    let mut found = RootAttributes::default();
    let mut context = bare_context(header, abbreviations);
    let shared = Arc::clone(&context.abbreviations);
    let mut entries = header.entries_raw(&shared, None).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    for spec in abbreviation.attributes() {
        let attribute = entries.read_attribute(*spec).ok()?;
        found.ranges.see(&attribute);
        match (attribute.name(), attribute.value()) {
            (dw::DW_AT_name, value) => found.name = Some(value),
            (dw::DW_AT_comp_dir, value) => found.directory = Some(value),
            (dw::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => found.line_program = Some(offset),
            (dw::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => {
                context.str_offsets_base = base
            }
            (dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base, AttributeValue::DebugAddrBase(base)) => {
                context.addr_base = base
            }
            (
                dw::DW_AT_rnglists_base | dw::DW_AT_GNU_ranges_base,
                AttributeValue::DebugRngListsBase(base),
            ) => {
                context.rnglists_base = base;
            }
            _ => {}
        }
    }
    context.low_pc = found.ranges.low_pc(dwarf, &context).unwrap_or(0);
    Some((context, found))
}
