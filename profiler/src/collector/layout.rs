//! How the records of each event are laid out: what a decoder needs besides the bytes. Every record names its
//! event by identifier, samples in their first field, all others in their trailer.

use perf_event_open_sys::bindings as abi;

/// The registers kept with a sample, as bits of the kernel's numbering: ax bx cx dx si di bp sp ip flags cs ss
/// r8..r15. Their values follow one another in this order. The segment registers between are refused by x86-64.
pub const USER_REGISTERS_MASK: u64 = 0x00ff_0fff;

/// How many registers [`USER_REGISTERS_MASK`] names.
pub const USER_REGISTERS: usize = USER_REGISTERS_MASK.count_ones() as usize;

/// What an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventRole {
    /// Writes samples, to the sample rings.
    Sampler,
    /// Writes mappings, names, forks and exits, to the side-band rings.
    SideBand,
}

/// Fields of a sample, present or not. Their order in a record is fixed: identifier, ip, pid and tid, time, cpu,
/// period, call chain, user registers, user stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SampleFields {
    /// `nr` words: addresses the kernel found, with markers between kernel and user ones.
    pub callchain: bool,
    /// The ABI word, and unless that is 0, one word for each bit of this mask; 0 leaves the field out.
    pub user_registers: u64,
    /// Bytes of user stack asked for; 0 leaves the field out. The record says how many it holds and how many of
    /// those are valid.
    pub stack_bytes: u32,
}

impl SampleFields {
    /// The kernel's `sample_type` for these fields and the ones that every sample has.
    pub fn sample_type(self) -> u64 {
        let mut bits = abi::PERF_SAMPLE_IDENTIFIER
            | abi::PERF_SAMPLE_IP
            | abi::PERF_SAMPLE_TID
            | abi::PERF_SAMPLE_TIME
            | abi::PERF_SAMPLE_CPU
            | abi::PERF_SAMPLE_PERIOD;
        if self.callchain {
            bits |= abi::PERF_SAMPLE_CALLCHAIN;
        }
        if self.user_registers != 0 {
            bits |= abi::PERF_SAMPLE_REGS_USER;
        }
        if self.stack_bytes != 0 {
            bits |= abi::PERF_SAMPLE_STACK_USER;
        }
        u64::from(bits)
    }
}

/// Bytes of the trailer of every record that is no sample (`sample_id_all`): pid and tid, time, cpu and a
/// reserved half, identifier, a word each, in this order, the last of the record.
pub const TRAILER_BYTES: usize = 32;

/// One event and the layout of its records. Trailers are the same for all: see [`TRAILER_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventLayout {
    /// The identifier its records carry, also those of threads that inherited the event.
    pub id: u64,
    /// What it is for.
    pub role: EventRole,
    /// The only processor it counts on.
    pub cpu: u32,
    /// The thread it was opened on; absent when it counts every thread of the processor.
    pub opened_on: Option<u32>,
    /// What its samples hold; nothing of meaning for side-band events, which write none.
    pub fields: SampleFields,
}

impl EventLayout {
    /// The kernel's `sample_type` of the event.
    pub fn sample_type(&self) -> u64 {
        self.fields.sample_type()
    }
}
