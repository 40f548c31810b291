//! A query made ready: its filter resolved, its samples added up, its frames keyed.

use microscope_capture::{MeasureId, Tables};

use crate::keys::KeyMap;
use crate::paths::Paths;
use crate::select::Selection;
use crate::weights::{Cost, Quantity, Weights};
use crate::{Query, QueryError};

/// What the views of costs start from.
pub(crate) struct Question<'c> {
    pub(crate) tables: &'c Tables,
    pub(crate) measure: MeasureId,
    pub(crate) keys: KeyMap,
    pub(crate) weights: Weights,
    pub(crate) paths: Paths,
}

impl<'c> Question<'c> {
    pub(crate) fn new(tables: &'c Tables, query: &Query) -> Result<Self, QueryError> {
        let selection = Selection::new(tables, query)?;
        Ok(Self::weighed(tables, query, selection.measure, Weights::of(tables, &selection)))
    }

    /// The same for weights that were added up elsewhere.
    pub(crate) fn weighed(tables: &'c Tables, query: &Query, measure: MeasureId, weights: Weights) -> Self {
        let keys = KeyMap::new(tables, query.by);
        let paths = Paths::new(tables, &weights);
        Self { tables, measure, keys, weights, paths }
    }

    pub(crate) fn quantity(&self) -> Quantity<'c> {
        Quantity::new(self.tables, self.tables.measures.row(self.measure))
    }

    pub(crate) fn whole(&self) -> Cost {
        self.weights.whole
    }
}
