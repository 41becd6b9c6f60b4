//! Formatter for files of formulae.

use super::file::{self, DefinitionTokens};
use super::scan::{self, TokenStream};
use super::{SyntaxError, parse, tree};
use crate::formula::Proposition;
use std::fmt::Write;
use std::ops::Range;

/// Maximum line width; longer conjunctions and disjunctions are split into one operand per line.
const MAX_WIDTH: usize = 100;

/// Formats a file of formulae with standard spellings and layout. Comments are kept, and definitions with comments inside are
/// not changed.
///
/// ```
/// let text = "a=[]( ((p)) => <>q )  // soon\n\n\n\nb = not @a";
/// assert_eq!(invigil_ltl::syntax::format(text).unwrap(), "a = G(p -> F q)  // soon\n\nb = !@a\n");
/// ```
///
/// # Errors
/// Returns all syntax errors; a file with errors is not formatted.
pub fn format(text: &str) -> Result<String, Vec<SyntaxError>> {
    let stream = scan::scan(text);
    let definitions = file::split_definitions(&stream.tokens, text)?;
    let (mut blocks, mut errors) = (Vec::new(), Vec::new());
    for definition in definitions {
        match format_definition(&definition, &stream, text) {
            Ok(formatted) => blocks.push((definition.span, formatted)),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let inside = |comment: &&Range<usize>| {
        let before = blocks.partition_point(|(span, _)| span.start < comment.start);
        before > 0 && blocks[before - 1].0.end > comment.start
    };
    let mut outside: Vec<Range<usize>> = stream.comments.clone();
    outside.retain(|comment| !inside(&comment));
    blocks.extend(outside.into_iter().map(|span| (span.clone(), text[span].trim_end().to_owned())));
    blocks.sort_by_key(|(span, _)| span.start);
    let (mut all, mut end) = (String::with_capacity(text.len()), 0);
    for (span, formatted) in blocks {
        let lines = text[end..span.start].matches('\n').count();
        let is_comment = formatted.starts_with("//") || formatted.starts_with('#');
        all.push_str(match lines {
            _ if all.is_empty() => "",
            0 if is_comment => "  ",
            0 | 1 => "\n",
            _ => "\n\n",
        });
        all.push_str(&formatted);
        end = span.end;
    }
    all.push('\n');
    Ok(all)
}

/// Formats a definition.
fn format_definition(
    definition: &DefinitionTokens<'_>,
    stream: &TokenStream,
    text: &str,
) -> Result<String, SyntaxError> {
    let tree = parse::parse(definition.tokens, text, definition.span.end)?;
    let next = stream.comments.partition_point(|comment| comment.start < definition.span.start);
    if stream.comments.get(next).is_some_and(|comment| comment.start < definition.span.end) {
        return Ok(text[definition.span.clone()].to_owned());
    }
    let mut line = match &definition.name {
        Some(name) => tree::atom(&Proposition::Name(name.text.clone())) + " = ",
        None => String::new(),
    };
    let head = line.len();
    write!(line, "{tree}").ok();
    let (operator, operands) = tree.operands();
    let (true, Some(operator)) = (line.chars().count() > MAX_WIDTH, operator) else { return Ok(line) };
    line.truncate(head);
    for (at, operand) in operands.into_iter().enumerate() {
        if at > 0 {
            write!(line, "\n    {} ", operator.text()).ok();
        }
        tree.write(operand, &mut line).ok();
    }
    Ok(line)
}
