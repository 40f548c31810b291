//! The bundled sample program: a small workload whose costs are known, run by `microscope demo`.

mod workload;

pub use workload::{PATH, SOURCE, run};
