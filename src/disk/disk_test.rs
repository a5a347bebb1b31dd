//! One suite for both disks, then what only the memory disk can do.

use std::io::{ErrorKind, IoSlice};
use std::path::Path;

use super::*;
use crate::clock::Clock;
use crate::rng::Rng;

fn each_disk(test: impl Fn(&dyn Disk, &Path)) {
    let real = tempfile::tempdir().unwrap();
    test(&RealDisk, real.path());
    let memory = memory_disk();
    memory.create_dir(Path::new("/data")).unwrap();
    test(&memory, Path::new("/data"));
}

fn memory_disk() -> MemoryDisk {
    MemoryDisk::new(Clock::simulated(1_000_000))
}

#[test]
fn files_keep_what_is_written() {
    each_disk(|disk, root| {
        let path = root.join("a");
        assert_eq!(disk.open(&path, OpenMode::Write).unwrap_err().kind(), ErrorKind::NotFound);
        let file = disk.open(&path, OpenMode::Create).unwrap();
        file.write_at(0, b"hello").unwrap();
        file.write_vectored_at(5, &[IoSlice::new(b", "), IoSlice::new(b""), IoSlice::new(b"world")]).unwrap();
        file.write_at(14, b"!").unwrap();
        let mut buffer = [1; 20];
        assert_eq!(file.read_at(0, &mut buffer).unwrap(), 15);
        assert_eq!(&buffer[..15], b"hello, world\0\0!");
        assert_eq!(file.read_at(100, &mut buffer).unwrap(), 0);
        file.set_len(5).unwrap();
        file.sync_data().unwrap();
        file.sync_all().unwrap();
        assert_eq!(disk.read(&path).unwrap(), b"hello");
        assert_eq!(file.size().unwrap(), 5);
        assert_eq!(&*disk.map(&path).unwrap(), b"hello");
        assert_eq!(disk.open(&path, OpenMode::Create).unwrap().size().unwrap(), 5);
        assert_eq!(disk.open(&path, OpenMode::Truncate).unwrap().size().unwrap(), 0);
        assert!(disk.map(&path).unwrap().is_empty());
        assert!(disk.open(&path, OpenMode::Read).unwrap().write_at(0, b"x").is_err());
    });
}

#[test]
fn reserved_space_does_not_show_in_the_size() {
    each_disk(|disk, root| {
        let file = disk.open(&root.join("a"), OpenMode::Create).unwrap();
        file.write_at(0, b"abc").unwrap();
        match file.reserve(3, 1 << 20) {
            Ok(()) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
        }
        assert_eq!(file.size().unwrap(), 3);
    });
}

