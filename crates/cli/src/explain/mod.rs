//! `invigil explain`: what a property says, in words, as a picture, or for programs.

mod formula;
mod json;
mod words;

use crate::Trouble;
use crate::args::Explain;
use crate::files::{self, is_standard};
use crate::load::{Loaded, deeply, load};
use crate::terminal::Terminal;
use invigil_check::report::Style;
use invigil_lang::Written;
use invigil_lang::ltl::{self, Argument};
use invigil_lang::prop::explain::{self, explain};
use invigil_lang::prop::picture::Graph;
use invigil_lang::report::render;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(args: &Explain, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let goes_to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    let documents = [&args.dot, &args.svg, &args.hoa, &args.spin];
    let documents =
        usize::from(args.json) + documents.into_iter().filter(|path| goes_to_stdout(path)).count();
    if documents > 1 {
        return Err(Trouble::new("two things are to go to standard output; name a file for one of them"));
    }
    let properties: Vec<PathBuf> = args.properties.iter().map(|given| meant(given)).collect();
    let loaded = load(&properties, &args.functions, terminal.errors.colour)?;
    if !loaded.warnings.is_empty() {
        terminal.complain(&(loaded.warnings(terminal.errors.colour) + "\n"));
    }
    let pictures = [&args.dot, &args.svg, &args.hoa, &args.spin].into_iter().any(Option::is_some);
    if loaded.automata.len() > 1 && pictures {
        return Err(Trouble::new(
            "a picture or an automaton is of one property; give `--dot`, `--svg`, `--hoa` or `--spin` with one",
        ));
    }
    let said = said(&loaded, terminal)?;
    if args.json {
        terminal.print(&json::json(&said))?;
    } else if documents == 0 {
        let told: Vec<String> = said.iter().map(|said| said.words(&terminal.style)).collect();
        terminal.print(&told.join("\n\n"))?;
    }
    for said in &said {
        if let Some(path) = &args.dot {
            files::write(path, &said.graph().to_dot(), terminal)?;
        }
        if let Some(path) = &args.svg {
            files::write(path, &said.graph().to_svg(), terminal)?;
        }
        if let Some(path) = &args.hoa {
            files::write(path, &said.hoa()?, terminal)?;
        }
        if let Some(path) = &args.spin {
            files::write(path, &said.never()?, terminal)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What someone means who names a file that is not there, but looks like a formula.
fn meant(given: &Path) -> PathBuf {
    let text = given.to_str().unwrap_or_default();
    let is_file =
        is_standard(given) || given.exists() || given.extension().is_some_and(|e| e == "prop" || e == "ltl");
    let has_operator = text.contains(|c: char| c.is_whitespace() || "()&|!<>[]\"¬∧∨→□◇".contains(c));
    match has_operator && !is_file && Argument::parse(text).is_none() {
        true => PathBuf::from(format!("ltl:{text}")),
        false => given.to_owned(),
    }
}

/// What a property says, in whichever language.
enum Said {
    Prop(explain::Explanation),
    Ltl(Box<ltl::explain::Explanation>),
}

fn said(loaded: &Loaded, terminal: &Terminal) -> Result<Vec<Said>, Trouble> {
    let mut all = Vec::new();
    for (automaton, written) in loaded.automata.iter().zip(&loaded.written) {
        all.push(match written {
            Written::Prop(written) => {
                Said::Prop(explain(written, automaton, &loaded.catalog, &loaded.sources))
            }
            Written::Ltl(written) => {
                let said = deeply(|| written.explain())?.map_err(|problems| {
                    Trouble::rendered(render(&loaded.sources, &problems, terminal.errors.colour))
                })?;
                Said::Ltl(Box::new(said))
            }
        });
    }
    Ok(all)
}

impl Said {
    fn words(&self, style: &Style) -> String {
        match self {
            Said::Prop(said) => words::words(said, style),
            Said::Ltl(said) => formula::words(said, style),
        }
    }

    fn graph(&self) -> Graph {
        match self {
            Said::Prop(said) => said.graph(),
            Said::Ltl(said) => said.graph(),
        }
    }

    /// The formula's automaton in the HOA format.
    fn hoa(&self) -> Result<String, Trouble> {
        match self {
            Said::Ltl(said) => said.hoa.clone().ok_or_else(|| Trouble::new(said.unanswered.join("\n"))),
            Said::Prop(said) => Err(no_formula(&said.name, "--hoa")),
        }
    }

    /// The formula as a never claim.
    fn never(&self) -> Result<String, Trouble> {
        match self {
            Said::Ltl(said) => said.never.clone().map_err(Trouble::new),
            Said::Prop(said) => Err(no_formula(&said.name, "--spin")),
        }
    }
}

fn no_formula(name: &str, option: &str) -> Trouble {
    Trouble::new(format_args!(
        "{name}: `{option}` is for formulae, and this property is none; `--dot` draws it"
    ))
}
