//! A scripted machine: files, processes and records in, tables as text out.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::*;
use crate::collector::{Batch, RingId, RingKind};
use crate::files::{Answer, FileProblem, OpenedFile, Place, Text};
use crate::order::Order;
use crate::records::FileKey;
use crate::records::text::{SAMPLER, SIDE_BAND, bytes_of};

/// Where the crafted files' only segment lies in the file, and at which relative address.
pub(super) const SEGMENT_OFFSET: u64 = 0x1000;
pub(super) const SEGMENT_SVMA: u64 = 0x11000;
const SEGMENT_BYTES: u64 = 0x8000;

/// What the scripted machine holds; tests change it as they go.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) time_ns: u64,
    /// Content and inode by path.
    pub(super) files: BTreeMap<String, (Vec<u8>, u64)>,
    /// The same by the mapping's start, whatever became of the path.
    pub(super) mapped: BTreeMap<u64, (Vec<u8>, u64)>,
    /// Processes that are gone: nothing is found through them.
    pub(super) gone: Vec<u32>,
    pub(super) maps: BTreeMap<u32, String>,
    pub(super) threads: BTreeMap<u32, Vec<(u32, &'static str)>>,
    pub(super) opened: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct World(pub(super) Arc<Mutex<Machine>>);

impl World {
    pub(super) fn with(&self, change: impl FnOnce(&mut Machine)) {
        change(&mut self.0.lock().unwrap());
    }

    /// A file whose build ID begins with `id`; an empty one is none.
    pub(super) fn file(&self, path: &str, id: &[u8], inode: u64) {
        self.with(|machine| drop(machine.files.insert(path.to_owned(), (elf(id), inode))));
    }
}

impl Files for World {
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem> {
        let mut machine = self.0.lock().unwrap();
        machine.opened.push(format!("{place:?}"));
        let by_path = |path: &std::path::Path| machine.files.get(path.to_str().unwrap());
        let found = match place {
            Place::InProcess { pid, path } if !machine.gone.contains(pid) => by_path(path),
            Place::Mapped { pid, start_address, .. } if !machine.gone.contains(pid) => {
                machine.mapped.get(start_address)
            }
            Place::Host { path } => by_path(path),
            Place::Vdso => machine.files.get("[vdso]"),
            _ => None,
        };
        let (bytes, inode) = found.cloned().ok_or(FileProblem::Missing)?;
        Ok(OpenedFile { handle: Arc::new(bytes), key: FileKey { inode, ..FileKey::default() } })
    }

    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        let machine = self.0.lock().unwrap();
        let name = |pid: u32, tid: u32| {
            let threads = machine.threads.get(&pid)?;
            threads.iter().find(|(of, _)| *of == tid).map(|(_, name)| format!("{name}\n"))
        };
        let found = match text {
            Text::Maps { pid } => machine.maps.get(pid).cloned(),
            Text::Comm { pid, tid } => name(*pid, *tid),
            Text::Status { pid, tid } => name(*pid, *tid).map(|_| format!("NSpid:\t{tid}\t{}\n", tid % 10)),
            _ => None,
        };
        let value = found.ok_or(FileProblem::Missing)?.into_bytes();
        Ok(Answer { time_ns: machine.time_ns, value })
    }

    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        let machine = self.0.lock().unwrap();
        let threads = machine.threads.get(&pid).ok_or(FileProblem::Missing)?;
        let value = threads.iter().map(|(tid, _)| *tid).collect();
        Ok(Answer { time_ns: machine.time_ns, value })
    }
}

