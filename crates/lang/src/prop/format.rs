//! Prints a property in one style, without losing a comment.
//!
//! The formatter does not print the tree: it lays the same words out again, in the same order. Comments stay
//! between the words where they stood, and nothing can be lost.

use super::ast::{Block, Property};
use super::parser::{Reading, read};
use crate::reading::piece::{Comment, Piece, Role};
use crate::reading::scan::is_hyphen;
use invigil_expr::diag::{Diagnostic, SourceId};
use std::collections::HashMap;

const INDENT: usize = 4;

/// Lines are broken, where they can be, so as not to get longer than this.
const MAX_WIDTH: usize = 110;

/// Prints the property in `text`, the contents of the file known as `source`, in one style.
///
/// Bodies are indented by four spaces, states and transitions are set off by an empty line, and blocks move
/// as a whole, keeping the indentation inside them. A block on one line stays on one line if it fits.
///
/// # Errors
/// If the property cannot be read; the diagnostics say why, and nothing is printed.
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
    let reading = read(source, text);
    if reading.problems.iter().any(Diagnostic::is_error) {
        return Err(reading.problems);
    }
    let mut printer = Printer::new(text, &reading);
    let mut comments = reading.comments.iter().peekable();
    for (at, piece) in reading.pieces.iter().enumerate() {
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
    reading: &'a Reading,
    /// The blocks by the byte after their opening brace.
    blocks: HashMap<usize, &'a Block>,
    out: String,
    /// How many bodies are open.
    depth: usize,
    /// How many spaces the present line starts with.
    indent: usize,
    /// Whether the line is full, because a comment ends it or a list is broken here.
    line_is_full: bool,
    /// Whether the list of parameters that is open has each on a line of its own.
    broken_list: bool,
    /// The role of the last piece.
    last: Option<Role>,
    /// Where the last piece or comment ends in the text.
    last_end: usize,
    /// Whether the last thing was a comment on a line of its own, so that what follows belongs to it.
    led: bool,
}

impl<'a> Printer<'a> {
    fn new(text: &'a str, reading: &'a Reading) -> Printer<'a> {
        Printer {
            text,
            reading,
            blocks: blocks(&reading.property),
            out: String::with_capacity(text.len() * 5 / 4),
            depth: 0,
            indent: 0,
            line_is_full: false,
            broken_list: false,
            last: None,
            last_end: 0,
            led: false,
        }
    }

    /// Starts a line, after an empty one if `blank`.
    fn line(&mut self, indent: usize, blank: bool) {
        if !self.out.is_empty() {
            self.out.push_str(if blank { "\n\n" } else { "\n" });
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.indent = indent;
        self.line_is_full = false;
    }

    /// Starts the line of something at `start` that has `role`.
    fn line_for(&mut self, role: Option<Role>, start: usize) {
        let opens_body = !self.led && matches!(self.last, None | Some(Role::OpenBody));
        let kept = self.text[self.last_end..start].matches('\n').count() > 1 && self.last_end > 0;
        let set_off = role == Some(Role::Item) && !self.led;
        let within = !matches!(role, None | Some(Role::Item | Role::Clause | Role::CloseBody));
        let indent = (self.depth + usize::from(within)) * INDENT;
        self.line(indent, !opens_body && !within && (kept || set_off));
    }

    fn comment(&mut self, comment: &Comment, before: Option<&Piece>) {
        let between = &self.text[self.last_end..comment.start];
        if between.contains('\n') || self.out.is_empty() {
            // A comment leads the piece behind it, and has the piece's place.
            self.line_for(before.map(|piece| piece.role), comment.start);
            self.led = true;
        } else {
            self.out.push_str("  ");
        }
        self.out.push_str(&self.text[comment.start..comment.end]);
        self.line_is_full = true;
        self.last_end = comment.end;
    }

    fn piece(&mut self, at: usize) {
        let piece = self.reading.pieces[at];
        let words = &self.text[piece.start..piece.end];
        match piece.role {
            Role::Item | Role::Clause => {
                self.line_for(Some(piece.role), piece.start);
                self.out.push_str(words);
            }
            Role::CloseBody => {
                self.depth = self.depth.saturating_sub(1);
                if self.last != Some(Role::OpenBody) || self.line_is_full {
                    self.line(self.depth * INDENT, false);
                }
                self.out.push('}');
            }
            Role::OpenBody => {
                if self.line_is_full {
                    self.line(self.depth * INDENT, false);
                } else {
                    self.out.push(' ');
                }
                self.out.push('{');
                self.depth += 1;
            }
            Role::CloseList => {
                if self.line_is_full || self.broken_list {
                    self.line(self.depth * INDENT, false);
                }
                self.broken_list = false;
                self.out.push(')');
            }
            Role::Block => {
                self.go_on(" ");
                self.block(piece);
            }
            Role::Word | Role::Prefix => {
                let glued = matches!(self.last, Some(Role::Prefix | Role::OpenList));
                self.go_on(if glued { "" } else { " " });
                self.words(words);
            }
            Role::Tight | Role::Comma | Role::OpenList => {
                self.go_on("");
                self.out.push_str(words);
                self.broken_list |= piece.role == Role::OpenList && self.must_break(at);
                self.line_is_full = self.broken_list && piece.role != Role::Tight;
            }
        }
        self.last = Some(piece.role);
        self.last_end = piece.end;
        self.led = false;
    }

    /// Goes on with the line after `gap`, or on the next one if the line is full.
    fn go_on(&mut self, gap: &str) {
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

    /// Whether the list of parameters that opens at piece `at` needs more than one line.
    fn must_break(&self, at: usize) -> bool {
        let list = self.reading.pieces[at..].iter();
        let mut width = self.width();
        let mut end = self.text.len();
        for piece in list.skip(1) {
            width +=
                self.text[piece.start..piece.end].chars().count() + usize::from(piece.role == Role::Word);
            if piece.role == Role::CloseList {
                end = piece.start;
                break;
            }
        }
        let first =
            self.reading.comments.partition_point(|comment| comment.start < self.reading.pieces[at].start);
        let commented = self.reading.comments.get(first).is_some_and(|comment| comment.start < end);
        commented
            || (width > MAX_WIDTH
                && self.reading.pieces.get(at + 1).is_some_and(|p| p.role != Role::CloseList))
    }

    /// How long the present line is.
    fn width(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[line..].chars().count()
    }

    fn block(&mut self, piece: Piece) {
        let Some(block) = self.blocks.get(&(piece.start + 1)) else {
            // Every block that was read without a mistake is in the tree.
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

/// All blocks of a property, by the byte at which their text starts.
fn blocks(property: &Property) -> HashMap<usize, &Block> {
    let transitions = property.states.iter().flat_map(|state| &state.transitions);
    let in_transitions = transitions.flat_map(|transition| {
        let ends = [&transition.success, &transition.failure].into_iter().flatten();
        transition.guard.iter().chain(ends.flat_map(|end| &end.block))
    });
    let all = property.initialization.iter().chain(in_transitions);
    all.map(|block| (block.span.start as usize, block)).collect()
}
