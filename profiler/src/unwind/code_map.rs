//! What the unwinder asks of an address space: which code lies at an address.

use microscope_capture::EndReason;

use super::UnwindImage;

/// The code of one address space at one time.
pub trait CodeMap {
    /// Names the answers of [`CodeMap::at`]: equal numbers promise equal answers for every address.
    ///
    /// A number is never used again for other answers, in this address space or in another. Address spaces
    /// with the same mappings (after a fork) may share one and then share cached rules.
    fn generation(&self) -> u64;

    /// What lies at an absolute address.
    fn at(&self, address: u64) -> CodeAt<'_>;
}

/// What lies at an address.
#[derive(Debug, Clone, Copy)]
pub enum CodeAt<'a> {
    /// Executable code of a file whose unwind sections are at hand.
    Image {
        /// The file's unwind sections.
        image: &'a UnwindImage,
        /// The address as the file states it: `address - mapping.start + mapping.relative_start`.
        relative_address: u64,
    },
    /// Executable code that no image describes, and the reason a stack that reaches it ends with:
    /// [`EndReason::NoFile`], [`EndReason::NoRule`] for anonymous code, [`EndReason::UncertainMapping`].
    /// The frame itself is kept.
    NoImage(EndReason),
    /// Nothing executable. As a return address it is no frame and the stack ends with
    /// [`EndReason::BadReturnAddress`]; as the innermost address with [`EndReason::NoModule`].
    Unmapped,
}
