//! Locations become frames: by module and address where there is one, else by what they name.
//!
//! pprof keeps addresses inside the call instruction, so they are looked up as they are. An address is made
//! relative to its file by the mapping's start and file offset.

use rustc_hash::FxHashMap;

use super::PprofError;
use super::profile::Profile;
use super::proto::{Line, Location, Mapping};
use crate::import::losses::ImportLosses;
use crate::{
    Builder, CodeRole, Fact, File, FileId, Frame, FrameId, FrameKind, Function, FunctionFlags, FunctionId,
    HashKind, IdentityKind, Module, ModuleId, ModuleKind, StringId,
};

/// What stands for a location that says nothing.
const NO_NAME: &str = "[unknown]";
/// Between the levels of an inline chain in a frame's key.
const INLINED_INTO: &str = " inlined into ";
/// The longest inline chain that is kept.
const INLINE_DEPTH_MAX: usize = 1024;
/// The longest build ID a module keeps.
const IDENTITY_BYTES_MAX: usize = 256;

/// One level of a location's chain, before it belongs to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    function: FunctionId,
    file: Option<FileId>,
    line: u32,
}

/// The frame of each location, in the profile's order.
pub(super) struct Frames(Vec<FrameId>);

impl Frames {
    pub(super) fn import(
        profile: &Profile<'_>,
        builder: &mut Builder,
        losses: &mut ImportLosses,
    ) -> Result<Self, PprofError> {
        let mut import = Import { profile, builder, losses, chains: FxHashMap::default() };
        let frames = profile.message.location.iter().map(|location| import.frame(location));
        Ok(Self(frames.collect::<Result<_, _>>()?))
    }

    /// The frame of the location at a place of the profile's list.
    pub(super) fn at(&self, place: usize) -> FrameId {
        self.0[place]
    }
}

struct Import<'a, 'b> {
    profile: &'a Profile<'b>,
    builder: &'a mut Builder,
    losses: &'a mut ImportLosses,
    /// The chain that each frame has: a frame is named once.
    chains: FxHashMap<FrameId, Vec<Level>>,
}

impl Import<'_, '_> {
    fn frame(&mut self, location: &Location) -> Result<FrameId, PprofError> {
        let mapping = self.profile.mapping(location)?;
        let module = mapping.map(|mapping| self.module(mapping)).transpose()?;
        let chain = self.chain(location, module)?;
        let (kind, module, address) = match location.address {
            0 => (FrameKind::Named, None, u64::from(self.key(&location.line)?.get())),
            address => (FrameKind::Native, module, relative_address(mapping, address)),
        };
        let frame = self.builder.frame(Frame { kind, role: CodeRole::Plain, module, address });
        self.name(frame, chain);
        Ok(frame)
    }

    fn module(&mut self, mapping: &Mapping) -> Result<ModuleId, PprofError> {
        let path = self.profile.text("a mapping", mapping.filename)?;
        let build_id = self.profile.text("a mapping", mapping.build_id)?;
        let (identity_kind, identity) = identity(build_id);
        if identity_kind == IdentityKind::None && !build_id.is_empty() {
            self.losses.count("build IDs longer than a module keeps");
        }
        let row = Module {
            kind: ModuleKind::Imported,
            path: self.builder.string(path),
            identity_kind,
            identity: self.builder.string(&identity),
            debug_path: self.builder.string(""),
        };
        Ok(self.builder.module(row))
    }

    fn chain(&mut self, location: &Location, module: Option<ModuleId>) -> Result<Vec<Level>, PprofError> {
        if location.line.len() > INLINE_DEPTH_MAX {
            self.losses.count("inline levels beyond 1024 of one location");
        }
        let lines = location.line.iter().take(INLINE_DEPTH_MAX);
        lines.map(|line| self.level(line, module, location.is_folded)).collect()
    }

    fn level(&mut self, line: &Line, module: Option<ModuleId>, folded: bool) -> Result<Level, PprofError> {
        let function = self.profile.function(line.function_id)?;
        let name = self.profile.text("a function", function.name)?;
        let linkage_name = self.profile.text("a function", function.system_name)?;
        let path = self.profile.text("a function", function.filename)?;
        let file = (!path.is_empty()).then(|| self.file(path));
        let row = Function {
            name: self.builder.string(if name.is_empty() { NO_NAME } else { name }),
            linkage_name: self.builder.string(if linkage_name == name { "" } else { linkage_name }),
            module,
            file,
            line: line_number(function.start_line),
            relative_address: 0,
            flags: if folded { FunctionFlags::Folded } else { FunctionFlags::Plain },
        };
        Ok(Level { function: self.builder.function(row), file, line: line_number(line.line) })
    }

    fn file(&mut self, path: &str) -> FileId {
        let (path, hash) = (self.builder.string(path), self.builder.string(""));
        self.builder.file(File { path, hash_kind: HashKind::None, hash })
    }

    /// The text that tells a location without address from others: what it names, and where.
    fn key(&mut self, lines: &[Line]) -> Result<StringId, PprofError> {
        let levels = lines.iter().take(INLINE_DEPTH_MAX).map(|line| {
            let function = self.profile.function(line.function_id)?;
            let name = self.profile.text("a function", function.name)?;
            let path = self.profile.text("a function", function.filename)?;
            Ok(match (path, line.line) {
                ("", 0) => name.to_owned(),
                (path, number) => format!("{name} ({path}:{number})"),
            })
        });
        let levels: Vec<String> = levels.collect::<Result<_, PprofError>>()?;
        let key = levels.join(INLINED_INTO);
        Ok(self.builder.string(if key.is_empty() { NO_NAME } else { &key }))
    }

    /// Gives a frame its chain, once.
    fn name(&mut self, frame: FrameId, chain: Vec<Level>) {
        if let Some(before) = self.chains.get(&frame) {
            if *before != chain {
                self.losses.count("locations of one address that name other lines");
            }
            return;
        }
        for (depth, Level { function, file, line }) in (0..).zip(&chain) {
            let fact = Fact { frame, depth, function: *function, file: *file, line: *line };
            self.builder.tables.facts.push(fact);
        }
        self.chains.insert(frame, chain);
    }
}

/// An address inside its mapping is relative to the file; any other stays as it is.
fn relative_address(mapping: Option<&Mapping>, address: u64) -> u64 {
    match mapping {
        Some(mapping) if (mapping.memory_start..mapping.memory_limit).contains(&address) => {
            (address - mapping.memory_start).wrapping_add(mapping.file_offset)
        }
        _ => address,
    }
}

/// What a build ID is: hexadecimal is GNU's, other text is Go's.
fn identity(build_id: &str) -> (IdentityKind, String) {
    let hexadecimal = build_id.len().is_multiple_of(2) && build_id.bytes().all(|b| b.is_ascii_hexdigit());
    match build_id.len() {
        0 => (IdentityKind::None, String::new()),
        bytes if bytes > IDENTITY_BYTES_MAX => (IdentityKind::None, String::new()),
        _ if hexadecimal => (IdentityKind::GnuBuildId, build_id.to_ascii_lowercase()),
        _ => (IdentityKind::GoBuildId, build_id.to_owned()),
    }
}

fn line_number(line: i64) -> u32 {
    u32::try_from(line).unwrap_or(0)
}
