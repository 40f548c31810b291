//! Opens captures and answers questions about them, for every front end alike.

pub mod annotation;
pub mod open;
pub mod query;
pub mod sources;
