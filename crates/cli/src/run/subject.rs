//! The programs that can be watched: native processes, and Java virtual machines.

use super::args::{Run, Starting};
use super::scripts::Program;
use crate::Trouble;
use invigil_native::{Launch, Probes, Target};
use invigil_session::stream::Stream;
use invigil_session::subject::{Done, Subject};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How the program is started.
pub(super) enum Launching {
    Native(Launch),
    Java(invigil_jvm::Launch),
}

impl Launching {
    /// Whether the program can be kept as it is, to go back to.
    pub(super) fn can_be_kept(&self) -> bool {
        matches!(self, Launching::Native(_))
    }

    /// What is known of it before it begins.
    pub(super) fn known(&self, args: &Run) -> Program {
        match self {
            Launching::Native(_) => Program::default(),
            Launching::Java(_) => {
                Program::java(&args.program, args.starting.dir.as_deref(), &args.starting.env)
            }
        }
    }

    /// Starts the program. `later` says that libraries may bring functions that it does not have yet, or loaders classes.
    pub(super) fn begin(&self, later: bool) -> Done<Box<dyn Subject>> {
        match self {
            Launching::Native(launch) => start(launch, later),
            Launching::Java(launch) => {
                let mut target = invigil_jvm::Target::launch(launch)?;
                target.expect_classes(later);
                Ok(Box::new(target))
            }
        }
    }
}

/// How the program is to be started, by what was said. `steps` says whether someone may step through its code.
pub(super) fn launch(args: &Run, steps: bool) -> Result<Launching, Trouble> {
    let (program, arguments) = named(&args.program, &args.starting)?;
    let is_java = args.program.first().is_some_and(|program| invigil_jvm::is_java(Path::new(program)));
    // The commands were read from there.
    let is_read = args.watching.commands.as_deref().is_some_and(crate::files::is_standard);
    let streams = streams(&args.starting, is_read, args.watching.json)?;
    if is_java {
        let mut launch = invigil_jvm::Launch::new(program).args(arguments);
        for (name, value) in &args.starting.env {
            launch = launch.env(name, value);
        }
        if let Some(dir) = &args.starting.dir {
            launch = launch.dir(dir);
        }
        [launch.stdin, launch.stdout, launch.stderr] = streams;
        launch.unstepped = !steps;
        return Ok(Launching::Java(launch));
    }
    let mut launch = native(&args.program, &args.starting, streams)?;
    launch.probes = args.watching.noticing.probes()?;
    Ok(Launching::Native(launch))
}

/// The program and its arguments.
fn named<'a>(words: &'a [OsString], starting: &Starting) -> Result<(PathBuf, &'a [OsString]), Trouble> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Trouble::new("say which program to run"));
    };
    let program = Path::new(program);
    if let Some(dir) = starting.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(Trouble::new(format_args!("{}: there is no such directory", dir.display())));
    }
    let program = if starting.dir.is_some() { located(program)? } else { program.to_owned() };
    Ok((program, arguments))
}

/// How a native program is to be started, by what was said.
pub(crate) fn native(
    words: &[OsString],
    starting: &Starting,
    streams: [Stream; 3],
) -> Result<Launch, Trouble> {
    let (program, arguments) = named(words, starting)?;
    let mut launch = Launch::new(program).args(arguments);
    for (name, value) in &starting.env {
        launch = launch.env(name, Some(value.clone()));
    }
    if let Some(dir) = &starting.dir {
        launch = launch.dir(dir);
    }
    launch.randomize = starting.aslr;
    [launch.stdin, launch.stdout, launch.stderr] = streams;
    Ok(launch)
}

/// Where the program's standard input, output and error lead. We may have read its input, or need its output ourselves.
pub(crate) fn streams(starting: &Starting, is_read: bool, is_needed: bool) -> Result<[Stream; 3], Trouble> {
    let stdin = match &starting.stdin {
        Some(path) => opened(path, File::open(path))?,
        None if is_read => Stream::Null,
        None => Stream::Inherited,
    };
    let stdout = match &starting.stdout {
        Some(path) => opened(path, File::create(path))?,
        None if is_needed => {
            let stderr = io::stderr().as_fd().try_clone_to_owned();
            let failed = |error| Trouble::new(format_args!("standard error cannot be used: {error}"));
            Stream::File(stderr.map_err(failed)?)
        }
        None => Stream::Inherited,
    };
    let stderr = match &starting.stderr {
        Some(path) => opened(path, File::create(path))?,
        None => Stream::Inherited,
    };
    Ok([stdin, stdout, stderr])
}

/// A path means the same in whatever directory the program is started; a name is looked for in `PATH`.
fn located(program: &Path) -> Result<PathBuf, Trouble> {
    if program.components().count() < 2 && !program.has_root() {
        return Ok(program.to_owned());
    }
    let failed = |error| Trouble::new(format_args!("{}: {error}", program.display()));
    std::path::absolute(program).map_err(failed)
}

fn opened(path: &Path, file: io::Result<File>) -> Result<Stream, Trouble> {
    match file {
        Ok(file) => Ok(Stream::File(file.into())),
        Err(error) => Err(Trouble::new(format_args!("{}: cannot open the file: {error}", path.display()))),
    }
}

/// Starts the program. `later` says that libraries may bring functions that it does not have yet.
pub(crate) fn start(launch: &Launch, later: bool) -> Done<Box<dyn Subject>> {
    let mut target = Target::launch(launch)?;
    target.expect_libraries(later);
    Ok(Box::new(target))
}

/// Takes hold of a running program; `later` as for [`start`].
pub(super) fn hold(process: i32, later: bool, probes: Probes) -> Done<Box<dyn Subject>> {
    if invigil_jvm::is_machine(process) {
        let mut target = invigil_jvm::Target::attach(process)?;
        target.expect_classes(later);
        return Ok(Box::new(target));
    }
    let mut target = Target::attach(process)?;
    target.notice_by(probes);
    target.expect_libraries(later);
    Ok(Box::new(target))
}
