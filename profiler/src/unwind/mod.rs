//! From one sample's registers and copied stack bytes to its stack of addresses.
//!
//! [`Unwinder::walk`] takes a [`SampledInput`], asks a [`CodeMap`] which [`UnwindImage`] holds each address,
//! and writes [`RawFrame`]s, innermost first, into the caller's vector. Every walk says why it ended
//! ([`WalkEnd`]). Rules come from call-frame information, compiled when an address is first met
//! and cached after; the frame-pointer chain is separate evidence that a [`StackPolicy`] may allow.
//!
//! Invariant: no frame follows a step that was not proved.

mod apply;
mod bytes;
mod cache;
mod code_map;
mod entry;
mod expression;
mod finder;
mod frame_pointers;
mod image;
mod input;
mod packed;
mod program;
mod reader;
mod rule;
mod seam;
mod search;
mod step;
mod stubs;
#[cfg(test)]
mod tests;
mod walk;

pub use crate::options::StackPolicy;
pub use bytes::SectionBytes;
pub use code_map::{CodeAt, CodeMap};
pub use image::{ImageId, Section, UnwindImage, UnwindSections};
pub use input::{RawFrame, RawFrameKind, SampledInput, WalkEnd};
pub use reader::StackReader;
pub use walk::{Counters, DEPTH_LIMIT, Unwinder};
