// What the Rust programs share: a step whose cost is its count, and a budget of CPU time (see burn.h).

/// One step of a chain in which every step needs the one before.
#[inline(always)]
pub fn step(x: u64) -> u64 {
    // The value passes through a register that the optimizer cannot see through, so the loop stays a loop.
    std::hint::black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407))
}

/// The CPU time to consume: the first argument in milliseconds, else two seconds.
pub struct Budget {
    limit_ns: u64,
}

impl Budget {
    /// Reads the arguments.
    pub fn from_arguments() -> Self {
        let milliseconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000u64);
        Self { limit_ns: milliseconds * 1_000_000 }
    }

    /// Whether the process has consumed it.
    pub fn is_spent(&self) -> bool {
        process_cpu_ns() >= self.limit_ns
    }
}

/// Rounds of different lengths, so that none stays in step with a sampler.
pub struct Rounds {
    state: u32,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { state: 12345 }
    }
}

impl Rounds {
    /// Between half and one and a half times 1,000 units.
    pub fn units(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(1664525).wrapping_add(1013904223);
        500 + u64::from(self.state >> 16) % 1000
    }
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, into: *mut Timespec) -> i32;
}

/// The CPU time of the process so far.
pub fn process_cpu_ns() -> u64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    clock_ns(CLOCK_PROCESS_CPUTIME_ID)
}

/// The CPU time of the calling thread so far.
pub fn thread_cpu_ns() -> u64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    clock_ns(CLOCK_THREAD_CPUTIME_ID)
}

fn clock_ns(clock: i32) -> u64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` is a valid timespec for the length of the call.
    unsafe { clock_gettime(clock, &mut now) };
    now.seconds as u64 * 1_000_000_000 + now.nanoseconds as u64
}
