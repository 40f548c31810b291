//! Perf events: what one is asked for ([`EventAttributes`]), one that is open ([`Event`]), and the system calls
//! on it as [`Kernel`], which [`Linux`] is and a script can be.

mod attributes;
mod event;
mod kernel;
#[cfg(test)]
pub(crate) mod scripted;

pub use attributes::{EventAttributes, EventSource, Inherit, SampleFields, Start};
pub use event::Event;
pub use kernel::{Kernel, Linux, Subject};
