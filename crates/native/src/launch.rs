//! Launching a program under control, and seizing a running one.

use crate::probes::ProbeMode;
use crate::sys::{self, Tid};
use invigil_target::TargetError;
use invigil_target::stream::Stream;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A program to be launched, with its arguments and environment.
///
/// ```no_run
/// use invigil_native::{Launch, NativeTarget};
/// let launch = Launch::new("./faulty").arg("input.txt");
/// let target = NativeTarget::launch(&launch)?;
/// # Ok::<(), invigil_target::TargetError>(())
/// ```
#[derive(Debug, Default)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    dir: Option<PathBuf>,
    /// Whether address space layout randomisation is on. Off by default: a fixed layout makes runs comparable.
    pub randomize: bool,
    /// How events are observed.
    pub probes: ProbeMode,
    /// Standard input of the program.
    pub stdin: Stream,
    /// Standard output of the program.
    pub stdout: Stream,
    /// Standard error of the program.
    pub stderr: Stream,
}

/// Sent to the new process when it may execute the program.
const GO: u8 = 1;

impl Launch {
    /// Creates a launch of a program, by its path or by a name that is looked up in `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch { program: program.into(), ..Launch::default() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Launch {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Launch {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable, or removes it.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: Option<OsString>) -> Launch {
        self.env.push((name.into(), value));
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Launch {
        self.dir = Some(dir.into());
        self
    }

