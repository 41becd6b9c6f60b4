//! `invigil explain`: what a property says, in words, as a picture, or for programs.

mod json;
mod words;

use crate::Trouble;
use crate::args::Explain;
use crate::files::{self, is_standard};
use crate::load::load;
use crate::terminal::Terminal;
use invigil_lang::prop::explain::{Explanation, explain};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(args: &Explain, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let goes_to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    let documents = [args.json, goes_to_stdout(&args.dot), goes_to_stdout(&args.svg)];
    let documents = documents.iter().filter(|goes| **goes).count();
    if documents > 1 {
        return Err(Trouble::new("two things are to go to standard output; name a file for one of them"));
    }
    if args.properties.len() > 1 && (args.dot.is_some() || args.svg.is_some()) {
        return Err(Trouble::new("a picture shows one property; give `--dot` or `--svg` with one file"));
    }
    let loaded = load(&args.properties, &args.functions, terminal.errors.colour)?;
    if !loaded.warnings.is_empty() {
        terminal.complain(&(loaded.warnings(terminal.errors.colour) + "\n"));
    }
    let said: Vec<Explanation> = loaded
        .automata
        .iter()
        .zip(&loaded.written)
        .map(|(automaton, written)| explain(written, automaton, &loaded.catalog, &loaded.sources))
        .collect();
    if args.json {
        terminal.print(&json::json(&said))?;
    } else if documents == 0 {
        let told: Vec<String> = said.iter().map(|said| words::words(said, &terminal.style)).collect();
        terminal.print(&told.join("\n\n"))?;
    }
    for said in &said {
        if let Some(path) = &args.dot {
            files::write(path, &said.graph().to_dot(), terminal)?;
        }
        if let Some(path) = &args.svg {
            files::write(path, &said.graph().to_svg(), terminal)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
