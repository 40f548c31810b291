//! The `microscope` command: everything is in the library.

fn main() -> std::process::ExitCode {
    microscope_adapter::cli::main()
}
