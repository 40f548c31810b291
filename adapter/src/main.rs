//! The `microscope` command.

fn main() {}
