//! From the kernel's ring to capture rows.
//!
//! A sample's way, in module order: `sys` (rings) → `collector` → bounded queue → `records` → `order` →
//! `tracking` → `unwind` → `annotate` → `microscope_capture::Builder`. Names arrive beside it from
//! `debug_info`; `image` reads the ELF files all of them need; `files` is the only way out of the processor.
#![deny(unsafe_code)]

pub mod annotate;
pub mod collector;
pub mod debug_info;
pub mod files;
pub mod image;
pub mod naming;
pub mod options;
pub mod order;
pub mod processor;
pub mod rawlog;
pub mod records;
pub mod registers;
pub mod session;
pub mod sources;
pub mod sys;
pub mod tracking;
pub mod unwind;
