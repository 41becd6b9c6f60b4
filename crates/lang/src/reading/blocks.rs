//! Blocks: the parts of a file that are Python.

use super::piece::{Piece, Role};
use super::{Parser, scan};
use crate::prop::ast::Block;
use crate::python::{What, walk};
use invigil_expr::diag::Diagnostic;

/// Words that can follow another in Python.
const OPERATORS: [&str; 8] = ["in", "is", "and", "or", "not", "if", "else", "for"];

/// Where a block ends.
pub(crate) struct BlockEnd {
    /// The end of its text.
    text: usize,
    /// Where to go on.
    pub(crate) after: usize,
}

impl Parser<'_> {
    /// Takes the block that comes next, if one does.
    pub(crate) fn block(&mut self) -> Option<Block> {
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
    pub(crate) fn find_block_end(&mut self, open: usize) -> BlockEnd {
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
                    if let Some((start, end)) = self.clause_at(lexeme.end) {
                        let brace = self.span(open, open + 1);
                        let word = &self.text[start..end];
                        let problem = Diagnostic::error(brace, "this block is not closed")
                            .label("opened here")
                            .related(
                                self.span(start, end),
                                format!("the {} goes on here", self.language.noun),
                            )
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

    /// The word with which the line at `line` goes on with the file, if it cannot be Python.
    pub(crate) fn clause_at(&self, line: usize) -> Option<(usize, usize)> {
        let text = self.text;
        let start = line + text[line..].len() - text[line..].trim_start_matches([' ', '\t']).len();
        let word = scan::word_at(&text[start..]);
        if !self.language.clauses.contains(&word) {
            return None;
        }
        let end = start + word.len();
        let behind = text[end..].trim_start_matches([' ', '\t']);
        let next = scan::word_at(behind);
        let goes_on = behind.starts_with('{') || !(next.is_empty() || OPERATORS.contains(&next));
        goes_on.then_some((start, end))
    }
}
