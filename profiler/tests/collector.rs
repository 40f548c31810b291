//! The collector on the real kernel: what comes out of a launch, an attach, a refusal. Where perf events are
//! refused to this user, the tests say so and pass nothing off as shown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod recording;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use microscope_profiler::collector::{
    EndCause, EventRole, KernelCoverage, StartError, Topology, attach, launch,
};
use microscope_profiler::options::{
    EventChoice, KernelChoice, Preset, RecordOptions, RecordRequest, StackPolicy,
};
use microscope_profiler::sys::launch::LaunchCommand;
use microscope_profiler::sys::process;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use recording::{Recording, Running, options, record, skipped};

/// A program whose only thread computes for a tenth of a second `tenths` times.
fn busy(tenths: u32) -> LaunchCommand {
    command("busy", tenths)
}

fn command(what: &str, tenths: u32) -> LaunchCommand {
    LaunchCommand::new(recording::target()).with_arguments([what, &(tenths * 10).to_string()])
}

/// The same, started by somebody else, and well under way.
fn running(what: &str, tenths: u32) -> Child {
    let child = Command::new(recording::target()).args([what, &(tenths * 10).to_string()]).spawn().unwrap();
    wait_for_use(child.id(), 50);
    child
}

/// Waits until a process has used so many milliseconds of processor time, or is gone.
fn wait_for_use(pid: u32, milliseconds: u64) {
    while process::times(pid).is_ok_and(|times| times.own.total_ns() < milliseconds * 1_000_000) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Stops the recording once the process has used so many milliseconds since it began: however busy the machine,
/// there are samples enough, and hundredths of a second, in which times are counted, do not matter.
fn finish_after_use(recording: Running, pid: u32, milliseconds: u64) -> Recording {
    wait_for_use(pid, milliseconds);
    recording.finish_after(Duration::ZERO)
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn with(request: RecordRequest) -> RecordOptions {
    RecordOptions::check(&request).unwrap()
}

#[test]
fn a_launched_program_is_sampled_at_the_planned_rate() {
    let Some(recording) = record(launch(&busy(10), &options())) else { return };
    let report = &recording.report;
    assert_eq!(report.cause, EndCause::TargetsGone);
    assert_eq!(report.exit.unwrap().code(), Some(0));
    let (found, expected) = (recording.samples().len() as f64, recording.expected_samples());
    assert!(found > expected * 0.95 && found < expected * 1.1, "{found} of {expected}");
    assert_eq!(recording.lost(), 0);
}

#[test]
fn a_launch_reports_its_own_exec_and_mappings_and_no_code_of_the_recorder() {
    let Some(recording) = record(launch(&busy(1), &options())) else { return };
    let execs = recording.execs();
    assert_eq!(execs.len(), 1, "{execs:?}");
    let (exec_ns, _) = execs[0];
    assert!(recording.samples().iter().all(|sample| sample.time_ns >= exec_ns));
    assert!(recording.count_of(recording::RECORD_MMAP2) >= 4);
    assert!(recording.count_of(recording::RECORD_EXIT) >= 1);
}

#[test]
fn every_record_is_of_an_event_whose_layout_is_known() {
    let Some(recording) = record(launch(&busy(2), &options())) else { return };
    for sample in recording.samples() {
        let layout = recording.layout(sample.id);
        assert_eq!((layout.role, layout.cpu), (EventRole::Sampler, sample.cpu));
    }
}

#[test]
fn batches_of_a_ring_follow_one_another_and_rounds_only_grow() {
    let Some(recording) = record(launch(&busy(5), &options())) else { return };
    recording.check_positions();
    assert!(recording.rounds.is_sorted());
    assert!(recording.rounds.len() > 5);
}

#[test]
fn few_records_come_later_than_the_round_that_completed_their_time() {
    let Some(recording) = record(launch(&busy(10), &options())) else { return };
    assert!(recording.late * 1000 <= recording.records.len(), "{} late", recording.late);
}

#[test]
fn children_are_followed_unless_left_out() {
    let Some(recording) = record(launch(&command("fork", 5), &options())) else { return };
    let parent = recording.pids[0];
    let of_children = recording.samples().iter().filter(|sample| sample.pid != parent).count();
    assert!(of_children > 450, "{of_children}");
    assert!(recording.report.targets[0].children_used.total_ns() > 450_000_000);

    let without = with(RecordRequest { without_children: true, ..RecordRequest::default() });
    let Some(recording) = record(launch(&command("fork", 5), &without)) else { return };
    let parent = recording.pids[0];
    assert!(recording.samples().len() > 450);
    assert!(recording.samples().iter().all(|sample| sample.pid == parent));
}

#[test]
fn threads_are_followed() {
    let Some(recording) = record(launch(&command("threads", 2), &options())) else { return };
    for (tid, samples) in recording.samples_by_thread() {
        assert!(samples > 180, "{samples} of thread {tid}");
    }
    assert_eq!(recording.samples_by_thread().len(), 4);
}

#[test]
fn running_programs_are_attached_without_stopping_them_and_left_running() {
    let targets = [running("threads", 100), running("busy", 100)];
    let armed = attach(&targets.each_ref().map(Child::id), &options());
    let recording = armed.map(|armed| finish_after_use(Recording::start(armed), targets[0].id(), 800));
    for mut target in targets {
        assert_eq!(target.try_wait().unwrap(), None);
        end(target);
    }
    let recording = match recording {
        Ok(recording) => recording,
        Err(error) => return skipped(&error),
    };
    assert_eq!(recording.report.cause, EndCause::Stopped);
    for target in &recording.report.targets {
        assert!(target.before.total_ns() > 0 && target.used.total_ns() > 0 && !target.exited, "{target:?}");
    }
    // `stat` counts in hundredths of a second.
    let (found, expected) = (recording.samples().len() as f64, recording.expected_samples());
    assert!(found > expected * 0.9 && found < expected * 1.1, "{found} of {expected}");
    assert_eq!(recording.samples_by_thread().len(), 5);
    recording.check_one_event_per_thread_and_cpu();
}

#[test]
fn threads_that_start_while_a_program_is_attached_are_each_counted_once() {
    let target = running("births", 100);
    let armed = attach(&[target.id()], &options());
    let recording = armed.map(|armed| finish_after_use(Recording::start(armed), target.id(), 600));
    end(target);
    let recording = match recording {
        Ok(recording) => recording,
        Err(error) => return skipped(&error),
    };
    // A thread's first period begins with the thread: one of ten in ten milliseconds is cut at its end.
    let (found, expected) = (recording.samples().len() as f64, recording.expected_samples());
    assert!(found > expected * 0.7 && found < expected * 1.1, "{found} of {expected}");
    recording.check_one_event_per_thread_and_cpu();
}

#[test]
fn a_recording_ends_when_the_attached_program_does() {
    let mut target = running("busy", 5);
    let recording = record(attach(&[target.id()], &options()));
    // It was not our child to wait for.
    assert!(target.wait().unwrap().success());
    let Some(recording) = recording else { return };
    assert_eq!((recording.report.cause, recording.report.exit), (EndCause::TargetsGone, None));
    assert!(recording.report.targets[0].exited);
}

#[test]
fn another_process_joins_a_running_recording() {
    let other = running("busy", 100);
    let recorded = launch(&busy(100), &options()).map(|armed| {
        let running = Recording::start(armed);
        assert_eq!(running.control().attach(&[other.id()]).unwrap(), 1);
        let child = running.child().unwrap();
        let recording = running.finish_after(Duration::from_millis(500));
        child.signal(Signal::SIGKILL).unwrap();
        recording
    });
    let pid = other.id();
    end(other);
    let recording = match recorded {
        Ok(recording) => recording,
        Err(error) => return skipped(&error),
    };
    let by_process = |wanted| recording.samples().iter().filter(|sample| sample.pid == wanted).count();
    assert!(by_process(pid) > 20 && by_process(recording.pids[0]) > 20);
    assert_eq!(recording.report.targets.len(), 2);
}

#[test]
fn a_rescan_arms_no_thread_that_is_armed_or_known() {
    let target = running("threads", 100);
    let armed = attach(&[target.id()], &options());
    let recorded = armed.map(|armed| {
        let running = Recording::start(armed);
        let tids = process::threads(target.id()).unwrap();
        assert_eq!(running.control().rescan(target.id(), &tids).unwrap(), 0);
        running.finish_after(Duration::from_millis(100)).check_one_event_per_thread_and_cpu();
    });
    end(target);
    if let Err(error) = recorded {
        skipped(&error);
    }
}

#[test]
fn sampling_stops_and_goes_on_by_command() {
    let armed = match launch(&busy(10), &options()) {
        Ok(armed) => armed,
        Err(error) => return skipped(&error),
    };
    let running = Recording::start(armed);
    std::thread::sleep(Duration::from_millis(200));
    running.control().disable().unwrap();
    let disabled_ns = recording::now_ns();
    std::thread::sleep(Duration::from_millis(200));
    let enabled_ns = recording::now_ns();
    running.control().enable().unwrap();
    let recording = running.finish();
    let between = recording
        .samples()
        .iter()
        .filter(|sample| (disabled_ns..enabled_ns).contains(&sample.time_ns))
        .count();
    let after = recording.samples().iter().filter(|sample| sample.time_ns >= enabled_ns).count();
    assert_eq!(between, 0);
    assert!(after > 20, "{after}");
}

#[test]
fn a_program_that_does_not_exist_is_named_with_what_would_help() {
    let armed = match launch(&LaunchCommand::new("no-such-program-here"), &options()) {
        Ok(armed) => armed,
        Err(error) => return skipped(&error),
    };
    let (sender, _receiver) = std::sync::mpsc::sync_channel(64);
    let error = armed.start(sender).unwrap_err();
    assert!(
        matches!(&error, StartError::Program { failure, .. } if failure.errno == Errno::ENOENT),
        "{error:?}"
    );
    assert!(error.remedy().is_some());
}

#[test]
fn a_recording_that_is_dropped_before_its_start_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ran");
    match launch(&LaunchCommand::new("touch").with_arguments([&mark]), &options()) {
        Ok(armed) => drop(armed),
        Err(error) => return skipped(&error),
    }
    assert!(!mark.exists());
}

#[test]
fn a_missing_process_and_a_thread_are_refused_by_name() {
    assert_eq!(attach(&[], &options()).unwrap_err(), StartError::NoTarget);
    let gone = attach(&[i32::MAX as u32], &options()).unwrap_err();
    assert_eq!(gone, StartError::TargetGone { pid: i32::MAX as u32 });
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        sender.send(nix::unistd::gettid().as_raw().cast_unsigned()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    });
    let tid = receiver.recv().unwrap();
    let error = attach(&[tid], &options()).unwrap_err();
    assert_eq!(error, StartError::TargetIsThread { tid, pid: std::process::id() });
    thread.join().unwrap();
}

