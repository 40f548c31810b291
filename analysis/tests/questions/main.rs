//! What views must answer, as text in and text out; then the rules that hold for every capture.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod any_capture;
mod exports;
mod flat;
mod fold;
mod lines;
mod overlays;
mod properties;
mod sketch;
mod tree;
mod worth;