    /// The path or name of the program, as passed to [`new`](Launch::new).
    pub fn program(&self) -> &Path {
        &self.program
    }

    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        command.stdin(self.stdin.stdio()?).stdout(self.stdout.stdio()?).stderr(self.stderr.stdio()?);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(command)
    }

    /// Launches the program. It is stopped before its first instruction, and the calling thread traces it.
    pub(crate) fn start(&self) -> Result<Tid, TargetError> {
        self.check_file()?;
        let failed = |error: &io::Error| TargetError::Control(self.explain(error));
        let mut command = self.command().map_err(|error| failed(&error))?;
        // The new process sends its id, waits until it is traced, and only then executes the program.
        let (mut pid_reader, pid_writer) = io::pipe().map_err(|error| failed(&error))?;
        let (go_reader, mut go_writer) = io::pipe().map_err(|error| failed(&error))?;
        let randomize = self.randomize;
        let (pid_end, go_end) = (pid_writer.as_raw_fd(), go_reader.as_raw_fd());
        // SAFETY: between fork and exec only system calls are made, on numbers and on memory of this frame.
        unsafe {
            command.pre_exec(move || {
                if !randomize {
                    libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                }
                let pid = libc::getpid().to_ne_bytes();
                let mut go = 0u8;
                if libc::write(pid_end, pid.as_ptr().cast(), pid.len()) != pid.len() as isize
                    || libc::read(go_end, (&raw mut go).cast(), 1) != 1
                {
                    return Err(io::Error::last_os_error());
                }
                if go == GO { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ECANCELED)) }
            });
        }
        // `spawn` returns only after exec, which waits for this thread: so it runs in a thread of its own.
        thread::scope(|scope| {
            let starting = scope.spawn(move || {
                let started = command.spawn();
                drop((pid_writer, go_reader));
                started
            });
            let mut pid = [0; 4];
            let mut seize_error = None;
            let seized = pid_reader.read_exact(&mut pid).and_then(|()| {
                let pid = Tid::from_ne_bytes(pid);
                let seized = sys::seize(pid, sys::OPTIONS | sys::EXITKILL);
                // Answer in either case: the process holds both ends of the pipe and would never see its end.
                go_writer.write_all(&[if seized.is_ok() { GO } else { !GO }])?;
                seize_error = seized.err();
                Ok(pid)
            });
            drop(go_writer);
            // Nothing stops the child until it is traced; afterwards it stops at its first instruction, when exec has
            // already reported success to `spawn`.
            let started = match starting.join() {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error),
                Err(_) => Err(io::Error::other("the launching thread failed")),
            };
            if let Some(error) = seize_error {
                return Err(TargetError::Control(format!(
                    "the system does not permit tracing ({error}): a container may need \
                     `--cap-add=SYS_PTRACE`, or /proc/sys/kernel/yama/ptrace_scope forbids it"
                )));
            }
            match (seized, started) {
                (Ok(pid), Ok(())) => Ok(pid),
                (_, Err(error)) | (Err(error), _) => Err(failed(&error)),
            }
        })
    }

    /// The file that will be executed, as far as that can be predicted.
    fn file(&self) -> Option<PathBuf> {
        if self.program.components().count() > 1
            || self.program.as_os_str().as_encoded_bytes().contains(&b'/')
        {
            // Relative paths are resolved in the program's working directory.
            return Some(self.dir.as_deref().unwrap_or(Path::new("")).join(&self.program));
        }
        let set = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = match set {
            Some((_, value)) => value.clone(),
            None => std::env::var_os("PATH"),
        };
        std::env::split_paths(&path?).map(|dir| dir.join(&self.program)).find(|file| is_executable(file))
    }

    /// Rejects files that are not programs for this machine, which some systems would pass to a shell. Unreadable
    /// files are left to the system.
    fn check_file(&self) -> Result<(), TargetError> {
        let name = self.program.display();
        let Some(file) = self.file() else { return Ok(()) };
        if file.is_dir() {
            return Err(TargetError::Control(format!("cannot run `{name}`: it is a directory")));
        }
        let mut head = Vec::new();
        let read = std::fs::File::open(&file).and_then(|file| file.take(64).read_to_end(&mut head));
        if read.is_err() || !is_executable(&file) {
            return Ok(());
        }
        let reason = match head.as_slice() {
            [b'#', b'!', ..] => return Ok(()),
            [0x7f, b'E', b'L', b'F', 1, ..] => "it is a 32-bit program; only 64-bit programs are supported",
            [0x7f, b'E', b'L', b'F', 2, 1, rest @ ..] if head.len() == 64 => {
                // Type of file, processor, and number of segments.
                match (rest[10], rest[12], rest[50]) {
                    (2 | 3, 0x3e, 1..) => return Ok(()),
                    (1, 0x3e, _) => "it is an object file, not a program: link it first",
                    (_, 0x3e, _) => "it is not a program, or it is damaged",
                    _ => "it is a program for another kind of processor",
                }
            }
            [] => "the file is empty",
            [0x7f, b'E', b'L', b'F', ..] => "it is a program for another kind of processor, or damaged",
            _ => "it is neither a program nor a script that starts with `#!`",
        };
        Err(TargetError::Control(format!("cannot run `{name}`: {reason}")))
    }

    /// Explains why the program could not be started, and what to do.
    fn explain(&self, error: &io::Error) -> String {
        let name = self.program.display();
        let looked_up = self.program.components().count() == 1;
        match error.kind() {
            io::ErrorKind::NotFound if self.dir.as_ref().is_some_and(|dir| !dir.is_dir()) => {
                let dir = self.dir.as_deref().unwrap_or(Path::new("")).display();
                format!("cannot run `{name}`: there is no directory `{dir}`")
            }
            io::ErrorKind::NotFound if looked_up && Path::new(&self.program).exists() => {
                format!(
                    "cannot run `{name}`: it is not in PATH; to run the file in this directory, write `./{name}`"
                )
            }
            io::ErrorKind::NotFound if looked_up => {
                format!("cannot run `{name}`: there is no such program in PATH")
            }
            io::ErrorKind::NotFound if self.program.exists() => {
                format!("cannot run `{name}`: its interpreter or loader does not exist")
            }
            io::ErrorKind::NotFound => format!("cannot run `{name}`: there is no such file"),
            io::ErrorKind::PermissionDenied if self.program.is_dir() => {
                format!("cannot run `{name}`: it is a directory")
            }
            io::ErrorKind::PermissionDenied => {
                format!("cannot run `{name}`: it is not executable (chmod +x), or may not be traced")
            }
            _ if error.raw_os_error() == Some(libc::ENOEXEC) => {
                format!("cannot run `{name}`: it is not a program that this system can run")
            }
            _ => format!("cannot run `{name}`: {error}"),
        }
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Seizes all threads of a running process and interrupts them. They may not have stopped yet.
pub(crate) fn seize_all(process: i32) -> Result<Vec<Tid>, TargetError> {
    let mut seized = Vec::new();
    // New threads may appear meanwhile: repeat until there are none.
    loop {
        let all = threads(process).map_err(|error| explain_attach(process, &error))?;
        let new: Vec<Tid> = all.into_iter().filter(|tid| !seized.contains(tid)).collect();
        if new.is_empty() {
            return Ok(seized);
        }
        for tid in new {
            match sys::seize(tid, sys::OPTIONS).and_then(|()| sys::interrupt(tid)) {
                Ok(()) => seized.push(tid),
                // It has exited meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) && tid != process => {}
                // New threads of a seized thread are seized too.
                Err(error) if error.raw_os_error() == Some(libc::EPERM) && !seized.is_empty() => {
                    seized.push(tid)
                }
                Err(error) => return Err(explain_attach(process, &error)),
            }
        }
    }
}

/// Lists the threads of a process.
pub(crate) fn threads(process: i32) -> io::Result<Vec<Tid>> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn explain_attach(process: i32, error: &io::Error) -> TargetError {
    let message = match error.raw_os_error() {
        Some(libc::ESRCH | libc::ENOENT) => format!("cannot attach: there is no process {process}"),
        Some(libc::EPERM) => match tracer(process) {
            Some(tracer) => format!("cannot attach to {process}: process {tracer} is tracing it already"),
            None => format!(
                "cannot attach to {process}: not permitted; it may belong to another user, or \
                 /proc/sys/kernel/yama/ptrace_scope forbids it (try as root)"
            ),
        },
        _ => format!("cannot attach to {process}: {error}"),
    };
    TargetError::Control(message)
}

/// The process that traces this one, if there is one.
fn tracer(process: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    line.trim().parse().ok().filter(|tracer| *tracer != 0)
}
