//! Perf events: what one is asked for ([`EventAttributes`]), one that is open ([`Event`]), and the system calls
//! on it as [`Kernel`], which [`Linux`] is and a script can be.

mod attributes;
mod event;
mod kernel;
#[cfg(test)]
pub(crate) mod scripted;

pub use attributes::{
    EventAttributes, EventSource, Inherit, SampleFields, Start, TRAILER_BYTES, USER_REGISTERS,
    USER_REGISTERS_MASK,
};
pub use event::Event;
pub use kernel::{Kernel, Linux, Subject};
