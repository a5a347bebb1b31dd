//! House rules that a machine can check. A failure says the reason and the remedy; the rules are the constants below.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where our Rust code is.
const ROOTS: &[&str] =
    &["src", "protocol/src", "tests", "compat-tests/src", "compat-tests/tests", "benches/src"];

/// A file of more lines is two rooms.
const FILE_LINES: usize = 600;
/// A function of more lines does more than one thing.
const FUNCTION_LINES: usize = 100;
/// More lines of tests belong into a child file.
const INLINE_TEST_LINES: usize = 250;
/// Tables: long because what they list is long.
const FLAT_TABLES: &[&str] = &["protocol/src/messages/", "src/config/definition/"];

/// Rooms that everybody may use.
const LEAVES: &[&str] =
    &["clock", "config", "disk", "ids", "limits", "metrics", "net", "rng", "shutdown", "signals", "spawn"];

/// What a room may use besides the leaves and itself; `*` is everything. The longest matching room counts.
const ARROWS: &[(&str, &[&str])] = &[
    ("disk", &[]),
    ("net", &[]),
    ("config", &[]),
    ("storage", &[]),
    ("partition", &["storage", "controller"]),
    ("peer", &["security"]),
    ("replication", &["peer", "partition", "controller"]),
    ("broker_lifecycle", &["controller"]),
    ("coordinator", &["partition", "controller", "storage", "peer"]),
    ("controller", &["storage", "peer"]),
    (
        "handlers",
        &["controller", "coordinator", "partition", "storage", "security", "quota", "server", "logging"],
    ),
    ("security", &["controller"]),
    ("quota", &["controller"]),
    ("server", &["handlers", "security", "quota"]),
    ("admin", &["controller", "coordinator", "partition", "metrics"]),
    ("broker", &["*"]),
    ("cli", &["*"]),
];

/// Machines decide from what they are given: no disk, network, dice or settings. `clock` is for the type of a time.
const MACHINES: &[(&str, &[&str])] = &[
    ("src/coordinator/group", &["ids", "clock", "coordinator"]),
    ("src/coordinator/transaction", &["ids", "clock", "coordinator"]),
    ("src/controller/state", &["ids", "clock", "controller"]),
];

/// Words that must not be in the code of a path, the reason, and the only files that may have them.
const BANNED: &[(&str, &[&str], &str, &[&str])] = &[
    (
        "src",
        &["thread::sleep(", "time::sleep("],
        "waiting is an event: a timer of src/clock.rs",
        &["src/clock.rs"],
    ),
    (
        "src",
        &["Instant::now(", "SystemTime::now("],
        "time comes from src/clock.rs, so that a test can turn it",
        &["src/clock.rs"],
    ),
    ("src", &["todo!(", "unimplemented!("], "what is not built is not offered", &[]),
    ("protocol/src", &["todo!(", "unimplemented!("], "what is not built is not offered", &[]),
];

/// Folders whose every subfolder has its line in ARCHITECTURE.md.
const MAPPED: &[&str] = &["src", "protocol", "tests", "compat-tests", "benches", "config"];
/// Not of the house: what tools make, and folders whose depth is another language's custom.
const UNMAPPED: &[&str] = &["target", "corpus", "artifacts", "compat"];

struct Source {
    /// From the repository's root.
    path: String,
    text: String,
}

impl Source {
    /// The code without its tests: a test may do what it likes.
    fn code(&self) -> &str {
        match self.text.find("#[cfg(test)]\nmod tests {") {
            Some(start) => &self.text[..start],
            None => &self.text,
        }
    }

    fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.ends_with("_test.rs") || name == "testing.rs" || self.path.contains("tests/")
    }
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !path.is_dir() {
            files.push(path);
        } else if !UNMAPPED.contains(&name.as_str()) && !name.starts_with('.') {
            folders.push(path.clone());
            walk(&path, files, folders);
        }
    }
}

fn relative(path: &Path) -> String {
    path.strip_prefix(home()).unwrap().to_string_lossy().into_owned()
}

fn sources() -> Vec<Source> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for root in ROOTS {
        walk(&home().join(root), &mut files, &mut folders);
    }
    files.retain(|path| path.extension().is_some_and(|kind| kind == "rs"));
    files
        .iter()
        .map(|path| Source { path: relative(path), text: fs::read_to_string(path).unwrap() })
        .collect()
}

fn obey(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}\n  {}", broken.join("\n  "));
}

#[test]
fn files_say_one_thing() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let table = FLAT_TABLES.iter().any(|table| source.path.starts_with(table));
        if lines > FILE_LINES && !table {
            broken.push(format!("{}: {lines} lines", source.path));
        }
    }
    obey(
        &format!(
            "A file of more than {FILE_LINES} lines is two rooms: find the second noun and give it a file."
        ),
        &broken,
    );
}

/// Name, first line and length of each function; relies on the layout that rustfmt gives.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let words: Vec<&str> = code.split(|c: char| c == '(' || c == '<' || c.is_whitespace()).collect();
        let Some(at) = words.iter().position(|word| *word == "fn") else { continue };
        let modifier = |word: &&str| {
            ["pub", "const", "async", "unsafe", "extern", "crate)", "super)"].contains(word)
                || word.is_empty()
        };
        if !words[..at].iter().all(modifier) || code.ends_with(';') || code.ends_with('}') {
            continue;
        }
        let close = format!("{indent}}}");
        let end = lines[start..].iter().position(|line| *line == close);
        if let Some(length) = end {
            found.push((words.get(at + 1).copied().unwrap_or_default().to_owned(), start + 1, length + 1));
        }
    }
    found
}