#[test]
fn each_stack_policy_puts_its_own_evidence_into_samples() {
    for (policy, chain, stack) in [
        (StackPolicy::Copy, None, true),
        (StackPolicy::FramePointers, Some(true), false),
        (StackPolicy::Both, Some(true), true),
        (StackPolicy::None, Some(false), false),
    ] {
        let options = with(RecordRequest { stack: Some(policy), ..RecordRequest::default() });
        let Some(recording) = record(launch(&busy(1), &options)) else { return };
        let fields =
            recording.layouts.iter().find(|layout| layout.role == EventRole::Sampler).unwrap().fields;
        assert_eq!(fields.stack_bytes != 0, stack, "{policy}");
        // With copies alone, a call chain only serves the kernel's frames.
        let kernel = recording.plan.kernel == KernelCoverage::Stacks;
        assert_eq!(fields.callchain, chain.unwrap_or(kernel), "{policy}");
        assert!(!recording.samples().is_empty());
    }
}

#[test]
fn the_event_is_cycles_where_the_processor_counts_them_else_the_clock_and_the_reason_is_kept() {
    let Some(recording) = record(launch(&busy(1), &options())) else { return };
    let reason = recording.plan.notes.iter().map(ToString::to_string).find(|note| note.contains("cpu-clock"));
    match recording.plan.event.event {
        EventChoice::Cycles => assert_eq!(reason, None),
        event => {
            assert_eq!(event, EventChoice::CpuClock);
            assert!(reason.is_some());
        }
    }
}

