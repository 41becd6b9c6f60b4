//! `invigil fmt`: formats properties in the standard style.

use crate::args::Fmt;
use crate::files::{self, STDIN, is_standard};
use crate::load::with_large_stack;
use crate::terminal::Terminal;
use crate::{CliError, VIOLATED};
use invigil_expr::diag::Sources;
use invigil_lang::report::render;
use invigil_lang::{ltl, prop};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &Fmt, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let mut unformatted = Vec::new();
    let mut errors = Vec::new();
    for path in &args.files {
        match format(path, args.check, terminal) {
            Ok(true) => unformatted.push(path),
            Ok(false) => {}
            Err(error) if error.rendered => errors.push(error.message),
            Err(error) => errors.push(format!("error: {}", error.message)),
        }
    }
    for path in unformatted.iter().filter(|path| !is_standard(path)) {
        let state = if args.check { "not formatted" } else { "formatted" };
        terminal.print(&format!("{state}: {}\n", path.display()))?;
    }
    if !errors.is_empty() {
        return Err(CliError::rendered(errors.join("\n\n")));
    }
    Ok(if args.check && !unformatted.is_empty() { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

/// Formats one file unless `only_check`. Returns whether formatting changes the file.
fn format(path: &Path, only_check: bool, terminal: &Terminal) -> Result<bool, CliError> {
    let from_stdin = is_standard(path);
    let name = if from_stdin { STDIN.to_owned() } else { path.display().to_string() };
    let text = files::read(path, "property")?;
    let mut sources = Sources::default();
    let id = sources.add(name, text.as_str());
    let is_formulae = path.extension().is_some_and(|ending| ending == "ltl");
    let format = if is_formulae { ltl::format } else { prop::format };
    let formatted = with_large_stack(|| format(id, &text))?
        .map_err(|diagnostics| CliError::rendered(render(&sources, &diagnostics, terminal.errors.colour)))?;
    let changes = formatted != text;
    if from_stdin && !only_check {
        terminal.print(&formatted)?;
    } else if changes && !only_check {
        files::replace(path, &formatted).map_err(|error| {
            CliError::new(format_args!("{}: cannot write the file: {error}", path.display()))
        })?;
    }
    Ok(changes)
}
