//! Regular expressions over steps.
//!
//! ```text
//! send (ack | timeout)* send          an action of that name, an alternative, repetition
//! . "x' == x + 1"+ close?             any step, a step with a property, once or more, at most once
//! ```
//!
//! A name matches a step by an action of that name. Quoted text matches a step that satisfies the predicate. The
//! caller defines both. Expressions are concatenated with or without a space.

use crate::breakpoint_search::{Automaton, Edge};
use std::collections::BTreeSet;

/// A symbol of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Letter<'t> {
    /// A name.
    Name(&'t str),
    /// A predicate without its quotes.
    Predicate(&'t str),
}

/// Where in an execution an expression must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// From the first step on.
    Start,
    /// From any step on.
    Anywhere,
}

/// Maximum nesting depth of parentheses, and maximum length of an expression.
const MAX_DEPTH: usize = 100;
const MAX_LENGTH: usize = 1000;

/// Compiles an expression to an automaton that accepts as soon as the steps read so far match. `read` interprets the
/// symbols.
///
/// # Errors
/// A message for the user, if the text is malformed, a symbol has no meaning, or the expression matches without any
/// step.
///
/// ```
/// use invigil_explore::breakpoint_search::pattern::{Anchor, Letter, compile};
/// let automaton = compile("send (ack | timeout)* send", Anchor::Start, |letter| match letter {
///     Letter::Name(name) => Ok(name.to_owned()),
///     Letter::Predicate(_) => Err("no predicates here".to_owned()),
/// });
/// assert_eq!(automaton.unwrap().edges.len(), 5);
/// let all = compile("a*", Anchor::Start, |_| Ok(()));
/// assert_eq!(all.unwrap_err(), "`a*` matches the empty sequence; add a step that must occur");
/// ```
pub fn compile<E>(
    text: &str,
    anchor: Anchor,
    mut read: impl FnMut(Letter<'_>) -> Result<E, String>,
) -> Result<Automaton<E>, String>
where
    E: Clone,
{
    if text.chars().count() > MAX_LENGTH {
        return Err(format!("the expression is longer than {MAX_LENGTH} characters"));
    }
    let mut parser =
        Parser { text, at: 0, depth: 0, labels: Vec::new(), follow: Vec::new(), read: &mut read };
    let whole = parser.alternatives()?;
    if let Some(rest) = parser.rest() {
        return Err(format!("unmatched `)` at `{rest}`"));
    }
    if whole.is_nullable {
        return Err(format!("`{text}` matches the empty sequence; add a step that must occur"));
    }
    // Glushkov construction: state `n` means that letter `n` was read last; state 0 is the start.
    let Parser { labels, follow, .. } = parser;
    let to = |letter: &usize| Edge { label: labels[*letter].clone(), marks: 0, target: *letter as u32 + 1 };
    let mut start: Vec<Edge<E>> = whole.first.iter().map(to).collect();
    if anchor == Anchor::Anywhere {
        start.push(Edge { label: None, marks: 0, target: 0 });
    }
    let mut edges = vec![start];
    edges.extend(follow.iter().map(|follow| follow.iter().map(to).collect()));
    let accepting =
        std::iter::once(false).chain((0..labels.len()).map(|letter| whole.last.contains(&letter)));
    Ok(Automaton { initial: 0, accepting: accepting.collect(), edges, sets: None, reads_start: false })
}

/// Properties of a subexpression: whether it matches the empty sequence, and its possible first and last letters.
#[derive(Default)]
struct Fragment {
    is_nullable: bool,
    first: Vec<usize>,
    last: Vec<usize>,
}

/// Parses an expression and collects which letter may follow which.
struct Parser<'t, 'r, E> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The meaning of each letter; none for any step.
    labels: Vec<Option<E>>,
    follow: Vec<BTreeSet<usize>>,
    read: &'r mut dyn FnMut(Letter<'_>) -> Result<E, String>,
}

impl<'t, E> Parser<'t, '_, E> {
    /// The remaining text without leading space.
    fn rest(&mut self) -> Option<&'t str> {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        (!rest.is_empty()).then_some(rest)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest().and_then(|rest| rest.chars().next())
    }

    fn alternatives(&mut self) -> Result<Fragment, String> {
        let mut whole = self.sequence()?;
        while self.peek() == Some('|') {
            self.at += 1;
            let fragment = self.sequence()?;
            whole.is_nullable |= fragment.is_nullable;
            whole.first.extend(fragment.first);
            whole.last.extend(fragment.last);
        }
        Ok(whole)
    }

    fn sequence(&mut self) -> Result<Fragment, String> {
        let mut whole = self.repeated()?;
        while self.peek().is_some_and(|next| !matches!(next, '|' | ')')) {
            let fragment = self.repeated()?;
            self.link(&whole.last, &fragment.first);
            if whole.is_nullable {
                whole.first.extend(&fragment.first);
            }
            if fragment.is_nullable {
                whole.last.extend(fragment.last);
            } else {
                whole.last = fragment.last;
            }
            whole.is_nullable &= fragment.is_nullable;
        }
        Ok(whole)
    }

    fn repeated(&mut self) -> Result<Fragment, String> {
        let mut fragment = self.single()?;
        while let Some(sign @ ('*' | '+' | '?')) = self.peek() {
            self.at += 1;
            if sign != '?' {
                self.link(&fragment.last.clone(), &fragment.first.clone());
            }
            fragment.is_nullable |= sign != '+';
        }
        Ok(fragment)
    }

    fn single(&mut self) -> Result<Fragment, String> {
        let Some(rest) = self.rest() else {
            return Err("the expression ends where a step is expected".to_owned());
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '[' | ']');
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(format!("parentheses are nested more than {MAX_DEPTH} deep"));
                }
                let fragment = self.alternatives()?;
                if self.peek() != Some(')') {
                    return Err("missing `)`".to_owned());
                }
                self.at += 1;
                self.depth -= 1;
                Ok(fragment)
            }
            Some('.') => {
                self.at += 1;
                Ok(self.letter(None))
            }
            Some('"') => {
                let Some(length) = rest[1..].find('"') else { return Err("missing `\"`".to_owned()) };
                self.at += length + 2;
                let label = (self.read)(Letter::Predicate(&rest[1..=length]))?;
                Ok(self.letter(Some(label)))
            }
            Some(first) if is_name(first) => {
                let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                self.at += length;
                let label = (self.read)(Letter::Name(&rest[..length]))?;
                Ok(self.letter(Some(label)))
            }
            _ => Err(format!("expected a name, a `\"predicate\"`, `.` or `(`, found `{rest}`")),
        }
    }

    fn letter(&mut self, label: Option<E>) -> Fragment {
        let letter = self.labels.len();
        self.labels.push(label);
        self.follow.push(BTreeSet::new());
        Fragment { is_nullable: false, first: vec![letter], last: vec![letter] }
    }

    fn link(&mut self, before: &[usize], after: &[usize]) {
        for letter in before {
            self.follow[*letter].extend(after);
        }
    }
}