#[test]
fn functions_do_one_thing() {
    let mut broken = Vec::new();
    for source in sources() {
        for (name, line, length) in functions(&source.text) {
            if length > FUNCTION_LINES && !FLAT_TABLES.iter().any(|table| source.path.starts_with(table)) {
                broken.push(format!("{}:{line}: {name} has {length} lines", source.path));
            }
        }
    }
    obey(
        &format!("A function of more than {FUNCTION_LINES} lines: name its steps and move them out."),
        &broken,
    );
}

#[test]
fn long_tests_have_a_file_of_their_own() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count() - source.code().lines().count();
        if lines > INLINE_TEST_LINES {
            broken.push(format!("{}: {lines} lines of tests", source.path));
        }
    }
    obey(
        &format!(
            "More than {INLINE_TEST_LINES} lines of inline tests: move them to a child file NAME/NAME_test.rs."
        ),
        &broken,
    );
}

/// The rooms of our own crate that a text uses: the first names after `crate::`, in braces, too.
fn used_rooms(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for line in code.split("crate::").skip(1) {
        let Some(group) = line.strip_prefix('{') else {
            rooms.insert(first_name(line));
            continue;
        };
        let (mut depth, mut start) = (1, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (c == ',' && depth == 1) {
                rooms.insert(first_name(group[start..at].trim()));
                start = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    rooms.remove("");
    rooms
}

/// The file of a module or anything in its folder.
fn in_room(file: &str, module: &str) -> bool {
    file == format!("{module}.rs") || file.starts_with(&format!("{module}/"))
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn rooms_use_only_what_they_may() {
    let modules: BTreeSet<String> = fs::read_dir(home().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("src/") && !source.is_test()) {
        let room = source.path["src/".len()..].split(['/', '.']).next().unwrap_or_default().to_owned();
        let machine = MACHINES.iter().find(|(path, _)| in_room(&source.path, path));
        let arrows = ARROWS.iter().find(|(name, _)| *name == room).map_or(&["*"][..], |(_, arrows)| arrows);
        for used in used_rooms(source.code()).iter().filter(|used| modules.contains(*used)) {
            let allowed = match machine {
                Some((_, allowed)) => allowed.contains(&used.as_str()),
                None => {
                    *used == room
                        || LEAVES.contains(&used.as_str())
                        || arrows.iter().any(|arrow| *arrow == "*" || arrow == used)
                }
            };
            if !allowed {
                broken.push(format!("{} uses {used}", source.path));
            }
        }
    }
    obey(
        "An arrow between rooms that the house does not have: take the value as an argument, or let broker/ connect \
         the two (ARROWS and MACHINES in tests/tidy.rs are the plan).",
        &broken,
    );
}

#[test]
fn banned_words_are_absent() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (root, words, reason, exempt) in BANNED {
            if !source.path.starts_with(&format!("{root}/")) || exempt.contains(&source.path.as_str()) {
                continue;
            }
            for (number, line) in source.code().lines().enumerate() {
                if words.iter().any(|word| line.contains(word)) && !line.trim_start().starts_with("//") {
                    broken.push(format!("{}:{}: {reason}", source.path, number + 1));
                }
            }
        }
    }
    obey("Words that the house does not use:", &broken);
}

#[test]
fn no_file_is_dead() {
    let all = sources();
    let mut broken = Vec::new();
    for source in &all {
        let path = Path::new(&source.path);
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let root = path.components().count() <= 2 || source.path.contains("/src/bin/");
        let test_program = source.path.starts_with("compat-tests/tests/") && path.components().count() == 3;
        if root || test_program || ["mod", "lib", "main"].contains(&stem.as_str()) {
            continue;
        }
        let declared = format!("mod {stem};");
        let listed = format!("{stem}:");
        if !all.iter().any(|other| other.text.contains(&declared) || other.text.contains(&listed)) {
            broken.push(source.path.clone());
        }
    }
    obey("A file that no `mod` names is not compiled: name it, or delete it.", &broken);
}

/// Child files with the tests of one module need no line of their own.
fn holds_only_tests(folder: &Path) -> bool {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    walk(folder, &mut files, &mut folders);
    let test = |file: &PathBuf| file.to_string_lossy().ends_with("_test.rs");
    let rust = relative(folder).starts_with("src/") || relative(folder).starts_with("protocol/src/");
    rust && (folder.ends_with("tests") || files.iter().all(test))
}

#[test]
fn the_map_shows_every_folder() {
    let map = fs::read_to_string(home().join("ARCHITECTURE.md")).unwrap();
    let mut folders = Vec::new();
    for root in MAPPED {
        walk(&home().join(root), &mut Vec::new(), &mut folders);
    }
    folders.retain(|folder| !holds_only_tests(folder));
    let missing: Vec<String> = folders
        .iter()
        .map(|folder| format!("{}/", relative(folder)))
        .filter(|name| !map.contains(name))
        .collect();
    obey(
        "ARCHITECTURE.md has a line for every folder; these have none: say in one line what each holds.",
        &missing,
    );

    let gone: Vec<String> = map
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.ends_with('/') && MAPPED.iter().any(|root| name.starts_with(&format!("{root}/"))))
        .filter(|name| !home().join(name).is_dir())
        .map(str::to_owned)
        .collect();
    obey("ARCHITECTURE.md shows folders that are gone: delete their lines.", &gone);
}
