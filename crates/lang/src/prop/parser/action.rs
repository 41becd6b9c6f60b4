//! Calls, such as `sink_reached()`. Like blocks, they are Python.

use super::super::ast::{Action, Name};
use crate::parsing::PropParser;
use crate::parsing::layout_tokens::{LayoutRole, LayoutToken};
use crate::parsing::scan::Token;
use crate::python::{LexemeKind, lexemes};
use invigil_expr::diag::Diagnostic;

impl PropParser<'_> {
    /// Whether a call such as `sink_reached()` follows.
    pub(super) fn at_action(&self) -> bool {
        matches!(self.at.token, Token::Word(_))
            && matches!(self.peek(), Token::Mark('('))
            // A name and a parenthesis on the next line are separate tokens.
            && !self.text[self.at.end..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
    }

    /// Parses a call.
    pub(super) fn action(&mut self) -> Option<Action> {
        let Token::Word(name) = self.at.token else { return None };
        let (start, name_end) = (self.at.start, self.at.end);
        let open = name_end + self.text[name_end..].find('(')?;
        let end = match self.closing_parenthesis(open) {
            Some(end) => end,
            None => {
                let diagnostic =
                    Diagnostic::error(self.span(open, open + 1), "this parenthesis is not closed")
                        .label("opened here")
                        .help(format!("write the call as `{name}()`"));
                self.report(diagnostic);
                self.text[open..].find('\n').map_or(self.text.len(), |at| open + at)
            }
        };
        let action = Action {
            name: Name { text: name.to_owned(), span: self.span(start, name_end) },
            text: self.text[start..end].to_owned(),
            span: self.span(start, end),
        };
        self.tokens.push(LayoutToken { role: LayoutRole::Word, start, end });
        self.jump(end);
        Some(action)
    }

    /// Returns the offset after the parenthesis that closes the one at `open`.
    fn closing_parenthesis(&self, open: usize) -> Option<usize> {
        let (mut depth, mut braces) = (0u32, 0u32);
        for lexeme in lexemes(self.text, open) {
            match lexeme.kind {
                LexemeKind::Open(b'{') => braces += 1,
                LexemeKind::Close(b'}') => braces = braces.checked_sub(1)?,
                LexemeKind::Open(_) => depth += 1,
                LexemeKind::Close(_) => depth -= 1,
                LexemeKind::LineEnd if self.clause_at(lexeme.end).is_some() => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(lexeme.end);
            }
        }
        None
    }
}
