//! Starts targets and attaches to them: native processes and Java virtual machines.

use super::args::{LaunchArgs, Run};
use super::scripts::ProgramInfo;
use crate::CliError;
use invigil_native::{Launch, NativeTarget, ProbeMode};
use invigil_target::stream::Stream;
use invigil_target::{Target, TargetResult};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How a target is started.
pub(super) enum TargetLaunch {
    Native(Launch),
    Java(invigil_jvm::Launch),
}

impl TargetLaunch {
    /// Whether checkpoints of the program are possible.
    pub(super) fn supports_checkpoints(&self) -> bool {
        matches!(self, TargetLaunch::Native(_))
    }

    /// What is known about the program before it starts.
    pub(super) fn program_info(&self, args: &Run) -> ProgramInfo {
        match self {
            TargetLaunch::Native(_) => ProgramInfo::default(),
            TargetLaunch::Java(_) => {
                ProgramInfo::java(&args.program, args.launch.dir.as_deref(), &args.launch.env)
            }
        }
    }

    /// Starts the program. With `later`, functions of libraries and classes that are loaded at run time are permitted.
    pub(super) fn start(&self, later: bool) -> TargetResult<Box<dyn Target>> {
        match self {
            TargetLaunch::Native(launch) => start(launch, later),
            TargetLaunch::Java(launch) => {
                let mut target = invigil_jvm::JavaTarget::launch(launch)?;
                target.expect_classes(later);
                Ok(Box::new(target))
            }
        }
    }
}

/// How to start the program, from the options. `steps` specifies whether source-level stepping may be used.
pub(super) fn launch(args: &Run, steps: bool) -> Result<TargetLaunch, CliError> {
    let (program, arguments) = split_command(&args.program, &args.launch)?;
    let is_java = args.program.first().is_some_and(|program| invigil_jvm::is_java(Path::new(program)));
    // The commands have been read from standard input.
    let stdin_is_used = args.monitor.commands.as_deref().is_some_and(crate::files::is_standard);
    let streams = streams(&args.launch, stdin_is_used, args.monitor.json)?;
    if is_java {
        let mut launch = invigil_jvm::Launch::new(program).args(arguments);
        for (name, value) in &args.launch.env {
            launch = launch.env(name, value);
        }
        if let Some(dir) = &args.launch.dir {
            launch = launch.dir(dir);
        }
        [launch.stdin, launch.stdout, launch.stderr] = streams;
        launch.no_stepping = !steps;
        return Ok(TargetLaunch::Java(launch));
    }
    let mut launch = native_launch(&args.program, &args.launch, streams)?;
    launch.probes = args.monitor.probing.probes()?;
    Ok(TargetLaunch::Native(launch))
}

/// The program and its arguments.
fn split_command<'a>(
    words: &'a [OsString],
    args: &LaunchArgs,
) -> Result<(PathBuf, &'a [OsString]), CliError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(CliError::new("name the program to run"));
    };
    let program = Path::new(program);
    if let Some(dir) = args.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(CliError::new(format_args!("{}: no such directory", dir.display())));
    }
    let program = if args.dir.is_some() { absolute_program(program)? } else { program.to_owned() };
    Ok((program, arguments))
}

/// How to start a native program, from the options.
pub(crate) fn native_launch(
    words: &[OsString],
    args: &LaunchArgs,
    streams: [Stream; 3],
) -> Result<Launch, CliError> {
    let (program, arguments) = split_command(words, args)?;
    let mut launch = Launch::new(program).args(arguments);
    for (name, value) in &args.env {
        launch = launch.env(name, Some(value.clone()));
    }
    if let Some(dir) = &args.dir {
        launch = launch.dir(dir);
    }
    launch.randomize = args.aslr;
    [launch.stdin, launch.stdout, launch.stderr] = streams;
    Ok(launch)
}

/// Standard streams of the program. `stdin_is_used` and `stdout_is_used` specify that this command needs a stream itself.
pub(crate) fn streams(
    args: &LaunchArgs,
    stdin_is_used: bool,
    stdout_is_used: bool,
) -> Result<[Stream; 3], CliError> {
    let stdin = match &args.stdin {
        Some(path) => opened(path, File::open(path))?,
        None if stdin_is_used => Stream::Null,
        None => Stream::Inherited,
    };
    let stdout = match &args.stdout {
        Some(path) => opened(path, File::create(path))?,
        None if stdout_is_used => {
            let stderr = io::stderr().as_fd().try_clone_to_owned();
            let failed = |error| CliError::new(format_args!("cannot duplicate standard error: {error}"));
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

/// Makes a path independent of the program's working directory. A plain name is searched in `PATH` and stays.
fn absolute_program(program: &Path) -> Result<PathBuf, CliError> {
    if program.components().count() < 2 && !program.has_root() {
        return Ok(program.to_owned());
    }
    let failed = |error| CliError::new(format_args!("{}: {error}", program.display()));
    std::path::absolute(program).map_err(failed)
}

fn opened(path: &Path, file: io::Result<File>) -> Result<Stream, CliError> {
    match file {
        Ok(file) => Ok(Stream::File(file.into())),
        Err(error) => Err(CliError::new(format_args!("{}: cannot open the file: {error}", path.display()))),
    }
}

/// Starts a native program. With `later`, functions of libraries that are loaded at run time are permitted.
pub(crate) fn start(launch: &Launch, later: bool) -> TargetResult<Box<dyn Target>> {
    let mut target = NativeTarget::launch(launch)?;
    target.allow_pending_events(later);
    Ok(Box::new(target))
}

/// Attaches to a running program; `later` as for [`start`].
pub(super) fn attach(process: i32, later: bool, probes: ProbeMode) -> TargetResult<Box<dyn Target>> {
    if invigil_jvm::is_java_vm(process) {
        let mut target = invigil_jvm::JavaTarget::attach(process)?;
        target.expect_classes(later);
        return Ok(Box::new(target));
    }
    let mut target = NativeTarget::attach(process)?;
    target.set_probe_mode(probes);
    target.allow_pending_events(later);
    Ok(Box::new(target))
}