#[test]
fn names_come_and_go() {
    each_disk(|disk, root| {
        let dir = root.join("x/y");
        disk.create_dir(&dir).unwrap();
        disk.create_dir(&dir).unwrap();
        let open = disk.open(&dir.join("b"), OpenMode::Create).unwrap();
        open.write_at(0, b"1234").unwrap();
        disk.open(&dir.join("a"), OpenMode::Create).unwrap();
        disk.create_dir(&dir.join("c")).unwrap();
        let names = |dir: &Path| -> Vec<(String, u64, bool)> {
            disk.list(dir).unwrap().into_iter().map(|e| (e.name, e.meta.len, e.meta.is_dir)).collect()
        };
        assert_eq!(names(&dir), [("a".into(), 0, false), ("b".into(), 4, false), ("c".into(), 0, true)]);
        disk.rename(&dir.join("b"), &dir.join("a")).unwrap();
        assert_eq!(disk.read(&dir.join("a")).unwrap(), b"1234");
        disk.rename(&dir, &root.join("z")).unwrap();
        open.write_at(4, b"5").unwrap();
        assert_eq!(disk.read(&root.join("z/a")).unwrap(), b"12345");
        assert_eq!(disk.meta(&dir).unwrap(), None);
        disk.remove_file(&root.join("z/a")).unwrap();
        assert_eq!(disk.remove_file(&root.join("z/a")).unwrap_err().kind(), ErrorKind::NotFound);
        let mut still = [0; 5];
        assert_eq!(open.read_at(0, &mut still).unwrap(), 5, "a removed file stays readable while open");
        disk.remove_dir_all(&root.join("z")).unwrap();
        assert_eq!(names(root), [("x".into(), 0, true)]);
        disk.sync_dir(root).unwrap();
        assert_eq!(disk.list(&root.join("z")).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(disk.open(&root.join("none/a"), OpenMode::Create).is_err());
        assert!(disk.space(root).unwrap().usable > 0);
    });
}

#[test]
fn a_lock_is_held_once() {
    each_disk(|disk, root| {
        let path = root.join(".lock");
        let lock = disk.lock(&path).unwrap();
        assert_eq!(disk.lock(&path).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(lock);
        drop(disk.lock(&path).unwrap());
    });
}

#[test]
fn a_small_file_is_replaced() {
    each_disk(|disk, root| {
        let path = root.join("checkpoint");
        disk.replace(&path, b"one").unwrap();
        disk.replace(&path, b"2").unwrap();
        assert_eq!(disk.read(&path).unwrap(), b"2");
        assert_eq!(disk.list(root).unwrap().len(), 1);
    });
}

#[test]
fn a_chunk_of_a_file_is_its_bytes() {
    each_disk(|disk, root| {
        let file = disk.open(&root.join("a"), OpenMode::Create).unwrap();
        file.write_at(0, b"0123456789").unwrap();
        let chunk = Chunk::File { file: file.clone(), position: 2, length: 5 };
        assert_eq!(chunk.len(), 5);
        assert_eq!(&chunk.load().unwrap()[..], b"23456");
        file.set_len(4).unwrap();
        assert_eq!(chunk.load().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    });
}

#[test]
fn a_power_cut_keeps_what_was_synced_and_parts_of_the_rest() {
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let disk = memory_disk();
        let dir = Path::new("/data");
        disk.create_dir(dir).unwrap();
        let file = disk.open(&dir.join("a"), OpenMode::Create).unwrap();
        file.write_at(0, b"synced").unwrap();
        file.sync_data().unwrap();
        disk.sync_dir(dir).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        file.write_at(6, b" lost").unwrap();
        file.write_at(11, b" too").unwrap();
        disk.open(&dir.join("unsynced-name"), OpenMode::Create).unwrap();
        disk.crash(&Rng::from_seed(seed));
        let left = disk.read(&dir.join("a")).unwrap();
        assert_eq!(&left[..6], b"synced", "seed {seed}");
        lengths.insert(left.len());
        assert!(file.write_at(0, b"dead").is_err());
    }
    assert!(lengths.contains(&6) && lengths.contains(&15) && lengths.len() > 5, "{lengths:?}");
}

#[test]
fn a_replaced_file_is_old_or_new_after_a_power_cut() {
    for seed in 0..50 {
        let disk = memory_disk();
        let path = Path::new("/c");
        disk.replace(path, b"old").unwrap();
        disk.fail_after(Some(seed % 6));
        let replaced = disk.replace(path, b"newer").is_ok();
        disk.fail_after(None);
        disk.crash(&Rng::from_seed(seed));
        let left = disk.read(path).unwrap();
        assert!(left == b"newer" || (!replaced && left == b"old"), "seed {seed}: {left:?}");
    }
}

#[test]
fn a_full_disk_says_so() {
    let disk = memory_disk();
    disk.set_capacity(Some(10));
    let file = disk.open(Path::new("/a"), OpenMode::Create).unwrap();
    file.write_at(0, b"01234567").unwrap();
    assert_eq!(file.write_at(8, b"89a").unwrap_err().kind(), ErrorKind::StorageFull);
    file.write_at(0, b"overwritten"[..8].as_ref()).unwrap();
    disk.remove_file(Path::new("/a")).unwrap();
    let other = disk.open(Path::new("/b"), OpenMode::Create).unwrap();
    other.write_at(0, b"0123456789").unwrap();
}
