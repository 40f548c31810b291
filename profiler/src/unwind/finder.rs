//! The rule of an address in an image: the cold half of the unwinder.

use microscope_capture::EndReason;
use rustc_hash::FxHashMap;

use super::apply::GeneralRule;
use super::entry::{Common, Description};
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

/// A rule, and where the expressions it may hold lie.
pub(super) struct Found {
    /// The rule.
    pub rule: Rule,
    source: Source,
}

enum Source {
    /// In these entries: the description's and the common one's.
    Entries(Place, Place),
    /// The rule was proved from instructions; these stand for the common entry.
    Proved(Vec<u8>),
}

impl From<Proved> for Found {
    fn from(proved: Proved) -> Self {
        Self { rule: proved.rule, source: Source::Proved(proved.expressions) }
    }
}

/// Finds rules, keeping what many descriptions share.
#[derive(Debug, Default)]
pub(super) struct Finder {
    commons: FxHashMap<(ImageId, Place), Common>,
    /// Scratch of running programs.
    remembered: Vec<Rule>,
}

/// What a search table said of an address.
enum Looked {
    /// The rule.
    Found(Found),
    /// No description covers it; the one before it reaches to here.
    Uncovered { described_to: u64 },
}

impl Finder {
    /// The rule at a relative address. `is_caller` says that it is one before a return address.
    pub(super) fn find(
        &mut self,
        image: &UnwindImage,
        address: u64,
        is_caller: bool,
    ) -> Result<Found, EndReason> {
        let listed_to = match self.look(image, image.listed(address), address)? {
            Looked::Found(found) => return Ok(found),
            Looked::Uncovered { described_to } => described_to,
        };
        match self.look(image, image.indexed(address), address)? {
            Looked::Found(found) => Ok(found),
            Looked::Uncovered { described_to } => {
                undescribed(image, address, is_caller, described_to.max(listed_to))
            }
        }
    }

    /// The rule with its own copy of the expressions it holds.
    pub(super) fn general(&self, image: &UnwindImage, found: Found) -> Result<GeneralRule, EndReason> {
        let (place, common_place) = match found.source {
            _ if !found.rule.has_expression() => return Ok(GeneralRule::new(found.rule, &[], &[])),
            Source::Proved(expressions) => return Ok(GeneralRule::new(found.rule, &expressions, &[])),
            Source::Entries(place, common_place) => (place, common_place),
        };
        let entry = image.entry(place).filter(|(head, _)| head.len <= COPIED_BYTES_MAX);
        let (_, description) = entry.ok_or(EndReason::BadRule)?;
        let common = self.commons.get(&(image.id(), common_place)).ok_or(EndReason::BadRule)?;
        Ok(GeneralRule::new(found.rule, &common.bytes, &description))
    }

    fn look(&mut self, image: &UnwindImage, place: Option<Place>, address: u64) -> Result<Looked, EndReason> {
        let Some(place) = place else { return Ok(Looked::Uncovered { described_to: 0 }) };
        let (head, bytes) = image.entry(place).ok_or(EndReason::BadRule)?;
        let common_place = Place { offset: head.common.ok_or(EndReason::BadRule)?, ..place };
        let common = common_entry(&mut self.commons, image, common_place)?;
        let section = image.entries(place.kind).ok_or(EndReason::BadRule)?;
        let entry_address = section.address.wrapping_add(place.offset);
        let description =
            Description::parse(head, &bytes, entry_address, common).map_err(|_| EndReason::BadRule)?;
        if !description.covers(address) {
            let described_to = description.first.saturating_add(description.len);
            return Ok(Looked::Uncovered { described_to });
        }
        let rule =
            description.rule_at(address, common, &mut self.remembered).map_err(|_| EndReason::BadRule)?;
        Ok(Looked::Found(Found { rule, source: Source::Entries(place, common_place) }))
    }
}

fn common_entry<'a>(
    commons: &'a mut FxHashMap<(ImageId, Place), Common>,
    image: &UnwindImage,
    place: Place,
) -> Result<&'a Common, EndReason> {
    let key = (image.id(), place);
    if !commons.contains_key(&key) {
        if commons.len() >= COMMONS_MAX {
            commons.clear();
        }
        let entry = image.entry(place).filter(|(head, _)| head.len <= COMMON_BYTES_MAX);
        let (_, bytes) = entry.ok_or(EndReason::BadRule)?;
        commons.insert(key, Common::parse(place.kind, &bytes).map_err(|_| EndReason::BadRule)?);
    }
    commons.get(&key).ok_or(EndReason::BadRule)
}

/// The rule of code that no description covers: only what its instructions prove.
fn undescribed(
    image: &UnwindImage,
    address: u64,
    is_caller: bool,
    described_to: u64,
) -> Result<Found, EndReason> {
    let proved = if is_caller {
        stubs::signal_return(image, address.wrapping_add(1))
    } else {
        stubs::stub(image, address).or_else(|| stubs::signal_return(image, address))
    };
    let proved = proved.or_else(|| stubs::program_entry(image, address, described_to));
    let missing = if image.needs_index() { EndReason::NotIndexed } else { EndReason::NoRule };
    proved.map(Found::from).ok_or(missing)
}
