//! Starts a program that waits at a gate: the process exists, so events can be opened on it, but the program
//! begins only when the gate is opened. It gets the terminal, signals, limits and descriptors that the recorder
//! was given, not those the recorder made for itself.
//!
//! ```text
//!   recorder                       child
//!   fork ────────────────────────▶ default signals, directory, descriptors, limits
//!   arm events on its pid          read(gate)
//!   write(gate) ─────────────────▶ signal mask, exec ──▶ program
//!   read(report) ◀──────────────── nothing (closed by exec), or the step that failed
//! ```
//!
//! If the recorder dies first, the gate reads as closed and the child exits without having run anything.

mod child;
mod command;
mod gate;
mod signals;

pub use command::LaunchCommand;
pub use gate::{Gate, LaunchFailure, LaunchStep};
pub use signals::SignalState;

#[cfg(test)]
mod tests;
