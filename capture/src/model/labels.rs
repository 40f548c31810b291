//! What the program or its user says of itself: labels, probe sites, counters, marks, settings.

use crate::column::coded_enum;
use crate::table::table;
use crate::{
    CounterId, FileId, LabelSpanId, MarkId, ProbeRecordId, ProbeSiteId, ProcessId, SettingId, StringId,
    ThreadId,
};

table! {
    /// Labels that held on a thread for a time.
    pub table LabelSpans("label-spans") of
    /// One label.
    LabelSpan by LabelSpanId {
        /// Which thread.
        thread: ThreadId,
        /// The label's name.
        name: StringId,
        /// Its value.
        value: StringId,
        /// When it began.
        start_ns: u64,
        /// When it ended, if that was seen. Invariant: not before the start.
        end_ns: Option<u64>,
    }
}

coded_enum! {
    /// What a probe site marks.
    pub enum ProbeKind {
        /// A zone: begin and end.
        Zone = 0 => "zone",
        /// A moment.
        Event = 1 => "event",
        /// A number.
        Value = 2 => "value",
        /// A text.
        Message = 3 => "message",
        /// The end of a frame of work.
        FrameMark = 4 => "frame-mark",
    }
}

table! {
    /// Places in programs that write probe records.
    pub table ProbeSites("probe-sites") of
    /// One place.
    ProbeSite by ProbeSiteId {
        /// The process that holds it.
        process: ProcessId,
        /// What it marks.
        kind: ProbeKind,
        /// Its name.
        name: StringId,
        /// Where it stands, when known.
        file: Option<FileId>,
        /// The line, from 1; 0 is unknown.
        line: u32,
    }
}

coded_enum! {
    /// What a probe record says.
    pub enum ProbeEdge {
        /// A zone began.
        Begin = 0 => "begin",
        /// A zone ended.
        End = 1 => "end",
        /// Something was noted at one moment.
        Point = 2 => "point",
    }
}

table! {
    /// Records that probe sites wrote.
    pub table ProbeRecords("probe-records") of
    /// One record.
    ProbeRecord by ProbeRecordId {
        /// The place.
        site: ProbeSiteId,
        /// The thread.
        thread: ThreadId,
        /// When.
        time_ns: u64,
        /// Begin, end or point.
        edge: ProbeEdge,
        /// The number it carries, as the bits the site's kind gives meaning to.
        value: Option<i64>,
        /// The text it carries, or empty.
        text: StringId,
    }
}

table! {
    /// Values of counters over time.
    pub table Counters("counters") of
    /// One value.
    Counter by CounterId {
        /// The counter's name.
        name: StringId,
        /// The process it is of; absent for the whole machine.
        process: Option<ProcessId>,
        /// When it was read.
        time_ns: u64,
        /// Its value.
        value: i64,
    }
}

coded_enum! {
    /// What a mark tells.
    pub enum MarkKind {
        /// A debugger stopped the program.
        Stopped = 0 => "stopped",
        /// A debugger let it run on.
        Continued = 1 => "continued",
        /// Somebody noted something.
        Note = 2 => "note",
    }
}

table! {
    /// Moments that somebody outside the program marked.
    pub table Marks("marks") of
    /// One moment.
    Mark by MarkId {
        /// When.
        time_ns: u64,
        /// What.
        kind: MarkKind,
        /// The process it concerns; absent for all.
        process: Option<ProcessId>,
        /// The thread that stopped, when known.
        thread: Option<ThreadId>,
        /// Why, or the note's text.
        label: StringId,
        /// The place as `file:line`, or empty.
        place: StringId,
    }
}

table! {
    /// How the recording was made, and facts of single processes.
    pub table Settings("settings") of
    /// One setting.
    Setting by SettingId {
        /// The process it is of; absent for the whole recording.
        process: Option<ProcessId>,
        /// Its name.
        name: StringId,
        /// Its text.
        value: StringId,
    }
}
