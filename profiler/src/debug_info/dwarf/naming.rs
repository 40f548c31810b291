//! Names of functions by their entries, following entries that refer to others, also across units and files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::constants as dw;
use gimli::{Attribute, AttributeValue, DwTag, UnitOffset};
use microscope_capture::FunctionFlags;
use rustc_hash::FxBuildHasher;

use super::index::UnitIndex;
use super::sections::{Borrowed, GimliUnit, Slice};
use super::unit::Unit;
use crate::debug_info::demangle::{cut, demangle, is_mangled};
use crate::debug_info::{FunctionName, SourceFile};

/// Entries that are followed from one to the next; compilers chain two or three.
const REFERENCES_MAX: usize = 16;
/// Names that are kept; more are made anew.
const NAMES_MAX: usize = 1 << 18;

/// An entry of `.debug_info`, by its offset in the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) struct Die {
    pub(super) offset: usize,
    pub(super) is_supplementary: bool,
}

impl Die {
    /// The entry that an attribute of an entry in `unit` refers to.
    pub(super) fn referred(unit: &Unit, value: AttributeValue<Slice<'_>>) -> Option<Self> {
        match value {
            AttributeValue::UnitRef(offset) => Some(unit.die(offset)),
            AttributeValue::DebugInfoRef(offset) => {
                Some(Self { offset: offset.0, is_supplementary: unit.is_supplementary })
            }
            AttributeValue::DebugInfoRefSup(offset) => {
                Some(Self { offset: offset.0, is_supplementary: true })
            }
            _ => None,
        }
    }

    /// Its offset in `unit`.
    fn in_unit(self, unit: &Unit) -> Option<UnitOffset> {
        self.offset.checked_sub(unit.offset).map(UnitOffset)
    }
}

/// The names made so far.
#[derive(Default)]
pub(super) struct Names(Mutex<HashMap<Die, Arc<FunctionName>, FxBuildHasher>>);

impl Names {
    /// The function that `die` describes; its address and flags are left for the caller to fill in.
    pub(super) fn of(&self, borrowed: &Borrowed<'_>, index: &UnitIndex, die: Die) -> Arc<FunctionName> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&die) {
            return Arc::clone(known);
        }
        let made = Arc::new(Description::of(borrowed, index, die).into_name(borrowed, index));
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() < NAMES_MAX {
            return Arc::clone(names.entry(die).or_insert(made));
        }
        made
    }
}

/// What an entry and those it refers to say of a function; the nearest word counts.
#[derive(Default)]
struct Description {
    name: Option<String>,
    /// The entry that has the name: its place tells the namespaces.
    named_at: Option<Die>,
    linkage_name: Option<String>,
    file: Option<Arc<SourceFile>>,
    line: u32,
}

