//! Ring buffers that the kernel writes and we read. [`RingMemory`] is the mapping, [`Ring`] its only reader,
//! [`Span`] a stretch of it that is lent out.
//!
//! ```text
//!   page 0          data: a power of two of bytes
//!  ┌──────────────┬─────────────────────────────────────────────┐
//!  │ head, tail,  │ free │ lent spans, oldest first │ not yet   │ free
//!  │ offset, size │      ▲ tail                     ▲ taken     ▲ head
//!  └──────────────┴─────────────────────────────────────────────┘
//! ```
//!
//! Positions count bytes since the mapping was made and never wrap; the place in the data is the position
//! modulo the size. The kernel writes between head and tail + size only.

mod memory;
mod reader;
mod span;

pub use memory::RingMemory;
pub use reader::Ring;
pub use span::{Span, SpanBytes};

#[cfg(test)]
mod tests;
