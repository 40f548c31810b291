//! The rule of an address in an image: the cold half of the unwinder.

use microscope_capture::EndReason;
use rustc_hash::FxHashMap;

use super::apply::GeneralRule;
use super::entry::{Common, Description};
use super::program::RuleBuffer;
use super::rule::Rule;
use super::search::Place;
use super::stubs::{self, Proved};
use super::{ImageId, UnwindImage};

/// Common entries kept at once; a file has a handful.
const COMMONS_MAX: usize = 4096;
/// The longest common entry that is read. Compilers write 20 to 40 bytes.
const COMMON_BYTES_MAX: usize = 4096;
/// The longest description that is copied for the expressions in it.
const COPIED_BYTES_MAX: usize = 64 * 1024;

/// Where the expressions lie that the found rule may hold.
#[derive(Debug)]
pub(super) enum Source {
    /// In these entries: the description's and the common one's.
    Entries(Place, Place),
    /// The rule was proved from instructions; these stand for the common entry.
    Proved(Vec<u8>),
}

/// Finds rules, keeping what many descriptions share.
#[derive(Debug, Default)]
pub(super) struct Finder {
    commons: Commons,
    found: RuleBuffer,
}

impl Finder {
    /// Finds the rule at a relative address, to be read by [`Finder::rule`]. `is_caller` says that the
    /// address is one before a return address.
    pub(super) fn find(
        &mut self,
        image: &UnwindImage,
        address: u64,
        is_caller: bool,
    ) -> Result<Source, EndReason> {
        let listed_to = match self.look(image, image.listed(address), address)? {
            Ok(source) => return Ok(source),
            Err(described_to) => described_to,
        };
        let described_to = match self.look(image, image.indexed(address), address)? {
            Ok(source) => return Ok(source),
            Err(described_to) => described_to.max(listed_to),
        };
        let missing = if image.needs_index() { EndReason::NotIndexed } else { EndReason::NoRule };
        let proved = undescribed(image, address, is_caller, described_to).ok_or(missing)?;
        self.found.rule = proved.rule;
        Ok(Source::Proved(proved.expressions))
    }

    /// The rule that was found last.
    pub(super) fn rule(&self) -> &Rule {
        &self.found.rule
    }

    /// The rule that was found last, with its own copy of the expressions it holds.
    pub(super) fn general(&mut self, image: &UnwindImage, source: Source) -> Result<GeneralRule, EndReason> {
        let rule = self.found.rule;
        let (place, common_place) = match source {
            _ if !rule.has_expression() => return Ok(GeneralRule::new(rule, &[], &[])),
            Source::Proved(expressions) => return Ok(GeneralRule::new(rule, &expressions, &[])),
            Source::Entries(place, common_place) => (place, common_place),
        };
        let entry = image.entry(place).filter(|(head, _)| head.len <= COPIED_BYTES_MAX);
        let (_, description) = entry.ok_or(EndReason::BadRule)?;
        let common = self.commons.get(image, common_place)?;
        Ok(GeneralRule::new(rule, &common.bytes, &description))
    }

    /// Finds the rule in a description, if it covers the address; else says where it ends.
    fn look(
        &mut self,
        image: &UnwindImage,
        place: Option<Place>,
        address: u64,
    ) -> Result<Result<Source, u64>, EndReason> {
        let Some(place) = place else { return Ok(Err(0)) };
        let (head, bytes) = image.entry(place).ok_or(EndReason::BadRule)?;
        let common_place = Place { offset: head.common.ok_or(EndReason::BadRule)?, ..place };
        let common = self.commons.get(image, common_place)?;
        let section = image.entries(place.kind).ok_or(EndReason::BadRule)?;
        let entry_address = section.address.wrapping_add(place.offset);
        let description =
            Description::parse(head, &bytes, entry_address, common).map_err(|_| EndReason::BadRule)?;
        if !description.covers(address) {
            return Ok(Err(description.first.saturating_add(description.len)));
        }
        description.rule_at(address, common, &mut self.found).map_err(|_| EndReason::BadRule)?;
        Ok(Ok(Source::Entries(place, common_place)))
    }
}

/// Common entries by image and place.
#[derive(Debug, Default)]
struct Commons {
    entries: Vec<Common>,
    index: FxHashMap<(ImageId, Place), usize>,
    /// The last one asked for: most descriptions of a file have the same.
    last: Option<((ImageId, Place), usize)>,
}

impl Commons {
    fn get(&mut self, image: &UnwindImage, place: Place) -> Result<&Common, EndReason> {
        let key = (image.id(), place);
        let index = match self.last {
            Some((last, index)) if last == key => index,
            _ => self.find(image, place)?,
        };
        self.last = Some((key, index));
        self.entries.get(index).ok_or(EndReason::BadRule)
    }

    fn find(&mut self, image: &UnwindImage, place: Place) -> Result<usize, EndReason> {
        let key = (image.id(), place);
        if let Some(index) = self.index.get(&key) {
            return Ok(*index);
        }
        if self.entries.len() >= COMMONS_MAX {
            *self = Self::default();
        }
        let entry = image.entry(place).filter(|(head, _)| head.len <= COMMON_BYTES_MAX);
        let (_, bytes) = entry.ok_or(EndReason::BadRule)?;
        self.entries.push(Common::parse(place.kind, &bytes).map_err(|_| EndReason::BadRule)?);
        let index = self.entries.len() - 1;
        self.index.insert(key, index);
        Ok(index)
    }
}

/// The rule of code that no description covers: only what its instructions prove.
fn undescribed(image: &UnwindImage, address: u64, is_caller: bool, described_to: u64) -> Option<Proved> {
    let proved = if is_caller {
        stubs::signal_return(image, address.wrapping_add(1))
    } else {
        stubs::stub(image, address).or_else(|| stubs::signal_return(image, address))
    };
    proved.or_else(|| stubs::program_entry(image, address, described_to))
}
