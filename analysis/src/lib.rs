//! Pure questions over a capture.
