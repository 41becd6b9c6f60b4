//! Shared by the tests: the JDK, class archives, helpers written in Java.

pub(crate) mod plans;
pub(crate) mod programs;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name under which the helper is found.
pub(crate) const HELPER: &str = "java/lang/Invigil";

/// A Java development kit, and a folder for the files of one test.
pub(crate) struct Java {
    bin: PathBuf,
    pub(crate) folder: PathBuf,
}

impl Java {
    /// Finds a JDK in `JAVA_HOME` or on the path. Prints a note if there is none.
    pub(crate) fn find(test: &str) -> Option<Java> {
        let bin = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin")).unwrap_or_default();
        if Command::new(bin.join("javac")).arg("-version").output().is_err() {
            eprintln!("skipped: there is no `javac` (package default-jdk-headless)");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Some(Java { bin, folder })
    }

    /// Runs a program of the JDK, which must succeed. Returns its output.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(self.bin.join(program));
        // Short runs do not profit from the optimising compiler and the parallel collector.
        let quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
        let prefix = if program == "java" { "" } else { "-J" };
        command.args(quick.map(|option| format!("{prefix}{option}")));
        if program == "javac" {
            // Independent of the locale.
            command.args(["-encoding", "UTF-8"]);
        }
        let output = command.args(arguments).current_dir(&self.folder).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let few: Vec<_> = out.lines().take(60).collect();
        assert!(output.status.success(), "{program} {arguments:?}\n{}\n{err}", few.join("\n"));
        out.into_owned()
    }

    /// Compiles the Java tool of these tests.
    pub(crate) fn tool(&self) {
        self.run("javac", &["-d", "tool", &format!("{}/tests/java/Tool.java", env!("CARGO_MANIFEST_DIR"))]);
    }

    /// Compiles a helper into `patch`: for `--patch-module java.base=patch`.
    pub(crate) fn helper(&self, source: &str) {
        let path = self.folder.join("patch-source/java/lang");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("Invigil.java"), source).unwrap();
        let patch = "java.base=patch-source";
        let source = "patch-source/java/lang/Invigil.java";
        self.run("javac", &["-d", "patch", "--patch-module", patch, source]);
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// The classes of an archive: names and contents.
pub(crate) fn read_archive(path: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = fs::read(path).unwrap();
    let mut rest = &bytes[..];
    let mut classes = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_at(2);
        let (name, after) = after.split_at(usize::from(u16::from_be_bytes([length[0], length[1]])));
        let (length, after) = after.split_at(4);
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]);
        let (content, after) = after.split_at(length as usize);
        classes.push((String::from_utf8(name.to_vec()).unwrap(), content.to_vec()));
        rest = after;
    }
    classes
}

pub(crate) fn write_archive(path: &Path, classes: &[(String, Vec<u8>)]) {
    let mut bytes = Vec::new();
    for (name, content) in classes {
        bytes.extend((name.len() as u16).to_be_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend((content.len() as u32).to_be_bytes());
        bytes.extend(content);
    }
    fs::write(path, bytes).unwrap();
}

/// Every method that a helper must have: the name, and the letters of its captures.
fn methods() -> Vec<(String, String)> {
    let mut words = vec![String::new()];
    let mut at = 0;
    while let Some(word) = words.get(at).cloned() {
        if word.len() < 4 {
            words.extend(["J", "L"].map(|letter| format!("{word}{letter}")));
        }
        at += 1;
    }
    ["p", "h"]
        .iter()
        .flat_map(|first| words.iter().map(move |word| (format!("{first}{word}"), word.clone())))
        .collect()
}

fn helper_source(head: &str, body: impl Fn(&str, &str) -> String) -> String {
    let mut source = format!("package java.lang;\npublic final class Invigil {{\n{head}\n");
    for (name, word) in methods() {
        source += &format!("public static void {name}(");
        for (at, letter) in word.chars().enumerate() {
            let _ = write!(source, "{} c{at}, ", if letter == 'J' { "long" } else { "Object" });
        }
        let _ = writeln!(source, "int id) {{ {} }}", body(&name, &word));
    }
    source + "public static final Object lock = new Object();\n}\n"
}

/// A helper that counts, without using the platform.
pub(crate) fn counting_helper() -> String {
    helper_source("public static long count;", |_, _| "count++;".to_owned())
}

/// A helper that logs a line for each report, with its identity and captures. An exclamation
/// mark shows that the lock was held.
pub(crate) fn logging_helper() -> String {
    let head = r#"
public static final StringBuilder log = new StringBuilder();
private static final StringBuilder held = new StringBuilder();
static String show(Object o) {
    if (o == null) return "null";
    if (o instanceof String) return '"' + (String) o + '"';
    if (o instanceof Number || o instanceof Enum) return o.toString();
    if (o instanceof Throwable) return o.toString();
    String name = o.getClass().getSimpleName();
    int lambda = name.indexOf("$$Lambda");
    return lambda < 0 ? name : "lambda";
}
static void hear(boolean last, int id, String words) {
    synchronized (log) {
        held.append(words);
        if (last) {
            log.append(id).append(Thread.holdsLock(lock) ? "!" : "").append(held).append('\n');
            held.setLength(0);
        }
    }
}"#;
    helper_source(head, |name, word| {
        let mut words = String::from("\"\"");
        for (at, letter) in word.chars().enumerate() {
            let _ = write!(
                words,
                "+ \" \" + {}",
                if letter == 'J' { format!("c{at}") } else { format!("show(c{at})") }
            );
        }
        format!("hear({}, id, {words});", name.starts_with('p'))
    })
}