#[test]
fn user_time_alone_is_recorded_when_the_kernel_is_off_limits() {
    let options = with(RecordRequest { kernel: Some(KernelChoice::Off), ..RecordRequest::default() });
    let Some(recording) = record(launch(&busy(2), &options)) else { return };
    assert_ne!(recording.plan.kernel, KernelCoverage::Stacks);
}

#[test]
fn rings_too_small_for_the_load_lose_and_count_every_lost_record() {
    // The processor sleeps while the rings run over: both accounts must tell the same, or the reading more.
    let options =
        with(RecordRequest { preset: Preset::High, rate_hz: Some(20_000), ..RecordRequest::default() });
    let armed = match launch(&busy(9), &options) {
        Ok(armed) => armed,
        Err(error) => return skipped(&error),
    };
    // 0.7 seconds of samples are more than rings and copies hold.
    let recording = Recording::start_stalled(armed, |pid| wait_for_use(pid, 700)).finish();
    recording.check_positions();
    let counted: u64 = recording.report.rings.iter().filter_map(|ring| ring.lost_records).sum();
    assert!(recording.lost() > 0, "nothing was lost; copied {} bytes", recording.report.copied_bytes);
    assert!(counted >= recording.lost(), "{counted} counted, {} reported", recording.lost());
    assert!(recording.report.copied_bytes > 0);
}

