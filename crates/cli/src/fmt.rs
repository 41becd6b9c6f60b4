//! `invigil fmt`: properties in one style.

use crate::args::Fmt;
use crate::files::{self, STDIN, is_standard};
use crate::load::deeply;
use crate::terminal::Terminal;
use crate::{Trouble, VIOLATED};
use invigil_expr::diag::Sources;
use invigil_lang::report::render;
use invigil_lang::{ltl, prop};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &Fmt, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let mut untidy = Vec::new();
    let mut troubles = Vec::new();
    for path in &args.files {
        match format(path, args.check, terminal) {
            Ok(true) => untidy.push(path),
            Ok(false) => {}
            Err(trouble) if trouble.rendered => troubles.push(trouble.message),
            Err(trouble) => troubles.push(format!("error: {}", trouble.message)),
        }
    }
    for path in untidy.iter().filter(|path| !is_standard(path)) {
        let done = if args.check { "not formatted" } else { "formatted" };
        terminal.print(&format!("{done}: {}\n", path.display()))?;
    }
    if !troubles.is_empty() {
        return Err(Trouble::rendered(troubles.join("\n\n")));
    }
    Ok(if args.check && !untidy.is_empty() { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

/// Formats one file, or only finds out whether that would change it; gives whether it does.
fn format(path: &Path, only_check: bool, terminal: &Terminal) -> Result<bool, Trouble> {
    let from_stdin = is_standard(path);
    let name = if from_stdin { STDIN.to_owned() } else { path.display().to_string() };
    let text = files::read(path, "property")?;
    let mut sources = Sources::default();
    let id = sources.add(name, text.as_str());
    let is_formulae = path.extension().is_some_and(|ending| ending == "ltl");
    let format = if is_formulae { ltl::format } else { prop::format };
    let formatted = deeply(|| format(id, &text))?
        .map_err(|diagnostics| Trouble::rendered(render(&sources, &diagnostics, terminal.errors.colour)))?;
    let changes = formatted != text;
    if from_stdin && !only_check {
        terminal.print(&formatted)?;
    } else if changes && !only_check {
        files::replace(path, &formatted).map_err(|error| {
            Trouble::new(format_args!("{}: cannot write the file: {error}", path.display()))
        })?;
    }
    Ok(changes)
}
