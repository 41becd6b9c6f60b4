//! What the tests of PEDL and MEDL share. Not every test needs all of it.
#![allow(dead_code)]

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::pedl::ast::Literal;
use invigil_lang::{medl, pedl, report};
use std::path::PathBuf;

/// The problems of a PEDL script (file 0) and a MEDL script (file 1), as a person sees them.
pub(crate) fn show(pedl: &str, medl: &str, problems: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test.pedl", pedl);
    sources.add("test.medl", medl);
    report::render(&sources, problems, false)
}

/// All that is said of a PEDL script that knows no constants.
pub(crate) fn pedl_problems(text: &str) -> Vec<Diagnostic> {
    let (script, mut problems) = pedl::parse(SourceId(0), text);
    if !problems.iter().any(Diagnostic::is_error) {
        problems.extend(pedl::lower(&script, &|_| None).1);
    }
    problems
}

/// All that is said of a MEDL script without its PEDL script.
pub(crate) fn medl_problems(text: &str) -> Vec<Diagnostic> {
    let (script, mut problems) = medl::parse(SourceId(1), text);
    if !problems.iter().any(Diagnostic::is_error) {
        problems.extend(medl::lower(&script, None).1);
    }
    problems
}

/// A PEDL script about which there is nothing to say.
pub(crate) fn good_pedl(text: &str, constants: &dyn Fn(&str) -> Option<Literal>) -> pedl::Lowered {
    let (script, problems) = pedl::parse(SourceId(0), text);
    assert!(problems.is_empty(), "{}", show(text, "", &problems));
    let (lowered, problems) = pedl::lower(&script, constants);
    assert!(problems.is_empty(), "{}", show(text, "", &problems));
    lowered.expect("no error")
}

/// A MEDL script about which there is nothing to say.
pub(crate) fn good_medl(text: &str, pedl: Option<&pedl::Lowered>) -> medl::Lowered {
    let (script, problems) = medl::parse(SourceId(1), text);
    assert!(problems.is_empty(), "{}", show("", text, &problems));
    let (lowered, problems) = medl::lower(&script, pedl);
    assert!(problems.is_empty(), "{}", show("", text, &problems));
    lowered.expect("no error")
}

/// The document that describes the languages, if it is there.
pub(crate) fn document() -> Option<String> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let shared = std::env::var_os("INVIGIL_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let text = std::fs::read_to_string(shared.join("seeds/001_db640c332afcc61b.txt")).ok();
    if text.is_none() {
        eprintln!("skipped: the document is not in {}", shared.display());
    }
    text
}

/// A script printed in the document: its lines from the one to the other, counted from 1, without their own numbers
/// and what stands around them. `anchor` must be in the first line.
pub(crate) fn printed(document: &str, lines: (usize, usize), anchor: &str) -> String {
    let all: Vec<&str> = document.lines().skip(lines.0 - 1).take(lines.1 + 1 - lines.0).collect();
    assert!(all.first().is_some_and(|first| first.contains(anchor)), "{anchor} is not in line {}", lines.0);
    let unnumbered = |line: &&str| match line.split_once(':') {
        Some((number, rest)) if number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => (*line).to_owned(),
    };
    let script: Vec<String> = all.iter().filter(|line| !line.starts_with("```")).map(unnumbered).collect();
    script.join("\n") + "\n"
}