/// This program with one of its tests, to be run under other conditions than ours. What it says and whether it
/// passed.
fn own_test(program: &Path, under: &[&str], test: &str) -> (String, bool) {
    let mut words = under.to_vec();
    let program = program.to_str().unwrap();
    words.extend([program, "--exact", "--nocapture", test]);
    let output = Command::new(words[0]).args(&words[1..]).current_dir("/").output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (text, output.status.success())
}

/// A copy of this program that anybody may run.
fn public_copy(folder: &Path) -> PathBuf {
    let program = folder.join("collector-tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder, &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    program
}

const AS_NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

#[test]
fn an_unprivileged_user_records_their_own_program() {
    if !nix::unistd::geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    recording::target();
    let folder = tempfile::tempdir().unwrap();
    let program = public_copy(folder.path());
    for memlock in ["--memlock=8388608", "--memlock=65536"] {
        let under = [&AS_NOBODY[..], &["prlimit", memlock]].concat();
        let (text, passed) = own_test(&program, &under, "records_as_whoever_runs_this");
        eprintln!("{text}");
        assert!(passed && text.contains("recorded as user 65534"), "{text}");
    }
}

#[test]
fn more_threads_than_descriptors_are_recorded_system_wide_or_refused_with_the_number() {
    if !nix::unistd::geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    recording::target();
    let folder = tempfile::tempdir().unwrap();
    let program = public_copy(folder.path());
    let (privileged, passed) = own_test(&program, &["prlimit", "--nofile=300"], "attaches_to_a_crowd");
    assert!(passed, "{privileged}");
    let under = [&AS_NOBODY[..], &["prlimit", "--nofile=300"]].concat();
    let (unprivileged, passed) = own_test(&program, &under, "attaches_to_a_crowd");
    assert!(passed, "{unprivileged}");
    assert!(privileged.contains("attached SystemWide") || privileged.contains("skipped"), "{privileged}");
    assert!(unprivileged.contains("refused: profiling 101 threads needs 472 descriptors"), "{unprivileged}");
}

#[test]
fn attaches_to_a_crowd() {
    let target = running("crowd", 100);
    let armed = attach(&[target.id()], &options());
    let recorded = armed.map(|armed| finish_after_use(Recording::start(armed), target.id(), 500));
    let pid = target.id();
    end(target);
    match recorded {
        Err(error @ StartError::Descriptors { .. }) => eprintln!("refused: {error}"),
        Err(error) => skipped(&error),
        Ok(recording) => {
            let expected = recording.expected_samples();
            let found = recording.samples().iter().filter(|sample| sample.pid == pid).count() as f64;
            assert!(found > expected * 0.8 && found < expected * 1.2, "{found} of {expected}");
            eprintln!("attached {:?}", recording.plan.topology);
        }
    }
}

#[test]
fn a_filter_of_system_calls_is_told_apart_from_a_missing_right() {
    const PERF_EVENT_OPEN: &str = "298";
    let refuse = recording::compiled("refuse.c");
    for (errno, said) in [
        (Errno::EPERM, "skipped: perf events are blocked here (perf_event_open: EPERM)"),
        (Errno::EACCES, "skipped: this user may not use perf events"),
        (Errno::ENOSYS, "skipped: perf events do not exist here (perf_event_open: ENOSYS)"),
    ] {
        let number = (errno as i32).to_string();
        let under = [refuse.to_str().unwrap(), &number, PERF_EVENT_OPEN];
        let (text, _) = own_test(&std::env::current_exe().unwrap(), &under, "records_as_whoever_runs_this");
        assert!(text.contains(said), "{errno}: {text}");
    }
}

#[test]
fn records_as_whoever_runs_this() {
    let Some(recording) = record(launch(&busy(5), &options())) else { return };
    assert_eq!(recording.plan.topology, Topology::PerThread);
    let (found, expected) = (recording.samples().len() as f64, recording.expected_samples());
    assert!(found > expected * 0.9 && found < expected * 1.1, "{found} of {expected}");
    assert_eq!(recording.lost(), 0);
    let notes: Vec<_> = recording.plan.notes.iter().map(ToString::to_string).collect();
    eprintln!("recorded as user {}: {:?} {notes:#?}", nix::unistd::geteuid(), recording.plan.rings);
    let report = &recording.report;
    eprintln!("the collector used {:?} and woke {} times", report.own, report.wakeups);
}
