//! The vocabulary of `docs/glossary.md` and `docs/style.md`, enforced.
//!
//! `retired_names.txt` lists names that were replaced: a crate (or `*` for all), then the name. A name is retired only as the name of
//! an item: local variables and words in comments are not looked at. `retired_phrases.txt` lists phrases that documents, comments
//! and messages do not use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const ITEMS: [&str; 9] = ["struct", "enum", "trait", "type", "union", "mod", "fn", "const", "static"];
const TYPES: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
const QUALIFIERS: [&str; 5] = ["unsafe", "async", "extern", "const", "default"];

/// An item as its definition names it.
struct Item {
    keyword: String,
    name: String,
    is_public: bool,
    at: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Files below a folder, without build results.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(|entry| entry.expect("an entry").path()) {
        let is_source = entry.join("mod.rs").exists() || !entry.ends_with("target");
        if entry.is_dir() && is_source {
            files(&entry, extension, found);
        } else if entry.extension().is_some_and(|found| found == extension) {
            found.push(entry);
        }
    }
}

/// The identifier at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    &text[..end]
}

/// The item that a line defines, if it defines one.
fn item(line: &str) -> Option<(&str, &str, bool)> {
    let mut rest = line.trim_start();
    let mut is_public = false;
    if let Some(after) = rest.strip_prefix("pub") {
        is_public = after.starts_with(' ');
        rest = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => after,
        };
        rest = rest.strip_prefix(' ')?;
    }
    loop {
        let word = identifier(rest);
        let after = rest[word.len()..].trim_start();
        let is_const_item = word == "const" && !["fn", "unsafe", "extern"].contains(&identifier(after));
        if QUALIFIERS.contains(&word) && !is_const_item {
            rest = after.trim_start_matches(['"', 'C']).trim_start();
            continue;
        }
        let name = identifier(after);
        return (ITEMS.contains(&word) && !name.is_empty()).then_some((word, name, is_public));
    }
}

/// All items of all crates, by crate.
fn items() -> BTreeMap<String, Vec<Item>> {
    let root = root();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root.join("crates")).expect("the crates") {
        let folder = entry.expect("a crate").path();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let mut sources = Vec::new();
        files(&folder.join("src"), "rs", &mut sources);
        let mut items = Vec::new();
        for source in sources {
            let text = fs::read_to_string(&source).expect("UTF-8");
            let path = source.strip_prefix(&root).expect("a path below the root").display().to_string();
            for (number, line) in text.lines().enumerate() {
                if let Some((keyword, name, is_public)) = item(line) {
                    let at = format!("{path}:{}", number + 1);
                    items.push(Item { keyword: keyword.to_owned(), name: name.to_owned(), is_public, at });
                }
            }
        }
        found.insert(name, items);
    }
    assert!(found.values().map(Vec::len).sum::<usize>() > 5_000, "the scan has found too few items");
    found
}

#[test]
fn definitions_are_recognised() {
    assert_eq!(item("    pub(crate) unsafe extern \"C\" fn hit(&self) {"), Some(("fn", "hit", false)));
    assert_eq!(item("pub const LIMIT: usize = 3;"), Some(("const", "LIMIT", true)));
    assert_eq!(item("pub const fn limit() -> usize {"), Some(("fn", "limit", true)));
    assert_eq!(item("struct Inner<'a> {"), Some(("struct", "Inner", false)));
    assert_eq!(item("// fn none"), None);
    assert_eq!(item("let fn_name = 1;"), None);
}

#[test]
fn retired_names_are_not_defined() {
    let list = include_str!("retired_names.txt");
    let retired: Vec<(&str, &str)> = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap_or_else(|| panic!("no crate and name in `{line}`")))
        .collect();
    let items = items();
    for (scope, _) in &retired {
        assert!(*scope == "*" || items.contains_key(*scope), "`{scope}` in retired_names.txt is not a crate");
    }
    let mut back = Vec::new();
    for (name, items) in &items {
        let here: BTreeSet<&str> = retired
            .iter()
            .filter(|(scope, _)| scope == name || *scope == "*")
            .map(|(_, name)| *name)
            .collect();
        let found = items.iter().filter(|item| here.contains(item.name.as_str()));
        back.extend(found.map(|item| format!("{}: {} `{}`", item.at, item.keyword, item.name)));
    }
    assert!(back.is_empty(), "retired names are back (see docs/glossary.md):\n{}", back.join("\n"));
}

