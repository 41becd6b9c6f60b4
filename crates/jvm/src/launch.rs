//! Starting a Java program with the agent.

use crate::connection::AgentListener;
use invigil_target::TargetError;
use invigil_target::stream::Stream;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Description of a Java program to be started.
///
/// ```no_run
/// use invigil_jvm::{JavaTarget, Launch};
/// let launch = Launch::new("java").args(["-cp", "classes", "app.Main"]);
/// let target = JavaTarget::launch(&launch)?;
/// # Ok::<(), invigil_target::TargetError>(())
/// ```
#[derive(Debug, Default)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: Option<PathBuf>,
    /// Its standard input.
    pub stdin: Stream,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
    /// Whether threads will never be stepped. If they may be, the virtual machine handles exceptions much more slowly.
    pub no_stepping: bool,
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
    /// Creates a description from the command that runs Java, as a path or as a name in `PATH`.
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

    /// Sets its working directory.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Launch {
        self.dir = Some(dir.into());
        self
    }

    /// Whether the program is started with the agent of another debugger.
    fn has_debugger(&self) -> bool {
        let has_debug_option = |text: &OsStr| {
            let text = text.to_string_lossy();
            ["jdwp", "-Xdebug"].iter().any(|word| text.contains(word))
        };
        let options = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
        self.args.iter().any(|arg| arg.to_string_lossy().starts_with('-') && has_debug_option(arg))
            || options.iter().any(|name| {
                let set =
                    self.env.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                set.or_else(|| std::env::var_os(name)).is_some_and(|value| has_debug_option(&value))
            })
    }

    /// Starts the program. Its agent connects to the listener.
    pub(crate) fn start(&self, listener: &AgentListener) -> Result<Child, TargetError> {
        let mut option = OsString::from("-agentpath:");
        option.push(listener.agent()?);
        option.push("=l");
        option.push(if self.has_debugger() { "d" } else { "" });
        option.push(if self.no_stepping { ":" } else { "s:" });
        option.push(listener.path());
        let failed = |error: io::Error| TargetError::Control(self.explain(&error));
        let mut command = Command::new(&self.program);
        command.arg(option).args(&self.args);
        command.stdin(self.stdin.stdio().map_err(failed)?);
        command.stdout(self.stdout.stdio().map_err(failed)?);
        command.stderr(self.stderr.stdio().map_err(failed)?);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        // SAFETY: only one system call is made between fork and exec, which is allowed there.
        unsafe {
            command.pre_exec(|| {
                // Ctrl-C is for the debugger, which then stops the program. A virtual machine that starts with
                // `SIGINT` ignored keeps ignoring it.
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
