//! Claims about naming: what facts a frame gets, and when.

use microscope_capture::{CodeRole, FrameKind, FunctionFlags, IdentityKind, Module, ModuleKind, Stack};

use super::*;
use crate::debug_info::{FunctionName, Level, SourceFile, Tried};

/// Names even addresses `f_ADDRESS` at line ADDRESS with one inlined level; odd ones not at all; 99 panics.
struct Even;

impl NameSource for Even {
    fn name(&self, relative_address: u64, is_caller: bool) -> NamedAddress {
        assert_ne!(relative_address, 99, "planted");
        let address = relative_address - u64::from(is_caller);
        if address % 2 == 1 {
            return NamedAddress::unnamed();
        }
        let file = Some(Arc::new(SourceFile { path: "/src/a.c".into(), md5: Some([1; 16]) }));
        let level = |name: String, line| Level {
            function: Arc::new(FunctionName {
                name: name.as_str().into(),
                linkage_name: "".into(),
                decl_file: None,
                decl_line: 0,
                relative_address: address,
                flags: FunctionFlags::Plain,
            }),
            file: file.clone(),
            line,
        };
        let line = u32::try_from(address).unwrap();
        let levels = vec![level("inlined".to_owned(), 7), level(format!("f_{address}"), line)];
        NamedAddress { levels, role: CodeRole::Stub }
    }

    fn failure(&self, relative_address: u64) -> Failure {
        let tried = vec![Tried { path: "/bin/a\nb".to_owned(), refused: None }];
        Failure { range: relative_address..relative_address + 1, tried }
    }
}

/// Names frames at `addresses`; a second look finds those after the first two.
fn named(addresses: &[(FrameKind, u64)]) -> Builder {
    let mut builder = Builder::new();
    let mut naming = Naming::start(NonZeroUsize::new(2).unwrap()).unwrap();
    let path = builder.string("/bin/a");
    let empty = builder.string("");
    let module = builder.module(Module {
        kind: ModuleKind::File,
        path,
        identity_kind: IdentityKind::None,
        identity: empty,
        debug_path: empty,
    });
    naming.add_module(module, Arc::new(Even));
    for (index, (kind, address)) in addresses.iter().enumerate() {
        let frame = Frame { kind: *kind, role: CodeRole::Plain, module: Some(module), address: *address };
        let frame = builder.frame(frame);
        builder.tables.stacks.push(Stack { parent: None, frame });
        if index == 1 {
            naming.advance(&builder);
        }
    }
    naming.finish(&mut builder, |_| {});
    builder
}

fn facts(builder: &Builder) -> Vec<(u32, u16, String, u32)> {
    let tables = &builder.tables;
    let name = |function| tables.strings.get(tables.functions.row(function).name).to_owned();
    tables.facts.iter().map(|(_, row)| (row.frame.get(), row.depth, name(row.function), row.line)).collect()
}

#[test]
fn facts_follow_the_order_of_frames_innermost_level_first() {
    let builder = named(&[(FrameKind::Native, 4), (FrameKind::Native, 2), (FrameKind::NativeCaller, 7)]);
    let expected = [(0, 0, "inlined", 7), (0, 1, "f_4", 4), (1, 0, "inlined", 7), (1, 1, "f_2", 2)];
    let expected = expected.map(|(frame, depth, name, line)| (frame, depth, name.to_owned(), line));
    let mut all = expected.to_vec();
    all.extend([(2, 0, "inlined".to_owned(), 7), (2, 1, "f_6".to_owned(), 6)]);
    assert_eq!(facts(&builder), all);
    assert!(builder.tables.frames.role.iter().all(|role| *role == CodeRole::Stub));
    assert_eq!(builder.tables.files.len(), 1);
    builder.finish().unwrap();
}

#[test]
fn an_address_without_a_name_is_a_failure_with_the_files_tried() {
    let builder = named(&[(FrameKind::Native, 3), (FrameKind::Native, 3), (FrameKind::Native, 5)]);
    let tables = &builder.tables;
    let rows: Vec<_> = tables.failures.iter().map(|(_, row)| (row.from_address, row.to_address)).collect();
    assert_eq!(rows, [(3, 4), (5, 6)]);
    let first = tables.failures.iter().next().unwrap().1;
    assert_eq!(tables.strings.get(first.tried), "/bin/a\u{fffd}b");
    assert_eq!(tables.strings.get(first.reason), "it names no function here");
    builder.finish().unwrap();
}

#[test]
fn a_lookup_that_panics_costs_its_own_address_and_is_counted() {
    let builder = named(&[(FrameKind::Native, 99), (FrameKind::Native, 2)]);
    assert_eq!(facts(&builder).len(), 2);
    assert_eq!(builder.tables.losses.count, [1]);
}
