//! Blocks of Python in users' files.

use super::layout_tokens::{LayoutRole, LayoutToken};
use super::{PropParser, scan};
use crate::prop::ast::Block;
use crate::python::{LexemeKind, lexemes};
use invigil_expr::diag::Diagnostic;

/// Words that can follow another word in Python.
const OPERATORS: [&str; 8] = ["in", "is", "and", "or", "not", "if", "else", "for"];

/// The end of a block.
pub(crate) struct BlockEnd {
    /// The end of its text.
    text: usize,
    /// The offset at which parsing continues.
    pub(crate) after: usize,
}

impl PropParser<'_> {
    /// Takes a block, if one follows.
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
        self.tokens.push(LayoutToken { role: LayoutRole::Block, start: open, end: end.after });
        self.jump(end.after);
        Some(block)
    }

    /// Finds the end of the block that opens at `open`, and reports errors that hide it.
    pub(crate) fn find_block_end(&mut self, open: usize) -> BlockEnd {
        let mut depth = 0u32;
        for lexeme in lexemes(self.text, open) {
            match lexeme.kind {
                LexemeKind::Open(b'{') => depth += 1,
                LexemeKind::Close(b'}') if depth == 1 => {
                    return BlockEnd { text: lexeme.start, after: lexeme.end };
                }
                LexemeKind::Close(b'}') => depth -= 1,
                LexemeKind::UnclosedString => {
                    let quotes = self.span(lexeme.start, lexeme.end);
                    let diagnostic = Diagnostic::error(quotes, "this string is not closed")
                        .label("opened here")
                        .help("close it with the same quotes; only triple-quoted strings can span lines");
                    self.report(diagnostic);
                }
                LexemeKind::LineEnd => {
                    if let Some((start, end)) = self.clause_at(lexeme.end) {
                        let brace = self.span(open, open + 1);
                        let word = &self.text[start..end];
                        let diagnostic = Diagnostic::error(brace, "this block is not closed")
                            .label("opened here")
                            .related(
                                self.span(start, end),
                                format!("the {} continues here", self.language.noun),
                            )
                            .help(format!("add the missing `}}` before `{word}`"));
                        self.report(diagnostic);
                        return BlockEnd { text: lexeme.start, after: lexeme.end };
                    }
                }
                _ => {}
            }
        }
        let diagnostic = Diagnostic::error(self.span(open, open + 1), "this block is not closed")
            .label("opened here")
            .help("add the missing `}`");
        self.report(diagnostic);
        BlockEnd { text: self.text.len(), after: self.text.len() }
    }

    /// Returns the clause keyword that starts the line at `line`, if the line cannot be Python.
    pub(crate) fn clause_at(&self, line: usize) -> Option<(usize, usize)> {
        let text = self.text;
        let start = line + text[line..].len() - text[line..].trim_start_matches([' ', '\t']).len();
        let word = scan::word_at(&text[start..]);
        if !self.language.clauses.contains(&word) {
            return None;
        }
        let end = start + word.len();
        let rest = text[end..].trim_start_matches([' ', '\t']);
        let next = scan::word_at(rest);
        let continues_clause = rest.starts_with('{') || !(next.is_empty() || OPERATORS.contains(&next));
        continues_clause.then_some((start, end))
    }
}
