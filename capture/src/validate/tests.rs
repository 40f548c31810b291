//! One crafted file per invariant: each is refused by a message that names table, row, column and rule.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::testing::random_tables;
use crate::{
    Capture, FileId, FrameId, FrameKind, HashKind, IdentityKind, MeasureId, ModuleId, ProbeEdge, ProbeKind,
    ProcessId, SampleId, StackId, StringId, Tables, ThreadId,
};

/// Breaks valid rows, writes them as a file, and expects the message that refuses it.
#[track_caller]
fn check(break_rule: impl FnOnce(&mut Tables), expected: &str) {
    let mut tables = random_tables(11, 24);
    break_rule(&mut tables);
    let file = crate::file::encode(&tables);
    let error = Capture::read(&file).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

/// Also where a file cannot even say it: rows in memory.
#[track_caller]
fn check_rows(break_rule: impl FnOnce(&mut Tables), expected: &str) {
    let mut tables = random_tables(11, 24);
    break_rule(&mut tables);
    let error = Capture::validate(tables).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

#[test]
fn the_rows_that_the_tests_break_are_valid() {
    assert!(Capture::validate(random_tables(11, 24)).is_ok());
}

/// One test per column that refers to another table: an id beyond its rows.
macro_rules! dangling_ids {
    ($($name:ident: $field:ident.$column:ident = $id:expr, $target:literal;)*) => {$(
        #[test]
        fn $name() {
            check(
                |tables| {
                    let rows = tables.$field.len();
                    // The first of equal ids may end up elsewhere, so all rows get it.
                    for row in 0..rows { tables.$field.$column[row] = $id; }
                },
                concat!("column ", stringify!($column), ": no row 99999 in table ", $target),
            );
        }
    )*};
}

const NOWHERE: u32 = 99_999;

dangling_ids! {
    a_file_without_path_string: files.path = StringId::new(NOWHERE), "strings";
    a_file_without_hash_string: files.hash = StringId::new(NOWHERE), "strings";
    a_module_without_path_string: modules.path = StringId::new(NOWHERE), "strings";
    a_module_without_identity_string: modules.identity = StringId::new(NOWHERE), "strings";
    a_module_without_debug_path_string: modules.debug_path = StringId::new(NOWHERE), "strings";
    a_source_text_without_file: source_texts.file = FileId::new(NOWHERE), "files";
    a_source_text_without_string: source_texts.text = StringId::new(NOWHERE), "strings";
    a_function_without_name_string: functions.name = StringId::new(NOWHERE), "strings";
    a_function_without_linkage_string: functions.linkage_name = StringId::new(NOWHERE), "strings";
    a_function_without_its_module: functions.module = Some(ModuleId::new(NOWHERE)), "modules";
    a_function_without_its_file: functions.file = Some(FileId::new(NOWHERE)), "files";
    a_process_without_name_string: processes.name = StringId::new(NOWHERE), "strings";
    a_process_without_executable_string: processes.executable = StringId::new(NOWHERE), "strings";
    a_process_without_its_parent: processes.parent = Some(ProcessId::new(NOWHERE)), "processes";
    a_process_without_what_it_replaced: processes.exec_of = Some(ProcessId::new(NOWHERE)), "processes";
    a_thread_without_process: threads.process = ProcessId::new(NOWHERE), "processes";
    a_thread_without_name_string: threads.name = StringId::new(NOWHERE), "strings";
    a_mapping_without_process: mappings.process = ProcessId::new(NOWHERE), "processes";
    a_mapping_without_module: mappings.module = ModuleId::new(NOWHERE), "modules";
    a_frame_without_its_module: frames.module = Some(ModuleId::new(NOWHERE)), "modules";
    a_fact_without_frame: facts.frame = FrameId::new(NOWHERE), "frames";
    a_fact_without_function: facts.function = crate::FunctionId::new(NOWHERE), "functions";
    a_fact_without_its_file: facts.file = Some(FileId::new(NOWHERE)), "files";
    a_stack_without_its_parent: stacks.parent = Some(StackId::new(NOWHERE)), "stacks";
    a_stack_without_frame: stacks.frame = FrameId::new(NOWHERE), "frames";
    a_measure_without_name_string: measures.name = StringId::new(NOWHERE), "strings";
    a_sample_without_thread: samples.thread = ThreadId::new(NOWHERE), "threads";
    a_sample_without_its_stack: samples.stack = Some(StackId::new(NOWHERE)), "stacks";
    a_sample_without_measure: samples.measure = MeasureId::new(NOWHERE), "measures";
    an_interval_without_thread: intervals.thread = ThreadId::new(NOWHERE), "threads";
    an_interval_without_its_stack: intervals.stack = Some(StackId::new(NOWHERE)), "stacks";
    a_snapshot_without_runtime_string: snapshots.runtime = StringId::new(NOWHERE), "strings";
    a_task_without_name_string: tasks.name = StringId::new(NOWHERE), "strings";
    a_wait_without_task: waits.task = crate::TaskId::new(NOWHERE), "tasks";
    a_wait_without_snapshot: waits.snapshot = crate::SnapshotId::new(NOWHERE), "snapshots";
    a_wait_without_its_thread: waits.thread = Some(ThreadId::new(NOWHERE)), "threads";
    a_wait_without_its_stack: waits.stack = Some(StackId::new(NOWHERE)), "stacks";
    a_wait_without_reason_string: waits.reason = StringId::new(NOWHERE), "strings";
    a_claim_without_sample: claims.sample = SampleId::new(NOWHERE), "samples";
    a_claim_without_task: claims.task = crate::TaskId::new(NOWHERE), "tasks";
    a_syscall_without_thread: syscalls.thread = ThreadId::new(NOWHERE), "threads";
    a_syscall_without_its_stack: syscalls.stack = Some(StackId::new(NOWHERE)), "stacks";
    a_label_without_thread: label_spans.thread = ThreadId::new(NOWHERE), "threads";
    a_label_without_name_string: label_spans.name = StringId::new(NOWHERE), "strings";
    a_label_without_value_string: label_spans.value = StringId::new(NOWHERE), "strings";
    a_site_without_process: probe_sites.process = ProcessId::new(NOWHERE), "processes";
    a_site_without_name_string: probe_sites.name = StringId::new(NOWHERE), "strings";
    a_site_without_its_file: probe_sites.file = Some(FileId::new(NOWHERE)), "files";
    a_probe_record_without_site: probe_records.site = crate::ProbeSiteId::new(NOWHERE), "probe-sites";
    a_probe_record_without_thread: probe_records.thread = ThreadId::new(NOWHERE), "threads";
    a_probe_record_without_text_string: probe_records.text = StringId::new(NOWHERE), "strings";
    a_counter_without_name_string: counters.name = StringId::new(NOWHERE), "strings";
    a_counter_without_its_process: counters.process = Some(ProcessId::new(NOWHERE)), "processes";
    a_mark_without_its_process: marks.process = Some(ProcessId::new(NOWHERE)), "processes";
    a_mark_without_its_thread: marks.thread = Some(ThreadId::new(NOWHERE)), "threads";
    a_mark_without_label_string: marks.label = StringId::new(NOWHERE), "strings";
    a_mark_without_place_string: marks.place = StringId::new(NOWHERE), "strings";
    a_rate_without_measure: rate_changes.measure = MeasureId::new(NOWHERE), "measures";
    a_loss_without_its_process: losses.process = Some(ProcessId::new(NOWHERE)), "processes";
    a_loss_without_its_thread: losses.thread = Some(ThreadId::new(NOWHERE)), "threads";
    a_loss_without_detail_string: losses.detail = StringId::new(NOWHERE), "strings";
    a_failure_without_module: failures.module = ModuleId::new(NOWHERE), "modules";
    a_failure_without_tried_string: failures.tried = StringId::new(NOWHERE), "strings";
    a_failure_without_reason_string: failures.reason = StringId::new(NOWHERE), "strings";
    a_setting_without_its_process: settings.process = Some(ProcessId::new(NOWHERE)), "processes";
    a_setting_without_name_string: settings.name = StringId::new(NOWHERE), "strings";
    a_setting_without_value_string: settings.value = StringId::new(NOWHERE), "strings";
}

#[test]
fn columns_of_other_lengths_are_refused() {
    check_rows(
        |tables| {
            tables.samples.cpu.pop();
        },
        "table samples, column cpu: 23 cells where the table has 24 rows",
    );
}

#[test]
fn a_value_the_file_cannot_give_back_is_refused() {
    check_rows(
        |tables| tables.syscalls.end_ns[4] = Some(u64::MAX),
        "table syscalls, row 4, column end_ns: the largest 64-bit value cannot be stored",
    );
}

#[test]
fn a_named_frame_without_string_is_refused() {
    let named = |tables: &mut Tables| {
        let row = tables.frames.kind.iter().position(|kind| kind.is_named()).unwrap();
        tables.frames.address[row] = u64::from(NOWHERE);
    };
    check(named, "column address: no row 99999 in table strings");
}

#[test]
fn a_stack_that_is_its_own_parent_is_refused() {
    check(
        |tables| tables.stacks.parent[5] = Some(StackId::new(5)),
        "table stacks, row 5, column parent: row 5 is not an earlier one",
    );
}

#[test]
fn a_process_forked_by_a_later_one_is_refused() {
    check(
        |tables| tables.processes.parent[1] = Some(ProcessId::new(2)),
        "table processes, row 1, column parent: row 2 is not an earlier one",
    );
}

#[test]
fn a_process_that_replaced_a_later_one_is_refused() {
    check(
        |tables| tables.processes.exec_of[0] = Some(ProcessId::new(0)),
        "table processes, row 0, column exec_of: row 0 is not an earlier one",
    );
}

#[test]
fn a_first_string_that_is_not_empty_is_refused() {
    let fill = |tables: &mut Tables| {
        let lengths: Vec<u64> = tables.strings.iter().map(|text| text.len() as u64).collect();
        let text = tables.strings.text().to_owned();
        tables.strings = crate::Strings::from_lengths(text, &lengths[1..]).unwrap();
        tables.strings.push("last");
    };
    check(fill, "table strings, row 0, column text: the first string is not empty");
}

#[test]
fn a_string_that_is_there_twice_is_refused() {
    let twice = |tables: &mut Tables| {
        let text = tables.strings.get(StringId::new(3)).to_owned();
        tables.strings.push(&text);
    };
    check(twice, ": equal to row 3");
}

/// One test per dictionary: its first row once more at its end.
macro_rules! duplicates {
    ($($name:ident: $field:ident, $text:literal;)*) => {$(
        #[test]
        fn $name() {
            let twice = |tables: &mut Tables| {
                let first = tables.$field.iter().next().unwrap().1;
                tables.$field.push(first);
            };
            check(twice, "equal to row 0");
            check(twice, concat!("table ", $text, ", row "));
        }
    )*};
}

duplicates! {
    a_file_that_is_there_twice_is_refused: files, "files";
    a_module_that_is_there_twice_is_refused: modules, "modules";
    a_function_that_is_there_twice_is_refused: functions, "functions";
    a_frame_that_is_there_twice_is_refused: frames, "frames";
    a_stack_that_is_there_twice_is_refused: stacks, "stacks";
    a_measure_that_is_there_twice_is_refused: measures, "measures";
    a_source_text_that_is_there_twice_is_refused: source_texts, "source-texts";
    a_setting_that_is_there_twice_is_refused: settings, "settings";
}

#[test]
fn a_hash_of_the_wrong_length_is_refused() {
    let cut = |tables: &mut Tables| {
        let row = tables.files.hash_kind.iter().position(|kind| *kind == HashKind::DwarfMd5).unwrap();
        tables.files.hash[row] = tables.strings.push("d41d8cd9");
    };
    check(cut, "column hash: \"d41d8cd9\" is no dwarf-md5");
}

#[test]
fn a_hash_in_capitals_is_refused() {
    let raise = |tables: &mut Tables| {
        let row = tables.files.hash_kind.iter().position(|kind| *kind == HashKind::TextMd5).unwrap();
        tables.files.hash[row] = tables.strings.push("D41D8CD98F00B204E9800998ECF8427E");
    };
    check(raise, "\"D41D8CD98F00B204E9800998ECF8427E\" is no text-md5");
}

#[test]
fn a_hash_of_no_kind_is_refused() {
    let forget = |tables: &mut Tables| {
        let row = tables.files.hash_kind.iter().position(|kind| *kind == HashKind::DwarfMd5).unwrap();
        tables.files.hash_kind[row] = HashKind::None;
    };
    check(forget, "is no none");
}

#[test]
fn a_build_id_that_is_no_hexadecimal_is_refused() {
    let spoil = |tables: &mut Tables| {
        tables.modules.identity_kind[2] = IdentityKind::GnuBuildId;
        tables.modules.identity[2] = tables.strings.push("not hexadecimal!");
    };
    check(spoil, "table modules, row 2, column identity: \"not hexadecimal!\" is no gnu-build-id");
}

#[test]
fn an_identity_without_kind_is_refused() {
    let forget = |tables: &mut Tables| {
        let row = tables.modules.identity_kind.iter().position(|kind| *kind != IdentityKind::None).unwrap();
        tables.modules.identity_kind[row] = IdentityKind::None;
    };
    check(forget, "is no none");
}

#[test]
fn an_endless_identity_is_refused() {
    let lengthen = |tables: &mut Tables| {
        tables.modules.identity_kind[0] = IdentityKind::GoBuildId;
        tables.modules.identity[0] = tables.strings.push(&"long/".repeat(60));
    };
    check(lengthen, "table modules, row 0, column identity");
}

#[test]
fn a_source_text_above_4_mib_is_refused() {
    let grow = |tables: &mut Tables| {
        tables.source_texts.text[0] = tables.strings.push(&"x".repeat((4 << 20) + 1));
    };
    check(grow, "table source-texts, row 0, column text: 4194305 bytes are more than 4194304");
}

#[test]
fn an_exec_with_another_pid_is_refused() {
    let rename = |tables: &mut Tables| {
        tables.processes.exec_of[1] = Some(ProcessId::new(0));
        tables.processes.pid[0] = 1;
        tables.processes.pid[1] = 2;
    };
    check(rename, "table processes, row 1, column exec_of: pid 2 where the row it replaced by exec has 1");
}

/// One test per pair of times or addresses that must not run backwards.
macro_rules! backwards {
    ($($name:ident: $field:ident.$column:ident, |$tables:ident| $break:block;)*) => {$(
        #[test]
        fn $name() {
            check(
                |$tables| $break,
                concat!("row 0, column ", stringify!($column), ": 3 is before 5"),
            );
        }
    )*};
}

backwards! {
    a_process_that_ends_before_it_starts_is_refused: processes.end_ns, |tables| {
        tables.processes.start_ns[0] = 5;
        tables.processes.end_ns[0] = Some(3);
    };
    a_thread_that_ends_before_it_starts_is_refused: threads.end_ns, |tables| {
        tables.threads.start_ns[0] = 5;
        tables.threads.end_ns[0] = Some(3);
    };
    a_mapping_that_ends_before_it_begins_is_refused: mappings.valid_until_ns, |tables| {
        tables.mappings.valid_from_ns[0] = 5;
        tables.mappings.valid_until_ns[0] = Some(3);
    };
    an_interval_that_ends_before_it_starts_is_refused: intervals.end_ns, |tables| {
        tables.intervals.start_ns[0] = Some(5);
        tables.intervals.end_ns[0] = Some(3);
    };
    a_syscall_that_ends_before_it_starts_is_refused: syscalls.end_ns, |tables| {
        tables.syscalls.start_ns[0] = Some(5);
        tables.syscalls.end_ns[0] = Some(3);
    };
    a_task_last_seen_before_it_was_first_seen_is_refused: tasks.last_seen_ns, |tables| {
        tables.tasks.first_seen_ns[0] = 5;
        tables.tasks.last_seen_ns[0] = 3;
    };
    a_label_that_ends_before_it_starts_is_refused: label_spans.end_ns, |tables| {
        tables.label_spans.start_ns[0] = 5;
        tables.label_spans.end_ns[0] = Some(3);
    };
    a_loss_that_ends_before_it_begins_is_refused: losses.until_ns, |tables| {
        tables.losses.from_ns[0] = 5;
        tables.losses.until_ns[0] = 3;
    };
    a_failure_that_ends_before_it_begins_is_refused: failures.to_address, |tables| {
        tables.failures.from_address[0] = 5;
        tables.failures.to_address[0] = 3;
    };
}

#[test]
fn a_mapping_of_nothing_is_refused() {
    let empty = |tables: &mut Tables| {
        tables.mappings.start_address[1] = 0x1000;
        tables.mappings.end_address[1] = 0x1000;
    };
    check(
        empty,
        "table mappings, row 1, column end_address: the range ends at 0x1000, not after its start 0x1000",
    );
}

#[test]
fn a_named_frame_with_a_module_is_refused() {
    let own = |tables: &mut Tables| {
        let row = tables.frames.kind.iter().position(|kind| *kind == FrameKind::Awaited).unwrap();
        tables.frames.module[row] = Some(ModuleId::new(0));
    };
    check(own, "column module: a awaited frame has no module");
}

#[test]
fn facts_out_of_order_are_refused() {
    check(
        |tables| tables.facts.frame[0] = FrameId::new(20),
        "table facts, row 1, column frame: not in order after the row before: rows ascend by frame, depth",
    );
}

#[test]
fn a_gap_in_a_frames_depths_is_refused() {
    let skip = |tables: &mut Tables| {
        let last = tables.facts.len() - 1;
        tables.facts.depth[last] += 1;
    };
    check(skip, "column depth: depth ");
}

#[test]
fn samples_out_of_order_are_refused() {
    check(
        |tables| tables.samples.time_ns.swap(3, 4),
        "table samples, row 4, column time_ns: not in order after the row before: rows ascend by time_ns, thread",
    );
}

#[test]
fn weights_beyond_64_bits_are_refused() {
    check(
        |tables| tables.samples.weight[..2].fill(u64::MAX / 2 + 1),
        "table samples, column weight: the weights of one measure add up to more than 64 bits hold",
    );
}

#[test]
fn an_interval_without_edges_is_refused() {
    let cut = |tables: &mut Tables| {
        tables.intervals.start_ns[6] = None;
        tables.intervals.end_ns[6] = None;
    };
    check(cut, "table intervals, row 6, column start_ns: neither its start nor its end is known");
}

#[test]
fn a_syscall_without_edges_is_refused() {
    let cut = |tables: &mut Tables| {
        tables.syscalls.start_ns[6] = None;
        tables.syscalls.end_ns[6] = None;
    };
    check(cut, "table syscalls, row 6, column start_ns: neither its start nor its end is known");
}

#[test]
fn a_claim_that_is_made_twice_is_refused() {
    let twice = |tables: &mut Tables| {
        let last = tables.claims.iter().next_back().unwrap().1;
        tables.claims.push(last);
    };
    check(twice, "column sample: not in order after the row before: rows ascend by sample, task");
}

#[test]
fn a_zone_with_a_point_is_refused() {
    let spoil = |tables: &mut Tables| {
        let zone = tables.probe_sites.kind.iter().position(|kind| *kind == ProbeKind::Zone).unwrap();
        tables.probe_records.site[0] = crate::ProbeSiteId::new(zone as u32);
        tables.probe_records.edge[0] = ProbeEdge::Point;
    };
    check(spoil, "table probe-records, row 0, column edge: a zone site has no point records");
}

#[test]
fn probe_records_out_of_order_are_refused() {
    let turn = |tables: &mut Tables| {
        tables.probe_records.thread[..2].fill(ThreadId::new(0));
        tables.probe_records.time_ns[0] = 2;
        tables.probe_records.time_ns[1] = 1;
    };
    check(turn, "table probe-records, row 1, column time_ns: not in order");
}

/// A thread, and a process it is not of.
fn strangers(tables: &Tables) -> (ThreadId, ProcessId) {
    let thread = ThreadId::new(0);
    let of = tables.threads.row(thread).process;
    (thread, tables.processes.ids().find(|process| *process != of).unwrap())
}

#[test]
fn a_mark_of_a_thread_of_another_process_is_refused() {
    let move_to = |tables: &mut Tables| {
        let (thread, process) = strangers(tables);
        tables.marks.thread[0] = Some(thread);
        tables.marks.process[0] = Some(process);
    };
    check(move_to, "table marks, row 0, column thread: the thread is of process row");
}

#[test]
fn a_loss_of_a_thread_of_another_process_is_refused() {
    let move_to = |tables: &mut Tables| {
        let (thread, process) = strangers(tables);
        tables.losses.thread[0] = Some(thread);
        tables.losses.process[0] = Some(process);
    };
    check(move_to, "table losses, row 0, column thread: the thread is of process row");
}

#[test]
fn a_setting_without_name_is_refused() {
    check(
        |tables| tables.settings.name[0] = StringId::new(0),
        "table settings, row 0, column name: a name is empty",
    );
}

#[test]
fn duty_above_the_whole_is_refused() {
    check(
        |tables| tables.duty_changes.duty_ppm[2] = 1_000_001,
        "table duty-changes, row 2, column duty_ppm: 1000001 millionths are more than the whole",
    );
}
