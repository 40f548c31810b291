//! Claims about which source texts are kept.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use microscope_capture::StringId;

use super::*;

const MYSELF: Owner = Owner { uid: 0, gid: 0 };

/// Records a file row for `path` and collects; gives the text kept and the hash kind.
fn collected(
    path: &Path,
    md5: Option<&str>,
    rules: &SourceRules,
    owner: Owner,
) -> (Option<String>, HashKind) {
    let mut builder = Builder::new();
    let hash_kind = if md5.is_some() { HashKind::DwarfMd5 } else { HashKind::None };
    let row = File {
        path: builder.string(path.to_str().unwrap()),
        hash_kind,
        hash: md5.map_or(StringId::new(0), |md5| builder.string(md5)),
    };
    let id = builder.file(row);
    collect(&mut builder, rules, &TextReader::new(owner));
    let text = builder.tables.source_texts.iter().next();
    let text = text.map(|(_, row)| builder.tables.strings.get(row.text).to_owned());
    (text, builder.tables.files.row(id).hash_kind)
}

fn under(root: &Path) -> SourceRules {
    SourceRules { roots: vec![root.to_owned()], hashes_only: false }
}

#[test]
fn a_text_under_a_root_is_kept_with_its_hash() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.c");
    std::fs::write(&path, "int a;\n").unwrap();
    let kept = collected(&path, None, &under(dir.path()), current());
    assert_eq!(kept, (Some("int a;\n".to_owned()), HashKind::TextMd5));
}

#[test]
fn a_text_elsewhere_is_kept_only_when_its_md5_proves_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.c");
    std::fs::write(&path, "int a;\n").unwrap();
    let nowhere = under(Path::new("/nonexistent"));
    assert_eq!(collected(&path, None, &nowhere, current()), (None, HashKind::TextMd5));
    let right = hex_md5(b"int a;\n");
    assert_eq!(collected(&path, Some(&right), &nowhere, current()).0.as_deref(), Some("int a;\n"));
    let wrong = hex_md5(b"int b;\n");
    assert_eq!(collected(&path, Some(&wrong), &nowhere, current()), (None, HashKind::DwarfMd5));
}

#[test]
fn no_text_is_kept_when_only_hashes_are_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.c");
    std::fs::write(&path, "int a;\n").unwrap();
    let rules = SourceRules { hashes_only: true, ..under(dir.path()) };
    assert_eq!(collected(&path, None, &rules, current()), (None, HashKind::TextMd5));
}

#[test]
fn a_file_that_the_owner_may_not_read_yields_nothing() {
    if current() != MYSELF {
        eprintln!("skipped: only root may read as another user");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = dir.path().join("secret");
    std::fs::write(&path, "secret\n").unwrap();
    // 0640: the group is root's own, which the recorder's supplementary groups hold.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let nobody = Owner { uid: 65534, gid: 65534 };
    assert_eq!(collected(&path, None, &under(dir.path()), nobody), (None, HashKind::None));
    assert!(collected(&path, None, &under(dir.path()), MYSELF).0.is_some());
}

#[test]
fn what_is_no_text_of_a_regular_file_yields_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let binary = dir.path().join("binary");
    std::fs::write(&binary, [0xff, 0xfe]).unwrap();
    let long = dir.path().join("long");
    std::fs::File::create(&long).unwrap().set_len(SOURCE_BYTES_MAX + 1).unwrap();
    for path in [fifo, binary, long, dir.path().to_owned(), dir.path().join("absent")] {
        assert_eq!(collected(&path, None, &under(dir.path()), current()), (None, HashKind::None), "{path:?}");
    }
}

fn current() -> Owner {
    Owner { uid: nix::unistd::getuid().as_raw(), gid: nix::unistd::getgid().as_raw() }
}
