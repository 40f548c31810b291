//! A scripted kernel: what this machine cannot be made to do on demand, as bytes that a real one would write.
//!
//! [`Kernel`] takes a script (fork, map, sample, lose, …) and gives the deliveries that a collector would hand over.
//! [`record`] passes them through the real processor. Only behavior that was seen on a real kernel is modeled
//! (the layouts are those of `linux/perf_event.h`); to model more, look at a real one first.

mod kernel;
mod recording;

use kernel::PERIOD_NS;
pub use kernel::{Kernel, Map, Thread, layouts};
pub use recording::record;