/// An ELF file with one executable segment and perhaps a build ID.
pub(super) fn elf(id: &[u8]) -> Vec<u8> {
    let mut file = vec![0; (SEGMENT_OFFSET + SEGMENT_BYTES) as usize];
    file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x00");
    file[16..20].copy_from_slice(&[3, 0, 62, 0]);
    file[32..40].copy_from_slice(&64_u64.to_le_bytes());
    for (at, value) in [(52, 64_u16), (54, 56), (56, 1 + u16::from(!id.is_empty())), (58, 64)] {
        file[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    program_header(&mut file, 64, [1, 5], [SEGMENT_OFFSET, SEGMENT_SVMA, SEGMENT_BYTES]);
    program_header(&mut file, 120, [4, 4], [0x200, 0x200, 16 + 20]);
    let mut description = [0; 20];
    description[..id.len()].copy_from_slice(id);
    let note = [&[4, 20, 3].map(u32::to_le_bytes).concat()[..], b"GNU\0", &description].concat();
    file[0x200..0x200 + note.len()].copy_from_slice(&note);
    file
}

fn program_header(file: &mut [u8], at: usize, kind_and_flags: [u32; 2], [offset, svma, size]: [u64; 3]) {
    let fields = [offset, svma, svma, size, size, 4096].map(u64::to_le_bytes).concat();
    file[at..at + 8].copy_from_slice(&kind_and_flags.map(u32::to_le_bytes).concat());
    file[at + 8..at + 56].copy_from_slice(&fields);
}

/// A tracker, its machine and its rows.
pub(super) struct Run {
    pub(super) world: World,
    pub(super) tracker: Tracker,
    pub(super) rows: Builder,
    order: Order,
}

pub(super) const OPTIONS: TrackerOptions = TrackerOptions {
    start_ns: 0,
    scope: Scope::Everything,
    children: true,
    limits: Limits {
        processes: 100,
        threads: 100,
        mappings_of_process: 8,
        mappings: 100,
        modules: 100,
        images: 100,
        text_bytes: 64,
    },
};

impl Run {
    pub(super) fn new(options: TrackerOptions) -> Self {
        let world = World::default();
        for (path, id, inode) in [("/a", b"\xaa", 1), ("/b", b"\xbb", 2), ("/c", b"\xcc", 3)] {
            world.file(path, id, inode);
        }
        world.with(|machine| drop(machine.files.insert("[vdso]".to_owned(), (elf(b"\x0d"), 0))));
        let mut order = Order::new();
        order.add_layouts([SIDE_BAND, SAMPLER]).unwrap();
        let tracker = Tracker::new(options, Arc::new(world.clone()));
        Self { world, tracker, rows: Builder::new(), order }
    }

    /// Records of a side-band ring, one a line.
    pub(super) fn records(&mut self, text: &str) {
        let ring = RingId { cpu: 0, kind: RingKind::SideBand };
        // Each line is its own round, so that late ones are late.
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            self.order.push(Batch::owned(ring, 0, bytes_of(line)));
            let (tracker, rows) = (&mut self.tracker, &mut self.rows);
            self.order.release(u64::MAX, |unit| tracker.on(unit.ring, &unit.record, rows));
        }
    }

    pub(super) fn resolve(&mut self, pid: u32, tid: u32, time_ns: u64) -> Option<ThreadRef> {
        self.tracker.resolve(pid, tid, time_ns, &mut self.rows)
    }

    /// Module and relative address of an address, as `/a+0x11000`.
    pub(super) fn find(&mut self, pid: u32, address: u64, time_ns: u64) -> String {
        let Some(owner) = self.resolve(pid, pid, time_ns) else { return "nobody".to_owned() };
        let Some(space) = self.tracker.space(owner.process, time_ns) else { return "forgotten".to_owned() };
        let doubt = if space.is_uncertain() { "?" } else { "" };
        let found = space.find(address).map_or_else(
            || "nothing".to_owned(),
            |view| format!("{}+{:#x}", view.module.path, view.relative_address(address)),
        );
        found + doubt
    }

    fn text(&self, id: microscope_capture::StringId) -> &str {
        self.rows.tables.strings.get(id)
    }

    /// One line a mapping: `10 0x1000..0x2000 /a+0x11000 @5..7`.
    pub(super) fn mappings(&self) -> String {
        let lines = self.rows.tables.mappings.iter().map(|(_, row)| {
            let process = self.rows.tables.processes.row(row.process);
            let path = self.text(self.rows.tables.modules.row(row.module).path);
            let (start, end) = (row.start_address, row.end_address);
            let doubt = if row.uncertain { "?" } else { "" };
            let times = times(row.valid_from_ns, row.valid_until_ns);
            format!("{} {start:#x}..{end:#x} {path}+{:#x} {times}{doubt}\n", process.pid, row.relative_start)
        });
        lines.collect()
    }

    /// One line a process: `11 sh /bin/sh @5..7 of 10` where it was forked by another, `after` an image.
    pub(super) fn processes(&self) -> String {
        let processes = &self.rows.tables.processes;
        let lines = processes.iter().map(|(_, row)| {
            let parent = row.parent.map_or(String::new(), |of| format!(" of {}", processes.row(of).pid));
            let before = row
                .exec_of
                .map_or(String::new(), |of| format!(" after {}", self.text(processes.row(of).name)));
            let (name, path) = (self.text(row.name), self.text(row.executable));
            format!("{} {name} {path} {}{parent}{before}\n", row.pid, times(row.start_ns, row.end_ns))
        });
        lines.collect()
    }

    /// One line a thread: `10/12 worker @5..7`.
    pub(super) fn threads(&self) -> String {
        let lines = self.rows.tables.threads.iter().map(|(_, row)| {
            let pid = self.rows.tables.processes.row(row.process).pid;
            format!("{pid}/{} {} {}\n", row.tid, self.text(row.name), times(row.start_ns, row.end_ns))
        });
        lines.collect()
    }
}

fn times(from_ns: u64, until_ns: Option<u64>) -> String {
    format!("@{from_ns}..{}", until_ns.map_or(String::new(), |until| until.to_string()))
}

/// Compares tables by line, without regard to indentation.
#[track_caller]
pub(super) fn check(found: &str, expected: &str) {
    let lines =
        |text: &str| text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    assert_eq!(lines(found), lines(expected));
}

/// Runs records and gives the mappings they make.
#[track_caller]
pub(super) fn check_mappings(records: &str, expected: &str) {
    let mut run = Run::new(OPTIONS);
    run.records(records);
    check(&run.mappings(), expected);
}
