//! A profile whose ids and texts were checked: what is looked up here exists or is an error.

use rustc_hash::FxHashMap;

use super::PprofError;
use super::proto::{self, Function, Location, Mapping, Sample};

/// The messages, indexed by their ids.
pub(super) struct Profile<'a> {
    pub(super) message: &'a proto::Profile,
    mappings: FxHashMap<u64, &'a Mapping>,
    functions: FxHashMap<u64, &'a Function>,
    locations: FxHashMap<u64, usize>,
}

impl<'a> Profile<'a> {
    /// Checks strings, ids and the number of each sample's values.
    pub(super) fn check(message: &'a proto::Profile) -> Result<Self, PprofError> {
        if message.string_table.first().is_none_or(|first| !first.is_empty()) {
            return Err(PprofError::FirstString);
        }
        if message.sample_type.is_empty() {
            return Err(PprofError::NoSampleTypes);
        }
        let expected = message.sample_type.len();
        if let Some((sample, found)) = first_odd(&message.sample, expected) {
            return Err(PprofError::ValueCount { sample, expected, found });
        }
        Ok(Self {
            message,
            mappings: index("mapping", message.mapping.iter().map(|mapping| (mapping.id, mapping)))?,
            functions: index("function", message.function.iter().map(|function| (function.id, function)))?,
            locations: index("location", message.location.iter().map(|l| l.id).zip(0..))?,
        })
    }

    /// A text that `place` names by its index.
    pub(super) fn text(&self, place: &'static str, at: i64) -> Result<&'a str, PprofError> {
        let strings = &self.message.string_table;
        let text = usize::try_from(at).ok().and_then(|at| strings.get(at));
        text.map(String::as_str).ok_or(PprofError::NoSuchString { place, index: at, strings: strings.len() })
    }

    /// The mapping of a location; 0 is none.
    pub(super) fn mapping(&self, location: &Location) -> Result<Option<&'a Mapping>, PprofError> {
        let id = location.mapping_id;
        match self.mappings.get(&id) {
            None if id != 0 => Err(PprofError::NoSuchId { place: "a location", what: "mapping", id }),
            mapping => Ok(mapping.copied()),
        }
    }

    /// The function of a line.
    pub(super) fn function(&self, id: u64) -> Result<&'a Function, PprofError> {
        let missing = PprofError::NoSuchId { place: "a line", what: "function", id };
        self.functions.get(&id).copied().ok_or(missing)
    }

    /// The place of a location in the profile's list.
    pub(super) fn location(&self, id: u64) -> Result<usize, PprofError> {
        let missing = PprofError::NoSuchId { place: "a sample", what: "location", id };
        self.locations.get(&id).copied().ok_or(missing)
    }

    /// The name of the type to show first: the default, else the last, as pprof does.
    pub(super) fn default_type(&self) -> Result<&'a str, PprofError> {
        let default = self.text("default_sample_type", self.message.default_sample_type)?;
        match self.message.sample_type.last() {
            Some(last) if default.is_empty() => self.text("a sample type", last.r#type),
            _ => Ok(default),
        }
    }
}

fn first_odd(samples: &[Sample], expected: usize) -> Option<(usize, usize)> {
    samples.iter().map(|sample| sample.value.len()).enumerate().find(|(_, found)| *found != expected)
}

fn index<V>(
    what: &'static str,
    rows: impl Iterator<Item = (u64, V)>,
) -> Result<FxHashMap<u64, V>, PprofError> {
    let mut index = FxHashMap::default();
    for (id, row) in rows {
        if id == 0 || index.insert(id, row).is_some() {
            return Err(PprofError::BadId { what, id });
        }
    }
    Ok(index)
}
