//! Traces named on the command line: files, standard input and pipes.

use crate::CliError;
use crate::files::is_standard;
use crate::interrupt::{InterruptFlag, InterruptibleStream};
use invigil_lang::ltl::FormulaArgument;
use invigil_trace::Input;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The traces of one check.
pub(crate) struct TraceInputs {
    paths: Vec<PathBuf>,
    interrupt: InterruptFlag,
}

impl TraceInputs {
    /// Validates the names of the traces; an empty list is standard input.
    pub(crate) fn new(paths: &[PathBuf], interrupt: InterruptFlag) -> Result<TraceInputs, CliError> {
        let mut paths = paths.to_vec();
        if paths.is_empty() {
            paths.push(PathBuf::from("-"));
        }
        if paths.iter().filter(|path| is_standard(path)).count() > 1 {
            return Err(CliError::new("`-` is specified twice, but there is only one standard input"));
        }
        let is_property = |path: &&PathBuf| {
            let ending = path.extension().is_some_and(|ext| ext == "prop" || ext == "ltl");
            ending || path.to_str().is_some_and(|text| FormulaArgument::parse(text).is_some())
        };
        if let Some(property) = paths.iter().find(is_property) {
            let name = property.display();
            return Err(CliError::new(format_args!(
                "{name}: this is a property, not a trace; pass it with `-p {name}`"
            )));
        }
        Ok(TraceInputs { paths, interrupt })
    }

    /// Whether all traces are regular files, which can be read again.
    pub(crate) fn are_rereadable(&self) -> bool {
        self.paths.iter().all(|path| is_file(path))
    }

    /// The names of the traces in reports.
    pub(crate) fn names(&self) -> Vec<String> {
        self.paths.iter().map(|path| Input::named(path).name().to_owned()).collect()
    }

    /// Whether events are typed at a terminal.
    pub(crate) fn are_interactive(&self) -> bool {
        self.paths.iter().any(|path| is_standard(path)) && io::stdin().is_terminal()
    }

    /// The total size in bytes, if it is known in advance.
    pub(crate) fn size(&self) -> Option<u64> {
        self.paths.iter().map(|path| size(path)).sum()
    }

    /// Opens all inputs at their start.
    pub(crate) fn open(&self) -> Vec<Input> {
        self.paths.iter().map(|path| self.input(path)).collect()
    }

    fn input(&self, path: &Path) -> Input {
        let input = Input::named(path);
        if is_file(path) {
            return input;
        }
        let opened = match is_standard(path) {
            true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            false => File::open(path),
        };
        match opened {
            Ok(file) => {
                Input::reader(input.name().to_owned(), InterruptibleStream::new(file, self.interrupt.clone()))
            }
            // The reader reports why the file cannot be opened.
            Err(_) => input,
        }
    }
}

fn is_file(path: &Path) -> bool {
    !is_standard(path) && fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// The size of a regular file that is not compressed.
fn size(path: &Path) -> Option<u64> {
    if !is_file(path) {
        return None;
    }
    let mut start = [0; 4];
    let mut file = File::open(path).ok()?;
    let known = file.read(&mut start).ok()?;
    let is_packed = start[..known].starts_with(&[0x1f, 0x8b]) || start == [0x28, 0xb5, 0x2f, 0xfd];
    if is_packed { None } else { Some(file.metadata().ok()?.len()) }
}
