//! Orders processes by start, parents and replaced images always before the rows that name them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::table::Table;
use crate::{Process, ProcessId, Processes, TableKind, Tables};

pub(super) fn sort(tables: &mut Tables) {
    let mut order = Order::of(&tables.processes);
    while order.take_next(&tables.processes) {}
    tables.processes = order.sorted;
    tables.threads_and_others_follow(&order.numbers);
}

/// The rows taken so far, and those whose earlier rows were all taken.
struct Order {
    ready: BinaryHeap<Reverse<(u64, Process, u32)>>,
    /// Rows that name a row as parent or by exec.
    followers: Vec<Vec<u32>>,
    /// How many rows each row still waits for.
    waits_for: Vec<u8>,
    numbers: Vec<u32>,
    taken: FxHashMap<Process, ProcessId>,
    sorted: Processes,
}

impl Order {
    fn of(processes: &Processes) -> Self {
        let rows = processes.len();
        let mut order = Self {
            ready: BinaryHeap::new(),
            followers: vec![Vec::new(); rows],
            waits_for: vec![0; rows],
            numbers: vec![0; rows],
            taken: FxHashMap::default(),
            sorted: Processes::default(),
        };
        for (id, process) in processes.iter() {
            for earlier in [process.parent, process.exec_of].into_iter().flatten() {
                order.followers[earlier.index()].push(id.get());
                order.waits_for[id.index()] += 1;
            }
            order.offer(processes, id.get());
        }
        order
    }

    /// Makes a row ready when it waits for none.
    fn offer(&mut self, processes: &Processes, row: u32) {
        if self.waits_for[row as usize] > 0 {
            return;
        }
        let process = processes.row_at(row as usize);
        let follow = |id: Option<ProcessId>| id.map(|id| ProcessId::new(self.numbers[id.index()]));
        let process = Process { parent: follow(process.parent), exec_of: follow(process.exec_of), ..process };
        self.ready.push(Reverse((process.start_ns, process, row)));
    }

    /// Takes the first ready row; equal rows become one.
    fn take_next(&mut self, processes: &Processes) -> bool {
        let Some(Reverse((_, process, row))) = self.ready.pop() else { return false };
        let id = *self.taken.entry(process).or_insert_with(|| self.sorted.push(process));
        self.numbers[row as usize] = id.get();
        for follower in std::mem::take(&mut self.followers[row as usize]) {
            self.waits_for[follower as usize] -= 1;
            self.offer(processes, follower);
        }
        true
    }
}

impl Tables {
    /// Renumbers process ids everywhere but in the processes themselves, which were renumbered as taken.
    fn threads_and_others_follow(&mut self, numbers: &[u32]) {
        let processes = std::mem::take(&mut self.processes);
        self.renumber(TableKind::Processes, numbers);
        self.processes = processes;
    }
}
