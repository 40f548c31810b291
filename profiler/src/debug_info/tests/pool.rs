//! The pool: everything is answered once, hot modules first, and a panic costs one lookup.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use microscope_capture::{CodeRole, FunctionFlags};

use crate::debug_info::{
    Failure, FunctionName, Level, NameSource, Named, NamedAddress, Namers, Request, Target,
};

/// Names an address by its number; panics at 13 and knows nothing of 14.
struct Numbers {
    asked: Mutex<Vec<u64>>,
}

impl NameSource for Numbers {
    fn name(&self, relative_address: u64, _: bool) -> NamedAddress {
        self.asked.lock().unwrap().push(relative_address);
        assert_ne!(relative_address, 13, "this lookup panics");
        if relative_address == 14 {
            return NamedAddress::unnamed();
        }
        let function = FunctionName {
            name: relative_address.to_string().into(),
            linkage_name: "".into(),
            decl_file: None,
            decl_line: 0,
            relative_address,
            flags: FunctionFlags::Plain,
        };
        let level = Level { function: Arc::new(function), file: None, line: 0 };
        NamedAddress { levels: vec![level], role: CodeRole::Plain }
    }

    fn failure(&self, relative_address: u64) -> Failure {
        Failure { range: relative_address..relative_address + 1, tried: Vec::new() }
    }
}

fn numbers() -> Arc<Numbers> {
    Arc::new(Numbers { asked: Mutex::default() })
}

fn request(source: Arc<Numbers>, module: u64, weight: u64, addresses: impl Iterator<Item = u64>) -> Request {
    let target = |address| Target { tag: address * 10, relative_address: address, is_caller: false };
    Request { module, source, weight, targets: addresses.map(target).collect() }
}

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Every answer to the requests, sorted by tag.
fn answers(count: usize, requests: Vec<Request>) -> (Vec<(u64, NamedAddress)>, Vec<Named>) {
    let (namers, answers) = Namers::start(threads(count)).unwrap();
    requests.into_iter().for_each(|request| assert!(namers.request(request).is_ok()));
    namers.finish();
    let batches: Vec<Named> = answers.iter().collect();
    let mut names: Vec<_> = batches.iter().flat_map(|batch| batch.names.clone()).collect();
    names.sort_by_key(|(tag, _)| *tag);
    (names, batches)
}

#[test]
fn every_address_is_answered_once_whatever_the_number_of_threads() {
    let requests = |source: &Arc<Numbers>| {
        vec![request(source.clone(), 1, 5, 100..700), request(source.clone(), 2, 9, 1000..1300)]
    };
    let (one, _) = answers(1, requests(&numbers()));
    let (four, _) = answers(4, requests(&numbers()));
    assert_eq!(one.len(), 900);
    assert_eq!(one, four);
}

#[test]
fn a_panic_costs_its_own_lookup_only() {
    let (names, batches) = answers(2, vec![request(numbers(), 1, 1, 10..20)]);
    assert_eq!(names.len(), 10);
    assert_eq!(names.iter().filter(|(_, name)| !name.is_named()).count(), 2);
    assert_eq!(batches.iter().flat_map(|batch| batch.panicked.clone()).collect::<Vec<_>>(), [130]);
    let failures: Vec<_> = batches.into_iter().flat_map(|batch| batch.failures).collect();
    assert_eq!(failures, [Failure { range: 14..15, tried: Vec::new() }]);
}

#[test]
fn hot_modules_are_named_first() {
    let source = numbers();
    let (namers, answers) = Namers::start(threads(1)).unwrap();
    // The only thread is held at its first lookup until every request has arrived.
    let gate = source.asked.lock().unwrap();
    assert!(namers.request(request(source.clone(), 0, u64::MAX, 1..2)).is_ok());
    while namers.waiting() > 0 {
        std::thread::yield_now();
    }
    for (module, weight) in [(1, 10), (2, 30), (3, 20)] {
        assert!(
            namers.request(request(source.clone(), module, weight, module * 100..module * 100 + 2)).is_ok()
        );
    }
    drop(gate);
    namers.finish();
    assert_eq!(answers.iter().map(|named| named.module).collect::<Vec<_>>(), [0, 2, 3, 1]);
}

#[test]
fn dropping_the_pool_ends_its_threads_with_work_left() {
    let (namers, answers) = Namers::start(threads(2)).unwrap();
    assert!(namers.request(request(numbers(), 1, 1, 0..100_000)).is_ok());
    drop(namers);
    assert!(answers.iter().count() <= 100_000 / 64 + 1);
}

#[test]
fn more_than_the_bound_comes_back_to_the_requester() {
    let (namers, _answers) = Namers::start(threads(1)).unwrap();
    let refused = namers.request(request(numbers(), 1, 1, 0..(1 << 20) + 1)).unwrap_err();
    assert_eq!(refused.targets.len(), (1 << 20) + 1);
}
