//! Subjects for the tests: small programs, compiled when they are needed.
#![allow(dead_code, reason = "each test file uses a part of this")]

use invigil_debuginfo::image::Image;
use invigil_debuginfo::program::Program;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is removed when the test is over.
pub(crate) struct Workshop {
    pub(crate) path: PathBuf,
}

impl Workshop {
    pub(crate) fn new() -> Workshop {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("invigil-debuginfo-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Workshop { path }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs a command in the directory, which must succeed.
    pub(crate) fn run(&self, command: &str, arguments: &[&str]) {
        let output = Command::new(command).args(arguments).current_dir(&self.path).output().unwrap();
        assert!(
            output.status.success(),
            "{command} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Compiles C.
    pub(crate) fn c(&self, text: &str, options: &[&str]) -> PathBuf {
        self.compile("cc", "subject.c", text, options)
    }

    /// Compiles C++.
    pub(crate) fn cpp(&self, text: &str, options: &[&str]) -> PathBuf {
        self.compile("c++", "subject.cpp", text, options)
    }

    /// Compiles Rust.
    pub(crate) fn rust(&self, text: &str, options: &[&str]) -> PathBuf {
        self.compile("rustc", "subject.rs", text, options)
    }

    fn compile(&self, compiler: &str, file: &str, text: &str, options: &[&str]) -> PathBuf {
        self.write(file, text);
        let mut arguments = vec![file, "-o", "subject"];
        arguments.extend_from_slice(options);
        self.run(compiler, &arguments);
        self.path.join("subject")
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Whether a tool is installed; says so if it is not.
pub(crate) fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no {tool} on this machine");
    }
    found
}

/// A program of one image.
pub(crate) fn program(path: &Path, bias: u64) -> (Program, Arc<Image>) {
    let image = Image::open(path).unwrap();
    let mut program = Program::new();
    program.add(image.clone(), bias);
    (program, image)
}

/// The names of the functions that are meant, sorted.
pub(crate) fn names(program: &Program, query: &str) -> Vec<String> {
    let mut names: Vec<String> = program
        .functions(query)
        .into_iter()
        .map(|function| function.signature.unwrap_or(function.name))
        .collect();
    names.sort();
    names
}

/// The number of the first line that has a text.
pub(crate) fn line_with(text: &str, part: &str) -> u32 {
    text.lines().position(|line| line.contains(part)).unwrap() as u32 + 1
}
