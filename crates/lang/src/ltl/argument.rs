//! Formulae on the command line, in place of a property file: `ltl:G(request -> F grant)`.

use super::property::FormulaOptions;
use crate::prop::ast::Name;
use invigil_expr::diag::{SourceId, Span};
use std::ops::Range;

/// Whether a formula is about infinite or finite traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceSemantics {
    /// Infinite traces: more events may follow. Until a verdict is certain, the formula is undecided.
    Ltl,
    /// Finite traces: the run ends where the trace ends, and there the formula either holds or is violated.
    Ltlf,
}

/// A formula or a file of formulae on a command line:
/// `[NAME=] ltl|ltlf [ '[' PARAMETER, … ']' ] : FORMULA`.
///
/// ```
/// use invigil_lang::ltl::{FormulaArgument, TraceSemantics};
/// let text = "mutex=ltlf[queue]:G !(a & b)";
/// let argument = FormulaArgument::parse(text).unwrap();
/// assert_eq!((argument.name, argument.semantics), (Some("mutex"), TraceSemantics::Ltlf));
/// assert_eq!(&text[argument.formula], "G !(a & b)");
/// assert_eq!(&text[argument.slice_on[0].clone()], "queue");
/// assert!(FormulaArgument::parse("queue.prop").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaArgument<'a> {
    /// The name of the property.
    pub name: Option<&'a str>,
    /// The trace semantics.
    pub semantics: TraceSemantics,
    /// The ranges of the slice parameters in the text.
    pub slice_on: Vec<Range<usize>>,
    /// The range of the formula or of the file name.
    pub formula: Range<usize>,
}

impl<'a> FormulaArgument<'a> {
    /// Parses an argument; returns `None` if it has no `ltl:` or `ltlf:` prefix.
    pub fn parse(text: &'a str) -> Option<FormulaArgument<'a>> {
        let is_name = |name: &&str| {
            name.starts_with(|first: char| first.is_alphabetic() || first == '_')
                && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
        };
        let name = text.split_once('=').map(|(name, _)| name).filter(is_name);
        let start = name.map_or(0, |name| name.len() + 1);
        let kinds = [("ltlf", TraceSemantics::Ltlf), ("ltl", TraceSemantics::Ltl)];
        let (word, semantics) = kinds.into_iter().find(|(word, _)| {
            text[start..].strip_prefix(word).is_some_and(|rest| rest.starts_with([':', '[']))
        })?;
        let after = start + word.len();
        let Some(inside) = text[after..].strip_prefix('[') else {
            return Some(FormulaArgument {
                name,
                semantics,
                slice_on: Vec::new(),
                formula: after + 1..text.len(),
            });
        };
        let length = inside.find("]:")?;
        let mut slice_on = Vec::new();
        let mut at = after + 1;
        for part in inside[..length].split(',') {
            let blank = part.len() - part.trim_start().len();
            slice_on.push(at + blank..at + blank + part.trim().len());
            at += part.len() + 1;
        }
        Some(FormulaArgument { name, semantics, slice_on, formula: after + 1 + length + 2..text.len() })
    }

    /// Returns the options for [`parse`](super::parse). `text` is the parsed argument, and all of `source`.
    pub fn options(&self, source: SourceId, text: &str) -> FormulaOptions {
        let slice_on = self.slice_on.iter().map(|part| Name {
            text: text[part.clone()].to_owned(),
            span: Span::new(source, part.start as u32, part.end as u32),
        });
        FormulaOptions {
            name: self.name.map(str::to_owned),
            stem: None,
            semantics: self.semantics,
            slice_on: slice_on.collect(),
        }
    }

    /// Whether the argument names a file; `text` is the parsed argument.
    pub fn is_file(&self, text: &str) -> bool {
        text[self.formula.clone()].trim().ends_with(".ltl")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(Option<&str>, TraceSemantics, Vec<&str>, &str)> {
        let argument = FormulaArgument::parse(text)?;
        let slices = argument.slice_on.iter().map(|part| &text[part.clone()]).collect();
        Some((argument.name, argument.semantics, slices, &text[argument.formula]))
    }

    #[test]
    fn arguments_are_split_into_parts() {
        assert_eq!(parts("ltl:G a"), Some((None, TraceSemantics::Ltl, vec![], "G a")));
        assert_eq!(parts("ltlf: F a=b"), Some((None, TraceSemantics::Ltlf, vec![], " F a=b")));
        assert_eq!(
            parts("x-1=ltl[q, r]:G a"),
            Some((Some("x-1"), TraceSemantics::Ltl, vec!["q", "r"], "G a"))
        );
        assert_eq!(parts("ltl[]:a"), Some((None, TraceSemantics::Ltl, vec![""], "a")));
        for other in ["ltl", "ltl.prop", "a.prop", "-", "", "x=y.prop", "ltl[q:a", "G(a)", "1=ltl:a"] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn ltl_extension_marks_a_file() {
        let is_file = |text: &str| FormulaArgument::parse(text).unwrap().is_file(text);
        assert!(is_file("ltlf:rules.ltl") && !is_file("ltl:G rules"));
    }
}
