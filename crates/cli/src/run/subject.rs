//! The programs that can be watched: native processes.

use super::args::Run;
use crate::Trouble;
use invigil_native::{Launch, Stream, Target};
use invigil_session::subject::{Done, Subject};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How the program is started.
pub(super) fn launch(args: &Run) -> Result<Launch, Trouble> {
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Trouble::new("say which program to run"));
    };
    let program = Path::new(program);
    let program = if args.dir.is_some() { located(program)? } else { program.to_owned() };
    let mut launch = Launch::new(program).args(arguments);
    for (name, value) in &args.env {
        launch = launch.env(name, Some(value.clone()));
    }
    if let Some(dir) = &args.dir {
        if !dir.is_dir() {
            return Err(Trouble::new(format_args!("{}: there is no such directory", dir.display())));
        }
        launch = launch.dir(dir);
    }
    launch.randomize = args.aslr;
    if let Some(path) = &args.stdin {
        launch.stdin = opened(path, File::open(path))?;
    } else if args.watching.commands.as_deref().is_some_and(crate::files::is_standard) {
        // The commands were read from there.
        launch.stdin = Stream::Null;
    }
    if let Some(path) = &args.stdout {
        launch.stdout = opened(path, File::create(path))?;
    } else if args.watching.json {
        // Standard output is for the document.
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        let failed = |error| Trouble::new(format_args!("standard error cannot be used: {error}"));
        launch.stdout = Stream::File(stderr.map_err(failed)?);
    }
    if let Some(path) = &args.stderr {
        launch.stderr = opened(path, File::create(path))?;
    }
    Ok(launch)
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
pub(super) fn hold(process: i32, later: bool) -> Done<Box<dyn Subject>> {
    let mut target = Target::attach(process)?;
    target.expect_libraries(later);
    Ok(Box::new(target))
}
