//! Starting a program under control, and taking hold of a running one.

use crate::inline::Probes;
use crate::sys::{self, Tid};
use invigil_session::stream::Stream;
use invigil_session::subject::Trouble;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A program to be started, and how.
///
/// ```no_run
/// use invigil_native::{Launch, Target};
/// let launch = Launch::new("./faulty").arg("input.txt");
/// let target = Target::launch(&launch)?;
/// # Ok::<(), invigil_session::subject::Trouble>(())
/// ```
#[derive(Debug, Default)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    dir: Option<PathBuf>,
    /// Whether addresses differ from run to run, as they usually do. Off by default: a fixed layout makes
    /// runs comparable.
    pub randomize: bool,
    /// How events are to be noticed.
    pub probes: Probes,
    /// The program's standard input.
    pub stdin: Stream,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
}

/// What the new process is told when it may become the program.
const GO: u8 = 1;

impl Launch {
    /// A program, by its path or by a name that is looked for in `PATH`.
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

    /// Sets a variable of its environment, or takes it away.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: Option<OsString>) -> Launch {
        self.env.push((name.into(), value));
        self
    }

    /// Starts it in this directory.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Launch {
        self.dir = Some(dir.into());
        self
    }

    /// The program as it was named.
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

    /// Starts the program. It stands still before its first instruction, and the calling thread controls it.
    pub(crate) fn start(&self) -> Result<Tid, Trouble> {
        self.check_file()?;
        let failed = |error: &io::Error| Trouble::Subject(self.explain(error));
        let mut command = self.command().map_err(|error| failed(&error))?;
        // The new process says who it is, waits until it is traced, and only then becomes the program.
        let (mut hears_pid, says_pid) = io::pipe().map_err(|error| failed(&error))?;
        let (hears_go, mut says_go) = io::pipe().map_err(|error| failed(&error))?;
        let randomize = self.randomize;
        let (pid_end, go_end) = (says_pid.as_raw_fd(), hears_go.as_raw_fd());
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
        // Starting blocks until the program is loaded, and that takes our consent: so it has its own thread.
        thread::scope(|scope| {
            let starting = scope.spawn(move || {
                let started = command.spawn();
                drop((says_pid, hears_go));
                started
            });
            let mut pid = [0; 4];
            let mut refused = None;
            let seized = hears_pid.read_exact(&mut pid).and_then(|()| {
                let pid = Tid::from_ne_bytes(pid);
                let seized = sys::seize(pid, sys::OPTIONS | sys::EXITKILL);
                // It has to be told in either case: it holds both ends of the pipe, and would wait for ever.
                says_go.write_all(&[if seized.is_ok() { GO } else { !GO }])?;
                refused = seized.err();
                Ok(pid)
            });
            drop(says_go);
            // Until the child is traced nothing stops it, and afterwards it stops at its first instruction,
            // when it has already told `spawn` that all is well.
            let started = match starting.join() {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error),
                Err(_) => Err(io::Error::other("the thread that starts it failed")),
            };
            if let Some(error) = refused {
                return Err(Trouble::Subject(format!(
                    "the system does not let programs be watched ({error}): a container may have to be started with \
                     `--cap-add=SYS_PTRACE`, or /proc/sys/kernel/yama/ptrace_scope forbids it"
                )));
            }
            match (seized, started) {
                (Ok(pid), Ok(())) => Ok(pid),
                (_, Err(error)) | (Err(error), _) => Err(failed(&error)),
            }
        })
    }

    /// The file that will be executed, as far as it can be told before.
    fn file(&self) -> Option<PathBuf> {
        if self.program.components().count() > 1
            || self.program.as_os_str().as_encoded_bytes().contains(&b'/')
        {
            // Relative paths are looked for where the program will run.
            return Some(self.dir.as_deref().unwrap_or(Path::new("")).join(&self.program));
        }
        let set = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = match set {
            Some((_, value)) => value.clone(),
            None => std::env::var_os("PATH"),
        };
        std::env::split_paths(&path?).map(|dir| dir.join(&self.program)).find(|file| is_executable(file))
    }

    /// Refuses what is no program for this machine: some systems would hand it to a shell, which makes
    /// nothing good of it. What cannot be looked at is left to the system to judge.
    fn check_file(&self) -> Result<(), Trouble> {
        let name = self.program.display();
        let Some(file) = self.file() else { return Ok(()) };
        if file.is_dir() {
            return Err(Trouble::Subject(format!("cannot run `{name}`: it is a directory")));
        }
        let mut head = Vec::new();
        let read = std::fs::File::open(&file).and_then(|file| file.take(64).read_to_end(&mut head));
        if read.is_err() || !is_executable(&file) {
            return Ok(());
        }
        let wrong = match head.as_slice() {
            [b'#', b'!', ..] => return Ok(()),
            [0x7f, b'E', b'L', b'F', 1, ..] => "it is a 32-bit program; only 64-bit ones can be watched",
            [0x7f, b'E', b'L', b'F', 2, 1, rest @ ..] if head.len() == 64 => {
                // The kind of file, the processor, and the number of segments.
                match (rest[10], rest[12], rest[50]) {
                    (2 | 3, 0x3e, 1..) => return Ok(()),
                    (1, 0x3e, _) => "it is an object file, not a program: link it first",
                    (_, 0x3e, _) => "it is no program, or a damaged one",
                    _ => "it is a program for another kind of processor",
                }
            }
            [] => "the file is empty",
            [0x7f, b'E', b'L', b'F', ..] => "it is a program for another kind of processor, or damaged",
            _ => "it is neither a program nor a script that begins with `#!`",
        };
        Err(Trouble::Subject(format!("cannot run `{name}`: {wrong}")))
    }

    /// What kept the program from being started, and what to do about it.
    fn explain(&self, error: &io::Error) -> String {
        let name = self.program.display();
        let looked_up = self.program.components().count() == 1;
        match error.kind() {
            io::ErrorKind::NotFound if self.dir.as_ref().is_some_and(|dir| !dir.is_dir()) => {
                let dir = self.dir.as_deref().unwrap_or(Path::new("")).display();
                format!("cannot run `{name}`: there is no directory `{dir}`")
            }
            io::ErrorKind::NotFound if looked_up && Path::new(&self.program).exists() => {
                format!("cannot run `{name}`: it is not in PATH; for the file here write `./{name}`")
            }
            io::ErrorKind::NotFound if looked_up => {
                format!("cannot run `{name}`: there is no such program in PATH")
            }
            io::ErrorKind::NotFound if self.program.exists() => {
                format!("cannot run `{name}`: the interpreter or loader that it asks for does not exist")
            }
            io::ErrorKind::NotFound => format!("cannot run `{name}`: there is no such file"),
            io::ErrorKind::PermissionDenied if self.program.is_dir() => {
                format!("cannot run `{name}`: it is a directory")
            }
            io::ErrorKind::PermissionDenied => {
                format!("cannot run `{name}`: it is not executable (chmod +x), or may not be traced")
            }
            _ if error.raw_os_error() == Some(libc::ENOEXEC) => {
                format!("cannot run `{name}`: it is no program that this system can run")
            }
            _ => format!("cannot run `{name}`: {error}"),
        }
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Takes hold of all threads of a running process. They are asked to stop, but may not have yet.
pub(crate) fn seize_all(process: i32) -> Result<Vec<Tid>, Trouble> {
    let mut held = Vec::new();
    // Threads may come while we go through them: look until there are no new ones.
    loop {
        let all = threads(process).map_err(|error| explain_attach(process, &error))?;
        let new: Vec<Tid> = all.into_iter().filter(|tid| !held.contains(tid)).collect();
        if new.is_empty() {
            return Ok(held);
        }
        for tid in new {
            match sys::seize(tid, sys::OPTIONS).and_then(|()| sys::interrupt(tid)) {
                Ok(()) => held.push(tid),
                // It ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) && tid != process => {}
                // A new thread of one that we hold already is held too.
                Err(error) if error.raw_os_error() == Some(libc::EPERM) && !held.is_empty() => held.push(tid),
                Err(error) => return Err(explain_attach(process, &error)),
            }
        }
    }
}

/// The threads of a process.
pub(crate) fn threads(process: i32) -> io::Result<Vec<Tid>> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn explain_attach(process: i32, error: &io::Error) -> Trouble {
    let words = match error.raw_os_error() {
        Some(libc::ESRCH | libc::ENOENT) => format!("cannot attach: there is no process {process}"),
        Some(libc::EPERM) => match tracer(process) {
            Some(tracer) => format!("cannot attach to {process}: process {tracer} controls it already"),
            None => format!(
                "cannot attach to {process}: not permitted; it may belong to another user, or \
                 /proc/sys/kernel/yama/ptrace_scope forbids it (try as root)"
            ),
        },
        _ => format!("cannot attach to {process}: {error}"),
    };
    Trouble::Subject(words)
}

/// The process that traces this one, if any does.
fn tracer(process: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    line.trim().parse().ok().filter(|tracer| *tracer != 0)
}
