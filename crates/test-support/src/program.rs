//! Temporary folders, and programs that tests compile in them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A temporary folder. Dropping it removes the folder.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// Creates an empty folder.
    #[expect(clippy::new_without_default, reason = "it has an effect")]
    pub fn new() -> Folder {
        Folder(tempfile::Builder::new().prefix("invigil-test-").tempdir().expect("a temporary folder"))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, with its parent folders. Returns its path.
    pub fn write(&self, name: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        let parent = path.parent().expect("the file is in the folder");
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, contents))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Runs a command in the folder, which must succeed.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, command: &str, arguments: impl IntoIterator<Item = A>) {
        let mut command = Command::new(command);
        succeed(command.current_dir(self.path()).args(arguments));
    }

    /// Writes a source file and compiles it with any compiler that accepts `-o`. Returns the path of `output`.
    #[track_caller]
    pub fn compile(
        &self,
        compiler: &str,
        (file, source): (&str, &str),
        output: &str,
        flags: &[&str],
    ) -> PathBuf {
        self.write(file, source);
        self.run(compiler, [file, "-o", output].iter().chain(flags));
        self.join(output)
    }

    /// Compiles C: `program.c` to `program`.
    #[track_caller]
    pub fn c(&self, source: &str, flags: &[&str]) -> PathBuf {
        self.compile("cc", ("program.c", source), "program", flags)
    }

    /// Compiles C++: `program.cpp` to `program`.
    #[track_caller]
    pub fn cpp(&self, source: &str, flags: &[&str]) -> PathBuf {
        self.compile("c++", ("program.cpp", source), "program", flags)
    }

    /// Compiles Rust: `program.rs` to `program`.
    #[track_caller]
    pub fn rust(&self, source: &str, flags: &[&str]) -> PathBuf {
        self.compile("rustc", ("program.rs", source), "program", flags)
    }
}

/// A compiled program in its own folder. Dropping it removes the folder.
#[derive(Debug)]
pub struct Program {
    folder: Folder,
    /// The executable, or the library if the flags request one.
    pub path: PathBuf,
}

impl Program {
    /// Compiles C.
    #[track_caller]
    pub fn c(source: &str, flags: &[&str]) -> Program {
        Program::with(|folder| folder.c(source, flags))
    }

    /// Compiles C++.
    #[track_caller]
    pub fn cpp(source: &str, flags: &[&str]) -> Program {
        Program::with(|folder| folder.cpp(source, flags))
    }

    /// Compiles Rust.
    #[track_caller]
    pub fn rust(source: &str, flags: &[&str]) -> Program {
        Program::with(|folder| folder.rust(source, flags))
    }

    fn with(compile: impl FnOnce(&Folder) -> PathBuf) -> Program {
        let folder = Folder::new();
        Program { path: compile(&folder), folder }
    }

    /// The folder of the program and its source.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }
}

/// Runs a command, which must succeed.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
