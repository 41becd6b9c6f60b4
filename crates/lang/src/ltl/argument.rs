//! A formula where a file of properties can stand: `ltl:G(request -> F grant)`.

use super::property::Manner;
use crate::prop::ast::Name;
use invigil_expr::diag::{SourceId, Span};
use std::ops::Range;

/// How long the runs are that a formula speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// More may come: what is certain is told, the rest is open.
    Ltl,
    /// The end of the run is the end of all: there the formula holds, or it does not.
    Ltlf,
}

/// A formula, or a file of them, as it is given on a command line: `[NAME=] ltl|ltlf [ '[' PARAMETER, … ']' ]
/// : FORMULA`.
///
/// ```
/// use invigil_lang::ltl::{Argument, Reading};
/// let text = "mutex=ltlf[queue]:G !(a & b)";
/// let argument = Argument::parse(text).unwrap();
/// assert_eq!((argument.name, argument.reading), (Some("mutex"), Reading::Ltlf));
/// assert_eq!(&text[argument.formula], "G !(a & b)");
/// assert_eq!(&text[argument.slice_on[0].clone()], "queue");
/// assert!(Argument::parse("queue.prop").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// What the property is to be called.
    pub name: Option<&'a str>,
    /// How long runs are.
    pub reading: Reading,
    /// Where the parameters stand that it is sliced on.
    pub slice_on: Vec<Range<usize>>,
    /// Where the formula stands, or the name of a file.
    pub formula: Range<usize>,
}

impl<'a> Argument<'a> {
    /// Reads an argument; none if it does not say that it is a formula.
    pub fn parse(text: &'a str) -> Option<Argument<'a>> {
        let is_name = |name: &&str| {
            name.starts_with(|first: char| first.is_alphabetic() || first == '_')
                && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
        };
        let name = text.split_once('=').map(|(name, _)| name).filter(is_name);
        let start = name.map_or(0, |name| name.len() + 1);
        let kinds = [("ltlf", Reading::Ltlf), ("ltl", Reading::Ltl)];
        let (word, reading) = kinds.into_iter().find(|(word, _)| {
            text[start..].strip_prefix(word).is_some_and(|rest| rest.starts_with([':', '[']))
        })?;
        let after = start + word.len();
        let Some(inside) = text[after..].strip_prefix('[') else {
            return Some(Argument { name, reading, slice_on: Vec::new(), formula: after + 1..text.len() });
        };
        let length = inside.find("]:")?;
        let mut slice_on = Vec::new();
        let mut at = after + 1;
        for part in inside[..length].split(',') {
            let blank = part.len() - part.trim_start().len();
            slice_on.push(at + blank..at + blank + part.trim().len());
            at += part.len() + 1;
        }
        Some(Argument { name, reading, slice_on, formula: after + 1 + length + 2..text.len() })
    }

    /// How its formulae are to be read; `text` is what was parsed, and all of `source`.
    pub fn manner(&self, source: SourceId, text: &str) -> Manner {
        let slice_on = self.slice_on.iter().map(|part| Name {
            text: text[part.clone()].to_owned(),
            span: Span::new(source, part.start as u32, part.end as u32),
        });
        Manner {
            name: self.name.map(str::to_owned),
            stem: None,
            reading: self.reading,
            slice_on: slice_on.collect(),
        }
    }

    /// Whether the formulae are in a file; `text` is what was parsed.
    pub fn is_file(&self, text: &str) -> bool {
        text[self.formula.clone()].trim().ends_with(".ltl")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(Option<&str>, Reading, Vec<&str>, &str)> {
        let argument = Argument::parse(text)?;
        let slices = argument.slice_on.iter().map(|part| &text[part.clone()]).collect();
        Some((argument.name, argument.reading, slices, &text[argument.formula]))
    }

    #[test]
    fn arguments_are_taken_apart() {
        assert_eq!(parts("ltl:G a"), Some((None, Reading::Ltl, vec![], "G a")));
        assert_eq!(parts("ltlf: F a=b"), Some((None, Reading::Ltlf, vec![], " F a=b")));
        assert_eq!(parts("x-1=ltl[q, r]:G a"), Some((Some("x-1"), Reading::Ltl, vec!["q", "r"], "G a")));
        assert_eq!(parts("ltl[]:a"), Some((None, Reading::Ltl, vec![""], "a")));
        for other in ["ltl", "ltl.prop", "a.prop", "-", "", "x=y.prop", "ltl[q:a", "G(a)", "1=ltl:a"] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn files_are_known_by_their_names() {
        let is_file = |text: &str| Argument::parse(text).unwrap().is_file(text);
        assert!(is_file("ltlf:rules.ltl") && !is_file("ltl:G rules"));
    }
}
