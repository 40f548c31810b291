//! Runs decoding jobs: small files at once, large ones on a few threads.
//!
//! The threads live only inside [`run`], own nothing beyond the job at hand, and end when none is left.

use std::sync::{Mutex, PoisonError};

use super::OpenError;

/// Below this cost a thread costs more than it saves.
const PARALLEL_COST_MIN: usize = 1 << 18;
/// More threads than this wait for memory, not for work.
const THREADS_MAX: usize = 4;

/// A part of decoding that touches no other part's cells.
pub(super) struct Job<'a> {
    cost: usize,
    run: Box<dyn FnOnce() -> Result<(), OpenError> + Send + 'a>,
}

impl<'a> Job<'a> {
    /// `cost` is about the bytes and rows it goes through.
    pub(super) fn new(cost: usize, run: impl FnOnce() -> Result<(), OpenError> + Send + 'a) -> Self {
        Self { cost, run: Box::new(run) }
    }
}

/// Runs all jobs. Of several errors the one of the first job is given, whatever ran first.
pub(super) fn run(jobs: Vec<Job<'_>>) -> Result<(), OpenError> {
    let cost: usize = jobs.iter().map(|job| job.cost).sum();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(THREADS_MAX).min(jobs.len());
    if cost < PARALLEL_COST_MIN || threads < 2 {
        return jobs.into_iter().try_for_each(|job| (job.run)());
    }
    let mut queue: Vec<(usize, Job<'_>)> = jobs.into_iter().enumerate().collect();
    // The costliest last, where it is taken first.
    queue.sort_by_key(|(_, job)| job.cost);
    let queue = Mutex::new(queue);
    let errors = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| work(&queue, &errors));
        }
        work(&queue, &errors);
    });
    let errors = errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    match errors.into_iter().min_by_key(|(number, _)| *number) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

fn work(queue: &Mutex<Vec<(usize, Job<'_>)>>, errors: &Mutex<Vec<(usize, OpenError)>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some((number, job)) = job else { return };
        if let Err(error) = (job.run)() {
            errors.lock().unwrap_or_else(PoisonError::into_inner).push((number, error));
        }
    }
}
