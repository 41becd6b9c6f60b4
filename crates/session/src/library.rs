//! Where the libraries are that are put into programs.

use crate::subject::Trouble;
use std::path::{Path, PathBuf};

/// A library that is built with the command.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The name of its file.
    pub file: &'static str,
    /// What it is for, in words: `the agent for Java programs`.
    pub what: &'static str,
    /// The variable of the environment that names another one.
    pub variable: &'static str,
    /// The package that builds it.
    pub package: &'static str,
}

impl Library {
    /// The library: what its variable names, or in `deps/` beside the command, beside it, or in `../lib/invigil`.
    ///
    /// `deps/` is where cargo puts it whenever it builds the command; beside the command it is put only when it is built by
    /// its name, and may be an older one. A test lies in `deps/` itself.
    ///
    /// # Errors
    /// If there is none, with the remedy.
    pub fn find(&self) -> Result<PathBuf, Trouble> {
        if let Some(given) = std::env::var_os(self.variable) {
            let given = PathBuf::from(given);
            return match given.is_file() {
                true => std::path::absolute(&given).map_err(|error| Trouble::Subject(error.to_string())),
                false => Err(Trouble::Subject(format!(
                    "there is no file `{}`, which {} names as {}",
                    given.display(),
                    self.variable,
                    self.what
                ))),
            };
        }
        let command = std::env::current_exe().and_then(|path| path.canonicalize());
        let folder = command.ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
        let places = [
            folder.join("deps").join(self.file),
            folder.join(self.file),
            folder.join("../lib/invigil").join(self.file),
        ];
        places.iter().find(|place| place.is_file()).cloned().ok_or_else(|| {
            Trouble::Subject(format!(
                "{} is missing: there is no `{}` beside the command in `{}`, nor in `../lib/invigil`; build it with \
                 `cargo build -p {}`, or name it in {}",
                self.what,
                self.file,
                folder.display(),
                self.package,
                self.variable
            ))
        })
    }
}