/// A type name that two crates define must be explained in the glossary, so that a reader knows which is which.
#[test]
fn shared_type_names_are_in_glossary() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).expect("the glossary");
    let mut definitions: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (name, items) in items() {
        for item in items.into_iter().filter(|item| item.is_public && TYPES.contains(&item.keyword.as_str()))
        {
            // Indented definitions are associated types.
            definitions.entry(item.name).or_default().insert(name.clone(), item.at);
        }
    }
    let shared = definitions.iter().filter(|(_, crates)| crates.len() > 1);
    let missing: Vec<String> = shared
        .filter(|(name, _)| !glossary.contains(&format!("| `{name}` |")))
        .map(|(name, crates)| {
            format!("`{name}`: {}", crates.values().cloned().collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert!(
        missing.is_empty(),
        "type names of several crates without a line in the glossary:\n{}",
        missing.join("\n")
    );
}

/// Text as words in lower case, separated by single spaces, so that phrases are found across lines and comment markers.
struct Words {
    text: String,
    /// Where the words of each line start in the text.
    lines: Vec<usize>,
}

impl Words {
    fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words = Words { text: " ".to_owned(), lines: Vec::new() };
        for line in lines {
            words.lines.push(words.text.len());
            for word in line.split_whitespace().filter(|word| !["//", "///", "//!", ">", "#"].contains(word))
            {
                let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
                words.text.extend([&bare.to_lowercase(), " "]);
            }
        }
        words
    }

    /// The lines, counted from 1, in which a phrase starts.
    fn find(&self, phrase: &str) -> Vec<usize> {
        let phrase = Words::new([phrase]).text;
        let starts = self.text.match_indices(&phrase).map(|(at, _)| at + 1);
        starts.map(|at| self.lines.partition_point(|start| *start <= at)).collect()
    }
}

/// The part of a source line in which phrases are looked for: comments, and in the product also messages.
fn prose(line: &str, is_test: bool) -> &str {
    match line.find("//") {
        Some(at) if is_test || line.trim_start().starts_with("//") => &line[at..],
        _ if is_test => "",
        _ => line,
    }
}

#[test]
fn phrases_are_found_across_lines() {
    let words = Words::new(["//! A proverb stands", "//! still. It is, for ever,", "nobody's"]);
    assert_eq!(words.find("stands still"), [1]);
    assert_eq!(words.find("for ever"), [2]);
    assert!(words.find("nobody").is_empty() && words.find("tand").is_empty());
}

#[test]
fn retired_phrases_are_not_used() {
    let list = include_str!("retired_phrases.txt");
    let phrases: Vec<&str> = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let root = root();
    let (mut documents, mut sources) = (Vec::new(), Vec::new());
    for folder in ["docs", "examples", "benches", "crates", ".github"] {
        files(&root.join(folder), "md", &mut documents);
    }
    documents
        .extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map(|name| root.join(name)));
    // These two quote the phrases.
    documents.retain(|path| !path.ends_with("docs/style.md") && !path.ends_with("docs/glossary.md"));
    for folder in ["crates", "benches", "fuzz"] {
        files(&root.join(folder), "rs", &mut sources);
    }
    sources.retain(|path| !path.ends_with("test-support/tests/it/vocabulary.rs"));
    assert!(documents.len() > 40 && sources.len() > 900, "the scan has found too few files");
    let mut found = Vec::new();
    for path in documents.iter().chain(&sources) {
        let text = fs::read_to_string(path).expect("UTF-8");
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let is_test = path.components().any(|part| part.as_os_str() == "tests");
        let words = Words::new(text.lines().map(|line| if is_source { prose(line, is_test) } else { line }));
        for phrase in &phrases {
            let shown = path.strip_prefix(&root).expect("a path below the root").display();
            found.extend(words.find(phrase).into_iter().map(|line| format!("{shown}:{line}: {phrase}")));
        }
    }
    assert!(found.is_empty(), "phrases that docs/style.md replaces:\n{}", found.join("\n"));
}
