//! Blocks and calls: the parts of a property that are Python.

use super::super::ast::{Action, Block, Name};
use super::super::piece::{Piece, Role};
use super::super::scan::{self, Token};
use super::Parser;
use crate::python::{What, walk};
use invigil_expr::diag::Diagnostic;

/// Words that can follow another in Python.
const OPERATORS: [&str; 8] = ["in", "is", "and", "or", "not", "if", "else", "for"];

/// Where a block ends.
pub(super) struct BlockEnd {
    /// The end of its text.
    text: usize,
    /// Where to go on.
    pub(super) after: usize,
}

impl Parser<'_> {
    /// Takes the block that comes next, if one does.
    pub(super) fn block(&mut self) -> Option<Block> {
        if !self.at_mark('{') {
            return None;
        }
        let open = self.at.start;
        let end = self.find_block_end(open);
        let block = Block {
            text: self.text[open + 1..end.text].to_owned(),
            span: self.span(open + 1, end.text),
            column: self.column_of(open + 1),
        };
        self.pieces.push(Piece { role: Role::Block, start: open, end: end.after });
        self.jump(end.after);
        Some(block)
    }

    /// Finds the end of the block that opens at `open`, and complains about what hides it.
    pub(super) fn find_block_end(&mut self, open: usize) -> BlockEnd {
        let mut depth = 0u32;
        for lexeme in walk(self.text, open) {
            match lexeme.what {
                What::Open(b'{') => depth += 1,
                What::Close(b'}') if depth == 1 => {
                    return BlockEnd { text: lexeme.start, after: lexeme.end };
                }
                What::Close(b'}') => depth -= 1,
                What::UnclosedString => {
                    let quotes = self.span(lexeme.start, lexeme.end);
                    let problem = Diagnostic::error(quotes, "this string is not closed")
                        .label("opened here")
                        .help("end it with the same quotes, on the same line unless they are tripled");
                    self.report(problem);
                }
                What::LineEnd => {
                    if let Some((start, end)) = clause_at(self.text, lexeme.end) {
                        let brace = self.span(open, open + 1);
                        let word = &self.text[start..end];
                        let problem = Diagnostic::error(brace, "this block is not closed")
                            .label("opened here")
                            .related(self.span(start, end), "the property goes on here")
                            .help(format!("put the missing `}}` before `{word}`"));
                        self.report(problem);
                        return BlockEnd { text: lexeme.start, after: lexeme.end };
                    }
                }
                _ => {}
            }
        }
        let problem = Diagnostic::error(self.span(open, open + 1), "this block is not closed")
            .label("opened here")
            .help("every `{` needs its `}`");
        self.report(problem);
        BlockEnd { text: self.text.len(), after: self.text.len() }
    }

    /// Whether a call such as `sink_reached()` comes next.
    pub(super) fn at_action(&self) -> bool {
        matches!(self.at.token, Token::Word(_))
            && matches!(self.second(), Token::Mark('('))
            // A name and a parenthesis on the next line do not belong together.
            && !self.text[self.at.end..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
    }

    /// Takes a call.
    pub(super) fn action(&mut self) -> Option<Action> {
        let Token::Word(name) = self.at.token else { return None };
        let (start, name_end) = (self.at.start, self.at.end);
        let open = name_end + self.text[name_end..].find('(')?;
        let end = match self.closing_parenthesis(open) {
            Some(end) => end,
            None => {
                let problem = Diagnostic::error(self.span(open, open + 1), "this parenthesis is not closed")
                    .label("opened here")
                    .help(format!("write the call as `{name}()`"));
                self.report(problem);
                self.text[open..].find('\n').map_or(self.text.len(), |at| open + at)
            }
        };
        let action = Action {
            name: Name { text: name.to_owned(), span: self.span(start, name_end) },
            text: self.text[start..end].to_owned(),
            span: self.span(start, end),
        };
        self.pieces.push(Piece { role: Role::Word, start, end });
        self.jump(end);
        Some(action)
    }

    /// The byte after the parenthesis that closes the one at `open`.
    fn closing_parenthesis(&self, open: usize) -> Option<usize> {
        let (mut depth, mut braces) = (0u32, 0u32);
        for lexeme in walk(self.text, open) {
            match lexeme.what {
                What::Open(b'{') => braces += 1,
                What::Close(b'}') => braces = braces.checked_sub(1)?,
                What::Open(_) => depth += 1,
                What::Close(_) => depth -= 1,
                What::LineEnd if clause_at(self.text, lexeme.end).is_some() => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(lexeme.end);
            }
        }
        None
    }
}

/// The word with which the line at `line` goes on with the property, if it cannot be Python.
fn clause_at(text: &str, line: usize) -> Option<(usize, usize)> {
    let start = line + text[line..].len() - text[line..].trim_start_matches([' ', '\t']).len();
    let word = scan::word_at(&text[start..]);
    if !matches!(word, "state" | "transition" | "success" | "failure") {
        return None;
    }
    let end = start + word.len();
    let behind = text[end..].trim_start_matches([' ', '\t']);
    let next = scan::word_at(behind);
    let goes_on = behind.starts_with('{') || !(next.is_empty() || OPERATORS.contains(&next));
    goes_on.then_some((start, end))
}
