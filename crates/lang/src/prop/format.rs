//! Formats a property without losing a comment.
//!
//! The formatter does not print the syntax tree. It lays out the same tokens again in the same order, so comments
//! keep their place between the tokens and nothing can be lost.

use super::ast::{Block, Property};
use super::parser::{ParsedProperty, parse_with_layout};
use crate::parsing::layout_tokens::{Comment, LayoutRole, LayoutToken};
use crate::parsing::scan::is_hyphen;
use invigil_expr::diag::{Diagnostic, SourceId};
use std::collections::HashMap;

const INDENT: usize = 4;

/// Lines are broken where possible if they would exceed this width.
const MAX_WIDTH: usize = 110;

/// Formats the property in `text`, the contents of the file `source`.
///
/// Bodies are indented by four spaces, states and transitions are separated by an empty line, and blocks are moved
/// as a whole, which keeps their inner indentation. A one-line block stays on one line if it fits.
///
/// # Errors
/// If the property has syntax errors: returns the diagnostics and formats nothing.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::prop;
///
/// let text = "state init{transition{event f(x:int){return x>0}failure bad}} # start\nstate bad";
/// let printed = prop::format(SourceId(0), text).unwrap();
/// assert_eq!(printed, "\
/// state init {
///     transition {
///         event f(x: int) { return x>0 }
///         failure bad
///     }
/// }  # start
///
/// state bad
/// ");
/// ```
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse_with_layout(source, text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parsed.diagnostics);
    }
    let mut printer = Printer::new(text, &parsed);
    let mut comments = parsed.comments.iter().peekable();
    for (at, piece) in parsed.tokens.iter().enumerate() {
        while let Some(comment) = comments.next_if(|comment| comment.start < piece.start) {
            printer.comment(comment, Some(piece));
        }
        printer.piece(at);
    }
    for comment in comments {
        printer.comment(comment, None);
    }
    printer.out.push('\n');
    Ok(printer.out)
}

struct Printer<'a> {
    text: &'a str,
    parsed: &'a ParsedProperty,
    /// The blocks, by the offset after their opening brace.
    blocks: HashMap<usize, &'a Block>,
    out: String,
    /// The number of open bodies.
    depth: usize,
    /// The indentation of the current line.
    indent: usize,
    /// Whether the current line must end: a comment ends it, or a list is broken here.
    line_is_full: bool,
    /// Whether each parameter of the open list has its own line.
    broken_list: bool,
    /// The role of the last token.
    last: Option<LayoutRole>,
    /// The end of the last token or comment in the text.
    last_end: usize,
    /// Whether a comment on its own line precedes the next token, to which it belongs.
    follows_comment: bool,
}

