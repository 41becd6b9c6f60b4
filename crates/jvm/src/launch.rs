//! Starting a Java program with the agent inside.

use crate::library::library;
use crate::link::Door;
use invigil_session::stream::Stream;
use invigil_session::subject::Trouble;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A Java program to be started, and how.
///
/// ```no_run
/// use invigil_jvm::{Launch, Target};
/// let launch = Launch::new("java").args(["-cp", "classes", "app.Main"]);
/// let target = Target::launch(&launch)?;
/// # Ok::<(), invigil_session::subject::Trouble>(())
/// ```
#[derive(Debug, Default)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: Option<PathBuf>,
    /// The program's standard input.
    pub stdin: Stream,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
    /// Nobody will step through its code. Where someone may, the machine takes its time over each exception.
    pub unstepped: bool,
}

/// Whether running this program starts a Java virtual machine: it is called `java`.
///
/// ```
/// use invigil_jvm::is_java;
/// assert!(is_java("/usr/bin/java".as_ref()) && is_java("java".as_ref()));
/// assert!(!is_java("javac".as_ref()));
/// ```
pub fn is_java(program: &Path) -> bool {
    program.file_name() == Some(OsStr::new("java"))
}

impl Launch {
    /// The command that runs Java, by its path or by a name that is looked for in `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch { program: program.into(), ..Launch::default() }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Launch {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Launch {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts it in this directory.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Launch {
        self.dir = Some(dir.into());
        self
    }

    /// Whether the program is started with a debugger's agent of its own.
    fn has_debugger(&self) -> bool {
        let speaks = |text: &OsStr| {
            let text = text.to_string_lossy();
            ["jdwp", "-Xdebug"].iter().any(|word| text.contains(word))
        };
        let options = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
        self.args.iter().any(|arg| arg.to_string_lossy().starts_with('-') && speaks(arg))
            || options.iter().any(|name| {
                let set =
                    self.env.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                set.or_else(|| std::env::var_os(name)).is_some_and(|value| speaks(&value))
            })
    }

    /// Starts the program; the agent will knock at the door.
    pub(crate) fn start(&self, door: &Door) -> Result<Child, Trouble> {
        let mut option = OsString::from("-agentpath:");
        option.push(library()?);
        option.push("=l");
        option.push(if self.has_debugger() { "d" } else { "" });
        option.push(if self.unstepped { ":" } else { "s:" });
        option.push(door.path());
        let failed = |error: io::Error| Trouble::Subject(self.explain(&error));
        let mut command = Command::new(&self.program);
        command.arg(option).args(&self.args);
        command.stdin(self.stdin.stdio().map_err(failed)?);
        command.stdout(self.stdout.stdio().map_err(failed)?);
        command.stderr(self.stderr.stdio().map_err(failed)?);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        // SAFETY: between fork and exec one system call is made, which is allowed there.
        unsafe {
            command.pre_exec(|| {
                // Ctrl-C is for the tool, which makes the program stand still. A machine whose `SIGINT` is ignored
                // when it starts leaves it so.
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                Ok(())
            });
        }
        command.spawn().map_err(failed)
    }

    fn explain(&self, error: &io::Error) -> String {
        let name = self.program.display();
        match error.kind() {
            io::ErrorKind::NotFound if self.dir.as_ref().is_some_and(|dir| !dir.is_dir()) => {
                let dir = self.dir.as_deref().unwrap_or(Path::new("")).display();
                format!("cannot run `{name}`: there is no directory `{dir}`")
            }
            io::ErrorKind::NotFound if self.program.components().count() == 1 => {
                format!("cannot run `{name}`: there is no such program in PATH; install a Java runtime")
            }
            io::ErrorKind::NotFound => format!("cannot run `{name}`: there is no such file"),
            _ => format!("cannot run `{name}`: {error}"),
        }
    }
}
