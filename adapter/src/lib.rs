//! The microscope library.
