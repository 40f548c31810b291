//! What a perf event is asked for, as a plain value; [`EventAttributes::to_raw`] is the only writer of the
//! kernel's structure.

use perf_event_open_sys::bindings as abi;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventSource {
    /// Nothing: such an event only carries records of other kinds.
    Dummy,
    /// Time on a processor, by a timer per processor.
    CpuClock,
    /// Time on a processor, per task.
    TaskClock,
    /// Page faults.
    PageFaults,
    /// Processor cycles that were not halted.
    Cycles,
    /// Retired instructions.
    Instructions,
    /// Misses of the last-level cache.
    CacheMisses,
    /// Mispredicted branches.
    BranchMisses,
}

impl EventSource {
    fn type_and_config(self) -> (u32, u32) {
        const SOFTWARE: u32 = abi::PERF_TYPE_SOFTWARE;
        const HARDWARE: u32 = abi::PERF_TYPE_HARDWARE;
        match self {
            Self::Dummy => (SOFTWARE, abi::PERF_COUNT_SW_DUMMY),
            Self::CpuClock => (SOFTWARE, abi::PERF_COUNT_SW_CPU_CLOCK),
            Self::TaskClock => (SOFTWARE, abi::PERF_COUNT_SW_TASK_CLOCK),
            Self::PageFaults => (SOFTWARE, abi::PERF_COUNT_SW_PAGE_FAULTS),
            Self::Cycles => (HARDWARE, abi::PERF_COUNT_HW_CPU_CYCLES),
            Self::Instructions => (HARDWARE, abi::PERF_COUNT_HW_INSTRUCTIONS),
            Self::CacheMisses => (HARDWARE, abi::PERF_COUNT_HW_CACHE_MISSES),
            Self::BranchMisses => (HARDWARE, abi::PERF_COUNT_HW_BRANCH_MISSES),
        }
    }

    /// Whether the processor counts it, rather than the kernel.
    pub fn is_hardware(self) -> bool {
        self.type_and_config().0 == abi::PERF_TYPE_HARDWARE
    }
}

/// Fields of a sample that may be absent. The order in a record is fixed: identifier, ip, pid and tid, time, cpu,
/// period, call chain, user registers, user stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SampleFields {
    /// A count and as many words: addresses the kernel found, with markers between kernel and user ones.
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

/// What a thread hands on to those it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inherit {
    /// Nothing.
    #[default]
    Nothing,
    /// The event, to threads of its process (since Linux 5.13).
    Threads,
    /// The event, to threads and processes.
    Everything,
}

/// When an event begins to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// At once.
    #[default]
    Enabled,
    /// When it is told to.
    Disabled,
    /// When its thread executes a program.
    OnExec,
}

/// What a perf event is asked for. Times are always of CLOCK_MONOTONIC, and every record carries its event's
/// identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventAttributes {
    /// What is counted.
    pub source: EventSource,
    /// Samples per second; 0 takes none.
    pub rate_hz: u32,
    /// What samples hold.
    pub fields: SampleFields,
    /// Report mappings, names, forks and exits.
    pub side_band: bool,
    /// Report build IDs with mappings (since Linux 5.12).
    pub build_ids: bool,
    /// Count records that could not be written (since Linux 6.0).
    pub count_lost: bool,
    /// What a thread hands on.
    pub inherit: Inherit,
    /// When it begins to count.
    pub start: Start,
    /// Do not count in the kernel.
    pub exclude_kernel: bool,
    /// Leave the kernel's frames out of call chains.
    pub exclude_kernel_chain: bool,
    /// Leave the user's frames out of call chains.
    pub exclude_user_chain: bool,
    /// Wake the reader of the event's own ring after this many bytes; 0 wakes at each record.
    pub watermark_bytes: u32,
}

impl EventAttributes {
    /// An event that counts nothing and reports nothing.
    pub fn dummy() -> Self {
        Self {
            source: EventSource::Dummy,
            rate_hz: 0,
            fields: SampleFields::default(),
            side_band: false,
            build_ids: false,
            count_lost: false,
            inherit: Inherit::Nothing,
            start: Start::Enabled,
            exclude_kernel: false,
            exclude_kernel_chain: false,
            exclude_user_chain: false,
            watermark_bytes: 0,
        }
    }

    /// The kernel's structure. Kernels that know a shorter one accept it while the rest is zero.
    pub(super) fn to_raw(self) -> abi::perf_event_attr {
        let (type_, config) = self.source.type_and_config();
        let mut raw = abi::perf_event_attr {
            type_,
            size: size_of::<abi::perf_event_attr>() as u32,
            config: u64::from(config),
            sample_type: self.fields.sample_type(),
            sample_regs_user: self.fields.user_registers,
            sample_stack_user: self.fields.stack_bytes,
            read_format: if self.count_lost { u64::from(abi::PERF_FORMAT_LOST) } else { 0 },
            clockid: libc::CLOCK_MONOTONIC,
            ..Default::default()
        };
        raw.set_use_clockid(1);
        raw.set_sample_id_all(1);
        self.write_sampling(&mut raw);
        self.write_side_band(&mut raw);
        self.write_scope(&mut raw);
        raw
    }

    fn write_sampling(self, raw: &mut abi::perf_event_attr) {
        if self.rate_hz != 0 {
            raw.__bindgen_anon_1.sample_freq = u64::from(self.rate_hz);
            raw.set_freq(1);
        }
        raw.__bindgen_anon_2.wakeup_watermark = self.watermark_bytes;
        raw.set_watermark(u64::from(self.watermark_bytes != 0));
        raw.set_exclude_callchain_kernel(self.exclude_kernel_chain.into());
        raw.set_exclude_callchain_user(self.exclude_user_chain.into());
    }

    fn write_side_band(self, raw: &mut abi::perf_event_attr) {
        let on = u64::from(self.side_band);
        raw.set_mmap(on);
        raw.set_mmap2(on);
        raw.set_comm(on);
        raw.set_comm_exec(on);
        raw.set_task(on);
        raw.set_build_id(u64::from(self.side_band && self.build_ids));
    }

    fn write_scope(self, raw: &mut abi::perf_event_attr) {
        raw.set_inherit(u64::from(self.inherit != Inherit::Nothing));
        raw.set_inherit_thread(u64::from(self.inherit == Inherit::Threads));
        raw.set_disabled(u64::from(self.start != Start::Enabled));
        raw.set_enable_on_exec(u64::from(self.start == Start::OnExec));
        raw.set_exclude_kernel(self.exclude_kernel.into());
        raw.set_exclude_hv(self.exclude_kernel.into());
        raw.set_exclude_idle(1);
        // A guest's addresses mean nothing in the process that runs it.
        raw.set_exclude_guest(self.source.is_hardware().into());
    }
}
