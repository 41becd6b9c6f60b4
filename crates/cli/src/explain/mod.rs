//! `invigil explain`: explains properties as text, pictures, automata or JSON.

mod formula;
mod json;
mod text;

use crate::CliError;
use crate::args::Explain;
use crate::files::{self, is_standard};
use crate::load::{Loaded, load, with_large_stack};
use crate::terminal::Terminal;
use invigil_check::report::Style;
use invigil_lang::PropertySource;
use invigil_lang::ltl::{self, FormulaArgument};
use invigil_lang::prop::explain::{self, explain};
use invigil_lang::prop::picture::Graph;
use invigil_lang::report::render;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(args: &Explain, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let goes_to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    let outputs = [&args.dot, &args.svg, &args.hoa, &args.spin];
    let stdout_documents =
        usize::from(args.json) + outputs.into_iter().filter(|path| goes_to_stdout(path)).count();
    if stdout_documents > 1 {
        return Err(CliError::new(
            "only one report can be written to standard output; name a file for the others",
        ));
    }
    let properties: Vec<PathBuf> =
        args.properties.iter().map(|argument| with_formula_prefix(argument)).collect();
    let loaded = load(&properties, &args.functions, terminal.errors.colour)?;
    if !loaded.warnings.is_empty() {
        terminal.eprint(&(loaded.warnings(terminal.errors.colour) + "\n"));
    }
    let pictures = [&args.dot, &args.svg, &args.hoa, &args.spin].into_iter().any(Option::is_some);
    if loaded.automata.len() > 1 && pictures {
        return Err(CliError::new("`--dot`, `--svg`, `--hoa` and `--spin` need exactly one property"));
    }
    let explained = explain_all(&loaded, terminal)?;
    if args.json {
        terminal.print(&json::json(&explained))?;
    } else if stdout_documents == 0 {
        let texts: Vec<String> = explained.iter().map(|property| property.text(&terminal.style)).collect();
        terminal.print(&texts.join("\n\n"))?;
    }
    for property in &explained {
        if let Some(path) = &args.dot {
            files::write(path, &property.graph().to_dot(), terminal)?;
        }
        if let Some(path) = &args.svg {
            files::write(path, &property.graph().to_svg(), terminal)?;
        }
        if let Some(path) = &args.hoa {
            files::write(path, &property.hoa()?, terminal)?;
        }
        if let Some(path) = &args.spin {
            files::write(path, &property.never()?, terminal)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds the prefix `ltl:` to an argument that is not a file but looks like a formula.
fn with_formula_prefix(argument: &Path) -> PathBuf {
    let text = argument.to_str().unwrap_or_default();
    let is_file = is_standard(argument)
        || argument.exists()
        || argument.extension().is_some_and(|e| e == "prop" || e == "ltl");
    let has_operator = text.contains(|c: char| c.is_whitespace() || "()&|!<>[]\"¬∧∨→□◇".contains(c));
    match has_operator && !is_file && FormulaArgument::parse(text).is_none() {
        true => PathBuf::from(format!("ltl:{text}")),
        false => argument.to_owned(),
    }
}

/// The explanation of a property in either language.
enum ExplainedProperty {
    Prop(explain::Explanation),
    Ltl(Box<ltl::explain::Explanation>),
}

fn explain_all(loaded: &Loaded, terminal: &Terminal) -> Result<Vec<ExplainedProperty>, CliError> {
    let mut all = Vec::new();
    for (automaton, source) in loaded.automata.iter().zip(&loaded.property_sources) {
        all.push(match source {
            PropertySource::Prop(property) => {
                ExplainedProperty::Prop(explain(property, automaton, &loaded.catalog, &loaded.sources))
            }
            PropertySource::Ltl(formula) => {
                let explained = with_large_stack(|| formula.explain())?.map_err(|diagnostics| {
                    CliError::rendered(render(&loaded.sources, &diagnostics, terminal.errors.colour))
                })?;
                ExplainedProperty::Ltl(Box::new(explained))
            }
        });
    }
    Ok(all)
}

impl ExplainedProperty {
    fn text(&self, style: &Style) -> String {
        match self {
            ExplainedProperty::Prop(explanation) => text::text(explanation, style),
            ExplainedProperty::Ltl(explanation) => formula::text(explanation, style),
        }
    }

    fn graph(&self) -> Graph {
        match self {
            ExplainedProperty::Prop(explanation) => explanation.graph(),
            ExplainedProperty::Ltl(explanation) => explanation.graph(),
        }
    }

    /// The formula's Büchi automaton in the HOA format.
    fn hoa(&self) -> Result<String, CliError> {
        match self {
            ExplainedProperty::Ltl(explanation) => {
                explanation.hoa.clone().ok_or_else(|| CliError::new(explanation.unanswered.join("\n")))
            }
            ExplainedProperty::Prop(explanation) => Err(not_a_formula(&explanation.name, "--hoa")),
        }
    }

    /// The formula's Büchi automaton as a never claim.
    fn never(&self) -> Result<String, CliError> {
        match self {
            ExplainedProperty::Ltl(explanation) => explanation.never_claim.clone().map_err(CliError::new),
            ExplainedProperty::Prop(explanation) => Err(not_a_formula(&explanation.name, "--spin")),
        }
    }
}

fn not_a_formula(name: &str, option: &str) -> CliError {
    CliError::new(format_args!(
        "{name}: `{option}` applies to formulae only; `--dot` works for every property"
    ))
}
