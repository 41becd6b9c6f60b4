//! Files of formulae, put in order.

use super::file::{self, Outline};
use super::scan::{self, Scanned};
use super::{Mistake, parse, tree};
use crate::formula::Proposition;
use std::fmt::Write;
use std::ops::Range;

/// Lines longer than this are broken at the operands of a conjunction or disjunction.
const WIDTH: usize = 100;

/// The same formulae with one spelling and one layout. Comments stay; so does a formula with comments inside.
///
/// ```
/// let text = "a=[]( ((p)) => <>q )  // soon\n\n\n\nb = not @a";
/// assert_eq!(invigil_ltl::syntax::format(text).unwrap(), "a = G(p -> F q)  // soon\n\nb = !@a\n");
/// ```
///
/// # Errors
/// All mistakes that were found: what cannot be read is not touched.
pub fn format(text: &str) -> Result<String, Vec<Mistake>> {
    let scanned = scan::scan(text);
    let outlines = file::outline(&scanned.tokens, text)?;
    let (mut pieces, mut mistakes) = (Vec::new(), Vec::new());
    for outline in outlines {
        match written(&outline, &scanned, text) {
            Ok(new) => pieces.push((outline.span, new)),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let inside = |comment: &&Range<usize>| {
        let before = pieces.partition_point(|(span, _)| span.start < comment.start);
        before > 0 && pieces[before - 1].0.end > comment.start
    };
    let mut outside: Vec<Range<usize>> = scanned.comments.clone();
    outside.retain(|comment| !inside(&comment));
    pieces.extend(outside.into_iter().map(|span| (span.clone(), text[span].trim_end().to_owned())));
    pieces.sort_by_key(|(span, _)| span.start);
    let (mut all, mut end) = (String::with_capacity(text.len()), 0);
    for (span, new) in pieces {
        let lines = text[end..span.start].matches('\n').count();
        let comment = new.starts_with("//") || new.starts_with('#');
        all.push_str(match lines {
            _ if all.is_empty() => "",
            0 if comment => "  ",
            0 | 1 => "\n",
            _ => "\n\n",
        });
        all.push_str(&new);
        end = span.end;
    }
    all.push('\n');
    Ok(all)
}

/// A definition as it should be.
fn written(outline: &Outline<'_>, scanned: &Scanned, text: &str) -> Result<String, Mistake> {
    let tree = parse::parse(outline.tokens, text, outline.span.end)?;
    let next = scanned.comments.partition_point(|comment| comment.start < outline.span.start);
    if scanned.comments.get(next).is_some_and(|comment| comment.start < outline.span.end) {
        return Ok(text[outline.span.clone()].to_owned());
    }
    let mut line = match &outline.name {
        Some(name) => tree::atom(&Proposition::Name(name.text.clone())) + " = ",
        None => String::new(),
    };
    let head = line.len();
    write!(line, "{tree}").ok();
    let (operator, operands) = tree.operands();
    let (true, Some(operator)) = (line.chars().count() > WIDTH, operator) else { return Ok(line) };
    line.truncate(head);
    for (at, operand) in operands.into_iter().enumerate() {
        if at > 0 {
            write!(line, "\n    {} ", operator.text()).ok();
        }
        tree.write(operand, &mut line).ok();
    }
    Ok(line)
}
