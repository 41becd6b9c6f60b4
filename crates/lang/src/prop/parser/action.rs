//! Calls: the other parts of a property that are Python.

use super::super::ast::{Action, Name};
use crate::python::{What, walk};
use crate::reading::Parser;
use crate::reading::piece::{Piece, Role};
use crate::reading::scan::Token;
use invigil_expr::diag::Diagnostic;

impl Parser<'_> {
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
                What::LineEnd if self.clause_at(lexeme.end).is_some() => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(lexeme.end);
            }
        }
        None
    }
}