impl Description {
    fn of<'a>(borrowed: &Borrowed<'a>, index: &'a UnitIndex, die: Die) -> Self {
        let mut description = Self::default();
        let mut next = Some(die);
        for _ in 0..REFERENCES_MAX {
            let Some(die) = next else { break };
            next = description.see(borrowed, index, die);
        }
        description
    }

    /// Takes what `die` says; returns the entry it refers to.
    fn see<'a>(&mut self, borrowed: &Borrowed<'a>, index: &'a UnitIndex, die: Die) -> Option<Die> {
        let unit = index.unit_of(die)?;
        let context = unit.context(borrowed)?;
        let mut referred = None;
        for attribute in attributes_at(&context, die.in_unit(unit)?) {
            let text = || text_of(borrowed, unit, &context, attribute.value());
            match attribute.name() {
                dw::DW_AT_name if self.name.is_none() => (self.name, self.named_at) = (text(), Some(die)),
                dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name if self.linkage_name.is_none() => {
                    self.linkage_name = text();
                }
                dw::DW_AT_decl_file if self.file.is_none() => self.file = file_of(borrowed, unit, &attribute),
                dw::DW_AT_decl_line if self.line == 0 => self.line = line_of(&attribute),
                dw::DW_AT_abstract_origin | dw::DW_AT_specification => {
                    referred = Die::referred(unit, attribute.value())
                }
                _ => {}
            }
        }
        referred
    }

    /// The demangled linkage name, else the plain name with its namespaces.
    fn into_name(self, borrowed: &Borrowed<'_>, index: &UnitIndex) -> FunctionName {
        let demangled =
            self.linkage_name.as_deref().map(|linkage_name| (linkage_name, demangle(linkage_name)));
        let name = match (demangled, &self.name) {
            // One that cannot be demangled says less to a person than the plain name.
            (Some((linkage_name, name)), plain)
                if plain.is_none() || name != linkage_name || !is_mangled(&name) =>
            {
                name
            }
            (_, Some(name)) => cut(&(self.scope(borrowed, index) + name)).to_owned(),
            (_, None) => "(unnamed)".to_owned(),
        };
        FunctionName {
            name: name.into(),
            linkage_name: cut(&self.linkage_name.unwrap_or_default()).into(),
            decl_file: self.file,
            decl_line: self.line,
            relative_address: 0,
            flags: FunctionFlags::Plain,
        }
    }

    /// The namespaces and types around the name, each with `::`.
    fn scope(&self, borrowed: &Borrowed<'_>, index: &UnitIndex) -> String {
        let place = self.named_at.and_then(|die| {
            let unit = index.unit_of(die)?;
            Some((unit, unit.context(borrowed)?, die.in_unit(unit)?))
        });
        let Some((unit, context, offset)) = place else { return String::new() };
        let scopes = unit.scopes(borrowed).around(offset);
        scopes.iter().map(|scope| self.scope_name(borrowed, unit, &context, *scope) + "::").collect()
    }

    fn scope_name(
        &self,
        borrowed: &Borrowed<'_>,
        unit: &Unit,
        context: &GimliUnit<'_>,
        scope: UnitOffset,
    ) -> String {
        let (tag, attributes) = entry_at(context, scope);
        let name = attributes.iter().find(|attribute| attribute.name() == dw::DW_AT_name);
        let name = name.and_then(|attribute| text_of(borrowed, unit, context, attribute.value()));
        name.unwrap_or_else(|| {
            let unnamed = match (tag, self.name.as_deref()) {
                (dw::DW_TAG_namespace, _) => "(anonymous namespace)",
                (_, Some("operator()")) => "{lambda}",
                _ => "(unnamed type)",
            };
            unnamed.to_owned()
        })
    }
}

/// The attributes of the entry at `offset`; none when it is malformed.
fn attributes_at<'a>(context: &GimliUnit<'a>, offset: UnitOffset) -> Vec<Attribute<Slice<'a>>> {
    entry_at(context, offset).1
}

/// What the entry at `offset` is, and its attributes; none when it is malformed.
fn entry_at<'a>(context: &GimliUnit<'a>, offset: UnitOffset) -> (DwTag, Vec<Attribute<Slice<'a>>>) {
    let mut attributes = Vec::new();
    let mut tag = dw::DW_TAG_null;
    let Ok(mut entries) = context.entries_raw(Some(offset)) else { return (tag, attributes) };
    if let Ok(Some(abbreviation)) = entries.read_abbreviation() {
        tag = abbreviation.tag();
        if entries.read_attributes(abbreviation.attributes(), &mut attributes).is_err() {
            attributes.clear();
        }
    }
    (tag, attributes)
}

fn text_of(
    borrowed: &Borrowed<'_>,
    unit: &Unit,
    context: &GimliUnit<'_>,
    value: AttributeValue<Slice<'_>>,
) -> Option<String> {
    let bytes = unit.dwarf(borrowed)?.attr_string(context, value).ok()?;
    Some(cut(&String::from_utf8_lossy(bytes.slice())).to_owned()).filter(|text| !text.is_empty())
}

fn file_of<'a>(
    borrowed: &Borrowed<'a>,
    unit: &'a Unit,
    attribute: &Attribute<Slice<'_>>,
) -> Option<Arc<SourceFile>> {
    match attribute.value() {
        AttributeValue::FileIndex(number) => unit.files(borrowed).get(number),
        value => unit.files(borrowed).get(value.udata_value()?),
    }
}

fn line_of(attribute: &Attribute<Slice<'_>>) -> u32 {
    attribute.udata_value().and_then(|line| line.try_into().ok()).unwrap_or(0)
}
