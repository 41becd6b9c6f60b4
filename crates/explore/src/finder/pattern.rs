//! Regular expressions over steps.
//!
//! ```text
//! send (ack | timeout)* send          an action of that name, an alternative, repetition
//! . "x' == x + 1"+ close?             any step, a step with a property, once or more, at most once
//! ```
//!
//! A name is a step by an action of that name, a text in quotes a step on which that predicate is true; whoever
//! asks says what both mean. One thing after another is written with a space or without.

use crate::finder::{Automaton, Edge};
use std::collections::BTreeSet;

/// One letter of an expression, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Letter<'t> {
    /// A name.
    Name(&'t str),
    /// A predicate, without its quotes.
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

/// How deep parentheses may be nested, and how long an expression may be.
const DEEPEST: usize = 100;
const LONGEST: usize = 1000;

/// The automaton of an expression: it accepts as soon as the steps up to now match. `read` says what letters mean.
///
/// # Errors
/// With words for the user, if the text is no expression, a letter means nothing, or no step is needed to match.
///
/// ```
/// use invigil_explore::finder::pattern::{Anchor, Letter, compile};
/// let automaton = compile("send (ack | timeout)* send", Anchor::Start, |letter| match letter {
///     Letter::Name(name) => Ok(name.to_owned()),
///     Letter::Predicate(_) => Err("no predicates here".to_owned()),
/// });
/// assert_eq!(automaton.unwrap().edges.len(), 5);
/// let all = compile("a*", Anchor::Start, |_| Ok(()));
/// assert_eq!(all.unwrap_err(), "`a*` matches before any step: add something that must happen");
/// ```
pub fn compile<E>(
    text: &str,
    anchor: Anchor,
    mut read: impl FnMut(Letter<'_>) -> Result<E, String>,
) -> Result<Automaton<E>, String>
where
    E: Clone,
{
    if text.len() > LONGEST {
        return Err(format!("the expression is longer than {LONGEST} characters"));
    }
    let mut parser =
        Parser { text, at: 0, depth: 0, labels: Vec::new(), follow: Vec::new(), read: &mut read };
    let whole = parser.alternatives()?;
    if let Some(rest) = parser.rest() {
        return Err(format!("`{rest}` has no `(` before it"));
    }
    if whole.is_nullable {
        return Err(format!("`{text}` matches before any step: add something that must happen"));
    }
    // Each letter is a state, in which it has just been read; before them there is the start.
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

/// What is known of a part: whether it matches nothing at all, and the letters with which it may begin and end.
#[derive(Default)]
struct Part {
    is_nullable: bool,
    first: Vec<usize>,
    last: Vec<usize>,
}

/// Reads an expression and finds which letter may follow which.
struct Parser<'t, 'r, E> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// What each letter means; none for any step.
    labels: Vec<Option<E>>,
    follow: Vec<BTreeSet<usize>>,
    read: &'r mut dyn FnMut(Letter<'_>) -> Result<E, String>,
}

impl<'t, E> Parser<'t, '_, E> {
    /// What is left, without leading space.
    fn rest(&mut self) -> Option<&'t str> {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        (!rest.is_empty()).then_some(rest)
    }

    fn next(&mut self) -> Option<char> {
        self.rest().and_then(|rest| rest.chars().next())
    }

    fn alternatives(&mut self) -> Result<Part, String> {
        let mut whole = self.sequence()?;
        while self.next() == Some('|') {
            self.at += 1;
            let part = self.sequence()?;
            whole.is_nullable |= part.is_nullable;
            whole.first.extend(part.first);
            whole.last.extend(part.last);
        }
        Ok(whole)
    }

    fn sequence(&mut self) -> Result<Part, String> {
        let mut whole = self.repeated()?;
        while self.next().is_some_and(|next| !matches!(next, '|' | ')')) {
            let part = self.repeated()?;
            self.link(&whole.last, &part.first);
            if whole.is_nullable {
                whole.first.extend(&part.first);
            }
            if part.is_nullable {
                whole.last.extend(part.last);
            } else {
                whole.last = part.last;
            }
            whole.is_nullable &= part.is_nullable;
        }
        Ok(whole)
    }

    fn repeated(&mut self) -> Result<Part, String> {
        let mut part = self.single()?;
        while let Some(sign @ ('*' | '+' | '?')) = self.next() {
            self.at += 1;
            if sign != '?' {
                self.link(&part.last.clone(), &part.first.clone());
            }
            part.is_nullable |= sign != '+';
        }
        Ok(part)
    }

    fn single(&mut self) -> Result<Part, String> {
        let Some(rest) = self.rest() else {
            return Err("the expression ends where a step is expected".to_owned());
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '[' | ']');
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(format!("parentheses are nested more than {DEEPEST} deep"));
                }
                let part = self.alternatives()?;
                if self.next() != Some(')') {
                    return Err("a `(` has no `)`".to_owned());
                }
                self.at += 1;
                self.depth -= 1;
                Ok(part)
            }
            Some('.') => {
                self.at += 1;
                Ok(self.letter(None))
            }
            Some('"') => {
                let Some(length) = rest[1..].find('"') else { return Err("a `\"` is missing".to_owned()) };
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
            _ => Err(format!("`{rest}`: a name, a `\"predicate\"`, `.` or `(` is expected here")),
        }
    }

    fn letter(&mut self, label: Option<E>) -> Part {
        let letter = self.labels.len();
        self.labels.push(label);
        self.follow.push(BTreeSet::new());
        Part { is_nullable: false, first: vec![letter], last: vec![letter] }
    }

    fn link(&mut self, before: &[usize], after: &[usize]) {
        for letter in before {
            self.follow[*letter].extend(after);
        }
    }
}