impl<'a> Printer<'a> {
    fn new(text: &'a str, parsed: &'a ParsedProperty) -> Printer<'a> {
        Printer {
            text,
            parsed,
            blocks: blocks(&parsed.property),
            out: String::with_capacity(text.len() * 5 / 4),
            depth: 0,
            indent: 0,
            line_is_full: false,
            broken_list: false,
            last: None,
            last_end: 0,
            follows_comment: false,
        }
    }

    /// Starts a line, preceded by an empty one if `blank`.
    fn line(&mut self, indent: usize, blank: bool) {
        if !self.out.is_empty() {
            self.out.push_str(if blank { "\n\n" } else { "\n" });
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.indent = indent;
        self.line_is_full = false;
    }

    /// Starts the line for the token or comment at `start`.
    fn line_for(&mut self, role: Option<LayoutRole>, start: usize) {
        let opens_body = !self.follows_comment && matches!(self.last, None | Some(LayoutRole::OpenBody));
        let kept = self.text[self.last_end..start].matches('\n').count() > 1 && self.last_end > 0;
        let set_off = role == Some(LayoutRole::Item) && !self.follows_comment;
        let within =
            !matches!(role, None | Some(LayoutRole::Item | LayoutRole::Clause | LayoutRole::CloseBody));
        let indent = (self.depth + usize::from(within)) * INDENT;
        self.line(indent, !opens_body && !within && (kept || set_off));
    }

    fn comment(&mut self, comment: &Comment, before: Option<&LayoutToken>) {
        let between = &self.text[self.last_end..comment.start];
        if between.contains('\n') || self.out.is_empty() {
            // A comment leads the token after it, and is indented like it.
            self.line_for(before.map(|piece| piece.role), comment.start);
            self.follows_comment = true;
        } else {
            self.out.push_str("  ");
        }
        self.out.push_str(&self.text[comment.start..comment.end]);
        self.line_is_full = true;
        self.last_end = comment.end;
    }

    fn piece(&mut self, at: usize) {
        let piece = self.parsed.tokens[at];
        let words = &self.text[piece.start..piece.end];
        match piece.role {
            LayoutRole::Item | LayoutRole::Clause => {
                self.line_for(Some(piece.role), piece.start);
                self.out.push_str(words);
            }
            LayoutRole::CloseBody => {
                self.depth = self.depth.saturating_sub(1);
                if self.last != Some(LayoutRole::OpenBody) || self.line_is_full {
                    self.line(self.depth * INDENT, false);
                }
                self.out.push('}');
            }
            LayoutRole::OpenBody => {
                if self.line_is_full {
                    self.line(self.depth * INDENT, false);
                } else {
                    self.out.push(' ');
                }
                self.out.push('{');
                self.depth += 1;
            }
            LayoutRole::CloseList => {
                if self.line_is_full || self.broken_list {
                    self.line(self.depth * INDENT, false);
                }
                self.broken_list = false;
                self.out.push(')');
            }
            LayoutRole::Block => {
                self.continue_line(" ");
                self.block(piece);
            }
            LayoutRole::Word | LayoutRole::Prefix => {
                let glued = matches!(self.last, Some(LayoutRole::Prefix | LayoutRole::OpenList));
                self.continue_line(if glued { "" } else { " " });
                self.words(words);
            }
            LayoutRole::Tight | LayoutRole::Comma | LayoutRole::OpenList => {
                self.continue_line("");
                self.out.push_str(words);
                self.broken_list |= piece.role == LayoutRole::OpenList && self.must_break(at);
                self.line_is_full = self.broken_list && piece.role != LayoutRole::Tight;
            }
        }
        self.last = Some(piece.role);
        self.last_end = piece.end;
        self.follows_comment = false;
    }

    /// Continues the line after `gap`, or starts the next one if the line must end.
    fn continue_line(&mut self, gap: &str) {
        if self.line_is_full {
            self.line((self.depth + 1) * INDENT, false);
        } else {
            self.out.push_str(gap);
        }
    }

    fn words(&mut self, words: &str) {
        let middle = words.strip_prefix("non").and_then(|rest| rest.strip_suffix("accepting"));
        match middle {
            Some(middle) if middle.starts_with(is_hyphen) => self.out.push_str("non-accepting"),
            _ => self.out.push_str(&words.replace("\r\n", "\n")),
        }
    }

    /// Whether the parameter list that opens at token `at` needs more than one line.
    fn must_break(&self, at: usize) -> bool {
        let list = self.parsed.tokens[at..].iter();
        let mut width = self.width();
        let mut end = self.text.len();
        for piece in list.skip(1) {
            width += self.text[piece.start..piece.end].chars().count()
                + usize::from(piece.role == LayoutRole::Word);
            if piece.role == LayoutRole::CloseList {
                end = piece.start;
                break;
            }
        }
        let first =
            self.parsed.comments.partition_point(|comment| comment.start < self.parsed.tokens[at].start);
        let commented = self.parsed.comments.get(first).is_some_and(|comment| comment.start < end);
        commented
            || (width > MAX_WIDTH
                && self.parsed.tokens.get(at + 1).is_some_and(|p| p.role != LayoutRole::CloseList))
    }

    /// The width of the current line.
    fn width(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[line..].chars().count()
    }

    fn block(&mut self, piece: LayoutToken) {
        let Some(block) = self.blocks.get(&(piece.start + 1)) else {
            // Every block without a syntax error is in the tree.
            return self.out.push_str(&self.text[piece.start..piece.end]);
        };
        let program = block.dedent();
        if program.text.is_empty() {
            return self.out.push_str("{}");
        }
        let fits = self.width() + program.text.chars().count() + "{  }".len() <= MAX_WIDTH;
        if fits && !block.text.contains('\n') {
            return self.out.push_str(&format!("{{ {} }}", program.text));
        }
        self.out.push('{');
        let (inside, indent) = (self.indent + INDENT, self.indent);
        for (number, line) in program.lines.iter().enumerate() {
            let end =
                program.lines.get(number + 1).map_or(program.text.len(), |next| next.start as usize - 1);
            let code = &program.text[line.start as usize..end];
            let spaces = if code.is_empty() || line.in_string { 0 } else { inside };
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', spaces));
            self.out.push_str(code);
        }
        self.line(indent, false);
        self.out.push('}');
    }
}

/// All blocks of a property, by the offset at which their text starts.
fn blocks(property: &Property) -> HashMap<usize, &Block> {
    let transitions = property.states.iter().flat_map(|state| &state.transitions);
    let in_transitions = transitions.flat_map(|transition| {
        let branches = [&transition.success, &transition.failure].into_iter().flatten();
        transition.guard.iter().chain(branches.flat_map(|branch| &branch.block))
    });
    let all = property.initialization.iter().chain(in_transitions);
    all.map(|block| (block.span.start as usize, block)).collect()
}
