//! A recording after its last record: addresses complete, names to come.

use std::sync::Arc;

use microscope_capture::{Builder, Spool};

use super::kernel::KernelNames;
use crate::naming::Naming;

/// A recording whose addresses are complete.
pub struct Sealed {
    /// Every row.
    pub builder: Builder,
    /// Where they were spooled; to discard once they are published.
    pub spool: Spool,
    pub(super) naming: Naming,
    pub(super) kernel: Option<Arc<KernelNames>>,
}

/// A recording whose names are in.
pub struct NamedRows {
    /// Every row.
    pub builder: Builder,
    /// Where they were spooled; to discard once they are published.
    pub spool: Spool,
    /// Why kernel frames have no names, when they have none.
    pub kernel_refusal: Option<String>,
}

impl Sealed {
    /// How many frames wait for a name.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.naming.waiting()
    }

    /// Waits for the names and writes them as rows. `progress` is told how many frames still wait.
    #[must_use]
    pub fn name(self, progress: impl FnMut(usize)) -> NamedRows {
        let Self { mut builder, spool, naming, kernel } = self;
        naming.finish(&mut builder, progress);
        let kernel_refusal = kernel.and_then(|names| names.refusal().map(str::to_owned));
        NamedRows { builder, spool, kernel_refusal }
    }
}
