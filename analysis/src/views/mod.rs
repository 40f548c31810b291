//! One file per question. Every result states its quantity once and orders its rows totally.

mod edges;
mod ends;
mod flat;
mod lines;
mod losses;
mod summary;
mod threads;
mod timeline;
mod tree;

pub use edges::{EdgeRow, Edges, callees, callers};
pub use ends::{EndRow, Ends, Remedy, ends};
pub use flat::{Flat, FlatRow, flat};
pub use lines::{LineRow, Lines, lines};
pub use losses::{FailureRow, LossRow, Losses, Tried, losses};
pub use summary::{CpuTime, ProcessRow, Recording, Summary, summary};
pub use threads::{ThreadRow, Threads, threads};
pub use timeline::{Lane, Timeline, timeline};
pub use tree::{Hidden, Tree, TreeOptions, TreeOrder, TreeRow, tree};

pub(crate) use flat::{KeyCosts, of as flat_of};
pub(crate) use lines::of as lines_of;
pub(crate) use losses::lost_samples;
pub(crate) use summary::cpu_time;
pub(crate) use threads::of as threads_of;
pub(crate) use tree::of as tree_of;
