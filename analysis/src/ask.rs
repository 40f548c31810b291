//! A query made ready: its filter resolved, its samples added up, its frames keyed.

use microscope_capture::{MeasureId, Tables};

use crate::both::both;
use crate::keys::KeyMap;
use crate::paths::{Paths, Shape};
use crate::select::Selection;
use crate::weights::{Cost, Quantity, SAMPLES_WORTH_A_THREAD, Weights};
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
        let weigh = || Weights::of(tables, &selection);
        let (weights, (keys, shape)) = if tables.samples.len() < SAMPLES_WORTH_A_THREAD {
            (weigh(), key(tables, query))
        } else {
            both(weigh, || key(tables, query))
        };
        Ok(Self::weighed(tables, selection.measure, weights, keys, shape))
    }

    /// The same for weights that were added up elsewhere.
    pub(crate) fn of_weights(
        tables: &'c Tables,
        query: &Query,
        measure: MeasureId,
        weights: Weights,
    ) -> Self {
        let (keys, shape) = key(tables, query);
        Self::weighed(tables, measure, weights, keys, shape)
    }

    fn weighed(tables: &'c Tables, measure: MeasureId, weights: Weights, keys: KeyMap, shape: Shape) -> Self {
        let paths = Paths::new(shape, &weights);
        Self { tables, measure, keys, weights, paths }
    }

    pub(crate) fn quantity(&self) -> Quantity<'c> {
        Quantity::new(self.tables, self.tables.measures.row(self.measure))
    }

    pub(crate) fn whole(&self) -> Cost {
        self.weights.whole
    }
}

/// What does not depend on samples.
fn key(tables: &Tables, query: &Query) -> (KeyMap, Shape) {
    (KeyMap::new(tables, query.by), Shape::new(tables))
}
