//! The programs that can be watched: native processes, and Java virtual machines.

use super::args::Run;
use super::scripts::Program;
use crate::Trouble;
use invigil_native::{Launch, Probes, Target};
use invigil_session::stream::Stream;
use invigil_session::subject::{Done, Subject};
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
            Launching::Java(_) => Program::java(&args.program, args.dir.as_deref(), &args.env),
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
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Trouble::new("say which program to run"));
    };
    let program = Path::new(program);
    if let Some(dir) = args.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(Trouble::new(format_args!("{}: there is no such directory", dir.display())));
    }
    let is_java = invigil_jvm::is_java(program);
    let program = if args.dir.is_some() { located(program)? } else { program.to_owned() };
    let streams = streams(args)?;
    if is_java {
        let mut launch = invigil_jvm::Launch::new(program).args(arguments);
        for (name, value) in &args.env {
            launch = launch.env(name, value);
        }
        if let Some(dir) = &args.dir {
            launch = launch.dir(dir);
        }
        [launch.stdin, launch.stdout, launch.stderr] = streams;
        launch.unstepped = !steps;
        return Ok(Launching::Java(launch));
    }
    let mut launch = Launch::new(program).args(arguments);
    for (name, value) in &args.env {
        launch = launch.env(name, Some(value.clone()));
    }
    if let Some(dir) = &args.dir {
        launch = launch.dir(dir);
    }
    launch.randomize = args.aslr;
    launch.probes = args.watching.probes()?;
    [launch.stdin, launch.stdout, launch.stderr] = streams;
    Ok(Launching::Native(launch))
}

/// Where the program's standard input, output and error lead.
fn streams(args: &Run) -> Result<[Stream; 3], Trouble> {
    let stdin = match &args.stdin {
        Some(path) => opened(path, File::open(path))?,
        // The commands were read from there.
        None if args.watching.commands.as_deref().is_some_and(crate::files::is_standard) => Stream::Null,
        None => Stream::Inherited,
    };
    let stdout = match &args.stdout {
        Some(path) => opened(path, File::create(path))?,
        // Standard output is for the document.
        None if args.watching.json => {
            let stderr = io::stderr().as_fd().try_clone_to_owned();
            let failed = |error| Trouble::new(format_args!("standard error cannot be used: {error}"));
            Stream::File(stderr.map_err(failed)?)
        }
        None => Stream::Inherited,
    };
    let stderr = match &args.stderr {
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
