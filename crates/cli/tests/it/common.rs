//! Runs the real command in a temporary directory.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// A temporary directory with the files of a test.
pub(crate) struct Folder(tempfile::TempDir);

/// Result of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A property over `hit(x)`: violated if `x` is less than 3, with a division by zero if it is 3.
pub(crate) const HIT: &str = "\
initialization { n = 0 }
state init accepting {
    transition {
        event hit(x: int) { return 12 / (x - 3) > 0 }
        success { n = n + 1; print(\"n is\", n) } init
        failure bad
    }
}
state bad non-accepting {
    transition { event back(x: int) success init }
}
";

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// Creates a folder with the property [`HIT`] as `hit.prop`.
    pub(crate) fn with_hit() -> Folder {
        Folder::new().file("hit.prop", HIT)
    }

    pub(crate) fn file(self, name: &str, contents: impl AsRef<[u8]>) -> Folder {
        fs::write(self.path(name), contents).expect("the file can be written");
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    /// Runs `invigil` with these arguments, separated by blanks.
    pub(crate) fn run(&self, args: &str) -> Ran {
        self.feed(args, b"")
    }

    /// Runs `invigil` with these arguments and this standard input.
    pub(crate) fn feed(&self, args: &str, input: &[u8]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_invigil"));
        command.args(args.split_whitespace());
        finish(command, self.0.path(), input)
    }

    /// Runs a line of shell in which `invigil` is the command.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        finish(shell(line), self.0.path(), b"")
    }
}

/// A line of shell in which `invigil` is the command.
pub(crate) fn shell(line: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_invigil")).parent().expect("the binary is in a folder");
    let path = format!("{}:{}", binary.display(), env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("PATH", path);
    command
}

fn finish(mut command: Command, folder: &Path, input: &[u8]) -> Ran {
    let mut child = command
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be run");
    // A command that stops reading closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the command exits");
    Ran {
        status: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

impl Ran {
    /// Asserts the exit status, and that nothing panicked.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}\n{}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Asserts that standard output contains these texts.
    #[track_caller]
    pub(crate) fn stdout_has(self, parts: &[&str]) -> Ran {
        for part in parts {
            assert!(self.stdout.contains(part), "no `{part}` in\n{}\n{}", self.stdout, self.stderr);
        }
        self
    }

    /// Asserts that standard error contains these texts.
    #[track_caller]
    pub(crate) fn stderr_has(self, parts: &[&str]) -> Ran {
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in\n{}", self.stderr);
        }
        self
    }
}
