//! From tokens to trees, with a stack of our own: formulae may be as deep as they like.

use super::scan::{self, Kind, Token};
use super::tree::{self, Bound, Part, Tree};
use super::words::{self, Word};
use super::{Binary, Mistake, Unary};
use crate::formula::Proposition;
use std::ops::Range;

/// Reads all tokens as one formula. `end` is where the text ends.
pub(super) fn parse(tokens: &[Token], text: &str, end: usize) -> Result<Tree, Mistake> {
    Parser { tokens, text, end, next: 0, parts: Vec::new(), operands: Vec::new(), pending: Vec::new() }
        .formula()
}

/// What waits for an operand.
enum Pending {
    Group(Range<usize>),
    Unary(Unary, Option<Box<Bound>>, Range<usize>),
    Binary(Binary, Option<Box<Bound>>, Range<usize>),
}

struct Parser<'a> {
    tokens: &'a [Token],
    text: &'a str,
    end: usize,
    next: usize,
    parts: Vec<Part>,
    operands: Vec<usize>,
    pending: Vec<Pending>,
}

impl Parser<'_> {
    fn formula(mut self) -> Result<Tree, Mistake> {
        loop {
            self.operand()?;
            while self.peek().is_some_and(|token| token.kind == Kind::Close) {
                self.close()?;
            }
            let Some(token) = self.peek() else { break };
            let span = token.span.clone();
            let (Kind::Binary(operator) | Kind::Soft(Word::Binary(operator))) = token.kind else {
                return Err(self.no_operator());
            };
            self.next += 1;
            let bound = if operator.bounded() { self.bound(false)? } else { None };
            self.reduce(|before| match before {
                Pending::Group(_) => false,
                Pending::Unary(..) => true,
                Pending::Binary(before, ..) => {
                    let (before, now) = (before.strength(), operator.strength());
                    before > now || before == now && operator.to_the_left()
                }
            });
            self.pending.push(Pending::Binary(operator, bound, span));
        }
        self.reduce(|before| !matches!(before, Pending::Group(_)));
        match self.pending.pop() {
            Some(Pending::Group(span)) => Err(Mistake::new("the parenthesis is never closed", span)),
            _ => Ok(Tree { parts: self.parts }),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn push(&mut self, kind: tree::Kind, span: Range<usize>) {
        self.operands.push(self.parts.len());
        self.parts.push(Part { kind, span });
    }

    /// Everything up to and with the next atom or constant.
    fn operand(&mut self) -> Result<(), Mistake> {
        loop {
            let Some(token) = self.peek() else { return Err(self.no_formula()) };
            let span = token.span.clone();
            let written = || self.text[span.clone()].to_owned();
            let kind = match &token.kind {
                Kind::Open => {
                    self.pending.push(Pending::Group(span));
                    self.next += 1;
                    continue;
                }
                Kind::Unary(operator) => {
                    self.unary(*operator, span)?;
                    continue;
                }
                Kind::Soft(Word::Unary(operator)) if self.operand_follows() => {
                    self.unary(*operator, span)?;
                    continue;
                }
                Kind::Constant(value) => tree::Kind::Constant(*value),
                Kind::Number(number @ (0 | 1)) => tree::Kind::Constant(*number == 1),
                Kind::Name(name) => tree::Kind::Atom(Proposition::Name(name.clone())),
                Kind::Soft(_) if !written().ends_with('!') => tree::Kind::Atom(Proposition::Name(written())),
                Kind::Expression(text) => tree::Kind::Atom(Proposition::Expression(text.clone())),
                Kind::Reference(name) => tree::Kind::Atom(Proposition::Monitor(name.clone())),
                _ => return Err(self.no_formula()),
            };
            self.next += 1;
            self.push(kind, span);
            return Ok(());
        }
    }

    fn unary(&mut self, operator: Unary, span: Range<usize>) -> Result<(), Mistake> {
        self.next += 1;
        let bound = if operator.bounded() { self.bound(operator.steps())? } else { None };
        self.pending.push(Pending::Unary(operator, bound, span));
        Ok(())
    }

    /// Whether the next token but one begins an operand or a bound, so that this one is an operator.
    fn operand_follows(&self) -> bool {
        match self.tokens.get(self.next + 1).map(|token| &token.kind) {
            None => false,
            Some(
                Kind::Close
                | Kind::CloseBracket
                | Kind::Binary(_)
                | Kind::Soft(Word::Binary(_))
                | Kind::Equals
                | Kind::Semicolon
                | Kind::To,
            ) => false,
            Some(_) => true,
        }
    }

    /// Closes a group.
    fn close(&mut self) -> Result<(), Mistake> {
        let span = self.tokens[self.next].span.clone();
        self.next += 1;
        self.reduce(|before| !matches!(before, Pending::Group(_)));
        match (self.pending.pop(), self.operands.pop()) {
            (Some(Pending::Group(open)), Some(inner)) => {
                self.push(tree::Kind::Group(inner), open.start..span.end);
                Ok(())
            }
            _ => Err(Mistake::new("there is no `(` for this `)`", span)),
        }
    }

    /// Gives operands to what waits for them, as far back as `takes` says.
    fn reduce(&mut self, takes: impl Fn(&Pending) -> bool) {
        while let Some(last) = self.pending.pop_if(|last| takes(last)) {
            let Some(right) = self.operands.pop() else { return };
            match last {
                Pending::Group(_) => {}
                Pending::Unary(operator, bound, span) => {
                    self.push(tree::Kind::Unary(operator, bound, right), span);
                }
                Pending::Binary(operator, bound, span) => {
                    let Some(left) = self.operands.pop() else { return };
                    self.push(tree::Kind::Binary(operator, bound, left, right), span);
                }
            }
        }
    }

    /// The bound of the operator before, if it has one: `[2,5]`, `[3]` after one that steps, `<= 4`.
    fn bound(&mut self, steps: bool) -> Result<Option<Box<Bound>>, Mistake> {
        let Some(token) = self.peek() else { return Ok(None) };
        let (kind, start) = (token.kind.clone(), token.span.start);
        let after = self.tokens.get(self.next + 1).map(|token| &token.kind);
        let (from, to) = match kind {
            Kind::OpenBracket => {
                self.next += 1;
                if steps && self.strong_mark() {
                    return Ok(None);
                }
                self.brackets(steps, start)?
            }
            Kind::Binary(Binary::Xor) if steps && matches!(after, Some(Kind::Number(_))) => {
                self.next += 1;
                let number = self.number()?;
                (number, Some(number))
            }
            Kind::LessEqual | Kind::Less | Kind::GreaterEqual | Kind::Greater if !steps => {
                self.next += 1;
                let number = self.number()?;
                match kind {
                    Kind::LessEqual => (0, Some(number)),
                    Kind::GreaterEqual => (number, None),
                    Kind::Greater => (number.saturating_add(1), None),
                    _ if number > 0 => (0, Some(number - 1)),
                    _ => return Err(Mistake::new("no instant is before this bound", start..self.behind())),
                }
            }
            _ => return Ok(None),
        };
        let span = start..self.behind();
        if to.is_some_and(|to| to < from) {
            // The bound may be written over several lines; a message has one.
            let written: Vec<&str> = self.text[span.clone()].split_whitespace().collect();
            let mistake =
                Mistake::new(format!("the bound ends before it begins: {}", written.join(" ")), span);
            return Err(mistake.hint("the smaller number comes first"));
        }
        Ok(Some(Box::new(Bound { from, to, span })))
    }

    /// The mark that says that there must be a next instant, as there must be anyway: `X[!]`.
    fn strong_mark(&mut self) -> bool {
        let kinds = self.tokens[self.next..].iter().take(2).map(|token| &token.kind);
        let found = kinds.eq([&Kind::Unary(Unary::Not), &Kind::CloseBracket]);
        self.next += if found { 2 } else { 0 };
        found
    }

    /// The inside of brackets, and the closing one.
    fn brackets(&mut self, steps: bool, start: usize) -> Result<(u64, Option<u64>), Mistake> {
        let is_to = |token: &Token| token.kind == Kind::To;
        let from = if self.peek().is_some_and(is_to) { 0 } else { self.number()? };
        let (ends, to) = match self.peek().map(|token| &token.kind) {
            Some(Kind::To) => {
                self.next += 1;
                (true, self.upper()?)
            }
            _ => (false, Some(from)),
        };
        match self.peek() {
            Some(token) if token.kind == Kind::CloseBracket => self.next += 1,
            found => {
                let expected: &[&str] = if ends { &["`]`"] } else { &["`,`", "`]`"] };
                return Err(Mistake::expected(expected, &scan::shown(found, self.text), self.here()));
            }
        }
        let span = start..self.behind();
        match (steps, ends) {
            (true, true) => Err(Mistake::new("an operator that steps has one number: how many steps", span)),
            (false, false) => Err(Mistake::new("this bound needs two numbers", span).hint(format!(
                "[0,{from}] or <={from} for all instants up to {from}, [{from},{from}] for just that one"
            ))),
            _ => Ok((from, to)),
        }
    }

    /// The upper end of a bound: nothing, `inf` and `$` are none.
    fn upper(&mut self) -> Result<Option<u64>, Mistake> {
        match self.peek().map(|token| &token.kind) {
            Some(Kind::CloseBracket) => return Ok(None),
            Some(Kind::Name(name)) if name == "inf" || name == "$" => {}
            Some(Kind::Infinity) => {}
            _ => return self.number().map(Some),
        }
        self.next += 1;
        Ok(None)
    }

    fn number(&mut self) -> Result<u64, Mistake> {
        match self.peek().map(|token| &token.kind) {
            Some(Kind::Number(number)) => {
                let number = *number;
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.mistake_of(Mistake::expected(
                &["a number"],
                &scan::shown(self.peek(), self.text),
                self.here(),
            ))),
        }
    }

    /// Where the next token is, or the end.
    fn here(&self) -> Range<usize> {
        self.peek().map_or(self.end..self.end, |token| token.span.clone())
    }

    /// Where the token before ends.
    fn behind(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |before| self.tokens[before].span.end)
    }

    /// A token that could not be read says itself what is wrong with it.
    fn mistake_of(&self, otherwise: Mistake) -> Mistake {
        match self.peek().map(|token| &token.kind) {
            Some(Kind::Bad(mistake)) => (**mistake).clone(),
            _ => otherwise,
        }
    }

    fn no_formula(&self) -> Mistake {
        let mistake = Mistake::expected(&["a formula"], &scan::shown(self.peek(), self.text), self.here());
        let mistake = match self.peek() {
            Some(token) if matches!(token.kind, Kind::Binary(_)) => {
                let written = &self.text[token.span.clone()];
                match words::is_name(written) {
                    true => mistake.hint(format!("as a name it stands in quotes: '{written}'")),
                    false => mistake,
                }
            }
            Some(Token { kind: Kind::Number(_), .. }) => {
                mistake.hint("an expression over the subject stands in double quotes")
            }
            _ => mistake,
        };
        self.mistake_of(mistake)
    }

    fn no_operator(&self) -> Mistake {
        let open = self.pending.iter().any(|pending| matches!(pending, Pending::Group(_)));
        let expected: &[&str] = if open { &["an operator", "`)`"] } else { &["an operator", "the end"] };
        let found = self.peek();
        let mistake = Mistake::expected(expected, &scan::shown(found, self.text), self.here());
        let before = self.next.checked_sub(1).map(|before| &self.tokens[before]);
        let hint = match (before, found) {
            (_, Some(Token { kind: Kind::Name(name), .. })) if is_word(&name.to_lowercase()) => {
                Some(format!("the operator is written in small letters: {}", name.to_lowercase()))
            }
            (Some(Token { kind: Kind::Name(name), .. }), _) if words::unglued(name).is_some() => {
                words::unglued(name).map(|apart| format!("`{name}` is read as one name; apart: {apart}"))
            }
            (Some(Token { kind: Kind::Name(name), span }), Some(Token { kind: Kind::Open, span: open }))
                if span.end == open.start =>
            {
                Some(format!("a name with parentheses stands in quotes: '{name}(…)'"))
            }
            (_, Some(token)) if is_comparison(&token.kind) => {
                Some("an expression over the subject stands in double quotes".to_owned())
            }
            _ => None,
        };
        self.mistake_of(Mistake { hint, ..mistake })
    }
}

fn is_word(text: &str) -> bool {
    words::reserved(text).or_else(|| words::soft(text)).is_some()
}

fn is_comparison(kind: &Kind) -> bool {
    use Kind::{Compare, Equals, Greater, GreaterEqual, Less, LessEqual};
    matches!(kind, Compare | Equals | Less | LessEqual | Greater | GreaterEqual)
}
