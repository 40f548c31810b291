#![no_main]
//! See `microscope_tests::fuzz::read_image`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::read_image(bytes));
