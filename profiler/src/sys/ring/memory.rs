//! The mapping of a ring: its control page and its data. Comes from a perf event's descriptor, or from plain
//! memory that a test writes as the kernel would.

use std::num::NonZeroUsize;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use perf_event_open_sys::bindings::perf_event_mmap_page as ControlPage;

/// A mapped ring. Invariant: `base` is the start of a live mapping of `page_bytes + data_bytes`, whose first
/// page is a control page; `data_bytes` is a power of two.
#[derive(Debug)]
pub struct RingMemory {
    base: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
}

// SAFETY: the mapping belongs to no thread; head and tail are only touched as atomics, and data only through
// `bytes`, whose caller vouches for the range.
unsafe impl Send for RingMemory {}
// SAFETY: as above.
unsafe impl Sync for RingMemory {}

impl RingMemory {
    /// Maps the ring of a perf event. `data_bytes` must be a power of two of whole pages.
    pub fn map(event: BorrowedFd<'_>, data_bytes: usize) -> nix::Result<Self> {
        let (page_bytes, length) = mapping_length(data_bytes)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new shared mapping at a place the kernel chooses; nothing else knows it.
        let base = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, event, 0) }?.cast();
        Ok(Self { base, page_bytes, data_bytes })
    }

    /// How many bytes of data it holds.
    pub fn data_bytes(&self) -> usize {
        self.data_bytes
    }

    /// Up to where the kernel has written. What lies before it is visible to this thread.
    pub fn head(&self) -> u64 {
        self.word(std::mem::offset_of!(ControlPage, data_head)).load(Ordering::Acquire)
    }

    /// Tells the kernel that everything before `position` may be overwritten.
    pub(super) fn set_tail(&self, position: u64) {
        self.word(std::mem::offset_of!(ControlPage, data_tail)).store(position, Ordering::Release);
    }

    /// The bytes from `start`, in two parts when they pass the end of the data.
    ///
    /// # Safety
    /// Until the result is dropped, the range must lie between the tail that the kernel was told and the head
    /// that was read from it, and must not be longer than the data.
    pub(super) unsafe fn bytes(&self, start: u64, length: usize) -> (&[u8], &[u8]) {
        debug_assert!(length <= self.data_bytes);
        let place = (start & (self.data_bytes as u64 - 1)) as usize;
        let first = length.min(self.data_bytes - place);
        // SAFETY: both parts lie in the data of a live mapping (invariant), and the caller keeps the kernel
        // from writing there.
        unsafe {
            let data = self.base.as_ptr().add(self.page_bytes);
            (
                std::slice::from_raw_parts(data.add(place), first),
                std::slice::from_raw_parts(data, length - first),
            )
        }
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped for as long as `self`, its words are 8-aligned, and both sides
        // treat head and tail as atomics.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }
}

impl Drop for RingMemory {
    fn drop(&mut self) {
        // SAFETY: nothing borrows the mapping any more; a failure leaves it mapped, which harms nobody.
        let _ = unsafe { munmap(self.base.cast(), self.page_bytes + self.data_bytes) };
    }
}

fn mapping_length(data_bytes: usize) -> nix::Result<(usize, NonZeroUsize)> {
    let page_bytes = super::super::page_bytes();
    let whole = data_bytes.is_power_of_two() && data_bytes >= page_bytes;
    let length = data_bytes.checked_add(page_bytes).and_then(NonZeroUsize::new);
    match length {
        Some(length) if whole => Ok((page_bytes, length)),
        _ => Err(nix::errno::Errno::EINVAL),
    }
}

/// The kernel's side of a ring, for scripted kernels.
#[cfg(test)]
impl RingMemory {
    /// A ring in plain memory that [`Self::write`] fills.
    pub(crate) fn scripted(data_bytes: usize) -> nix::Result<Self> {
        let (page_bytes, length) = mapping_length(data_bytes)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of zeroes that nothing else knows.
        let base = unsafe { nix::sys::mman::mmap_anonymous(None, length, access, MapFlags::MAP_SHARED) }?;
        Ok(Self { base: base.cast(), page_bytes, data_bytes })
    }

    /// Writes as the kernel does: the whole record, or nothing when it does not fit. One writer at a time.
    pub(crate) fn write(&self, record: &[u8]) -> Result<(), RingFull> {
        let tail = self.word(std::mem::offset_of!(ControlPage, data_tail)).load(Ordering::Acquire);
        let head = self.head();
        let free = self.data_bytes as u64 - head.wrapping_sub(tail).min(self.data_bytes as u64);
        if record.len() as u64 > free {
            return Err(RingFull);
        }
        for (index, byte) in record.iter().enumerate() {
            let place = ((head + index as u64) & (self.data_bytes as u64 - 1)) as usize;
            // SAFETY: inside the data of a live mapping; readers look below head only, and not below tail.
            unsafe { self.base.as_ptr().add(self.page_bytes + place).write(*byte) };
        }
        let head_word = self.word(std::mem::offset_of!(ControlPage, data_head));
        head_word.store(head + record.len() as u64, Ordering::Release);
        Ok(())
    }

    /// Claims to have written up to `position`.
    pub(crate) fn set_head(&self, position: u64) {
        self.word(std::mem::offset_of!(ControlPage, data_head)).store(position, Ordering::Release);
    }
}

/// A record does not fit; a kernel counts it as lost.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingFull;
