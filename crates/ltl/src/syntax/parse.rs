//! Operator-precedence parser with explicit stacks, so that the nesting depth of formulae is not limited.

use super::scan::{self, Token, TokenKind};
use super::spelling::{self, Keyword};
use super::tree::{Bound, NodeKind, SyntaxTree, TreeNode};
use super::{Binary, SyntaxError, Unary};
use crate::formula::Proposition;
use std::ops::Range;

/// Parses all tokens as one formula. `end` is the offset at which the text ends.
pub(super) fn parse(tokens: &[Token], text: &str, end: usize) -> Result<SyntaxTree, SyntaxError> {
    Parser { tokens, text, end, next: 0, nodes: Vec::new(), operands: Vec::new(), operators: Vec::new() }
        .formula()
}

/// Operator or opening parenthesis whose right operand is not complete yet.
enum PendingOperator {
    Group(Range<usize>),
    Unary(Unary, Option<Box<Bound>>, Range<usize>),
    Binary(Binary, Option<Box<Bound>>, Range<usize>),
}

struct Parser<'a> {
    tokens: &'a [Token],
    text: &'a str,
    end: usize,
    /// The index of the next token.
    next: usize,
    nodes: Vec<TreeNode>,
    /// The stack of complete operands, as indices of nodes.
    operands: Vec<usize>,
    operators: Vec<PendingOperator>,
}

impl Parser<'_> {
    fn formula(mut self) -> Result<SyntaxTree, SyntaxError> {
        loop {
            self.operand()?;
            while self.peek().is_some_and(|token| token.kind == TokenKind::Close) {
                self.close()?;
            }
            let Some(token) = self.peek() else { break };
            let span = token.span.clone();
            let (TokenKind::Binary(operator) | TokenKind::SoftKeyword(Keyword::Binary(operator))) =
                token.kind
            else {
                return Err(self.unexpected_token());
            };
            self.next += 1;
            let bound = if operator.can_have_bound() { self.bound(false)? } else { None };
            self.reduce(|before| match before {
                PendingOperator::Group(_) => false,
                PendingOperator::Unary(..) => true,
                PendingOperator::Binary(before, ..) => {
                    let (before, now) = (before.precedence(), operator.precedence());
                    before > now || before == now && operator.is_left_associative()
                }
            });
            self.operators.push(PendingOperator::Binary(operator, bound, span));
        }
        self.reduce(|before| !matches!(before, PendingOperator::Group(_)));
        match self.operators.pop() {
            Some(PendingOperator::Group(span)) => Err(SyntaxError::new("unclosed parenthesis", span)),
            _ => Ok(SyntaxTree { nodes: self.nodes }),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// Adds a node and pushes it as an operand.
    fn push(&mut self, kind: NodeKind, span: Range<usize>) {
        self.operands.push(self.nodes.len());
        self.nodes.push(TreeNode { kind, span });
    }

    /// Parses opening parentheses and unary operators up to and including the next atom or constant.
    fn operand(&mut self) -> Result<(), SyntaxError> {
        loop {
            let Some(token) = self.peek() else { return Err(self.missing_operand()) };
            let span = token.span.clone();
            let written = || self.text[span.clone()].to_owned();
            let kind = match &token.kind {
                TokenKind::Open => {
                    self.operators.push(PendingOperator::Group(span));
                    self.next += 1;
                    continue;
                }
                TokenKind::Unary(operator) => {
                    self.unary(*operator, span)?;
                    continue;
                }
                TokenKind::SoftKeyword(Keyword::Unary(operator)) if self.operand_follows() => {
                    self.unary(*operator, span)?;
                    continue;
                }
                TokenKind::Constant(value) => NodeKind::Constant(*value),
                TokenKind::Number(number @ (0 | 1)) => NodeKind::Constant(*number == 1),
                TokenKind::Name(name) => NodeKind::Atom(Proposition::Name(name.clone())),
                TokenKind::SoftKeyword(_) if !written().ends_with('!') => {
                    NodeKind::Atom(Proposition::Name(written()))
                }
                TokenKind::Expression(text) => NodeKind::Atom(Proposition::Expression(text.clone())),
                TokenKind::Reference(name) => NodeKind::Atom(Proposition::Monitor(name.clone())),
                _ => return Err(self.missing_operand()),
            };
            self.next += 1;
            self.push(kind, span);
            return Ok(());
        }
    }

    fn unary(&mut self, operator: Unary, span: Range<usize>) -> Result<(), SyntaxError> {
        self.next += 1;
        let bound = if operator.can_have_bound() { self.bound(operator.is_step())? } else { None };
        self.operators.push(PendingOperator::Unary(operator, bound, span));
        Ok(())
    }

    /// Whether the token after the next one can start an operand or a bound, so that a soft keyword is an operator.
    fn operand_follows(&self) -> bool {
        match self.tokens.get(self.next + 1).map(|token| &token.kind) {
            None => false,
            Some(
                TokenKind::Close
                | TokenKind::CloseBracket
                | TokenKind::Binary(_)
                | TokenKind::SoftKeyword(Keyword::Binary(_))
                | TokenKind::Equals
                | TokenKind::Semicolon
                | TokenKind::RangeSeparator,
            ) => false,
            Some(_) => true,
        }
    }

    /// Closes a parenthesis.
    fn close(&mut self) -> Result<(), SyntaxError> {
        let span = self.tokens[self.next].span.clone();
        self.next += 1;
        self.reduce(|before| !matches!(before, PendingOperator::Group(_)));
        match (self.operators.pop(), self.operands.pop()) {
            (Some(PendingOperator::Group(open)), Some(inner)) => {
                self.push(NodeKind::Group(inner), open.start..span.end);
                Ok(())
            }
            _ => Err(SyntaxError::new("unmatched `)`", span)),
        }
    }

    /// Builds nodes for pending operators, from the last one back, while `binds` holds.
    fn reduce(&mut self, binds: impl Fn(&PendingOperator) -> bool) {
        while let Some(last) = self.operators.pop_if(|last| binds(last)) {
            let Some(right) = self.operands.pop() else { return };
            match last {
                PendingOperator::Group(_) => {}
                PendingOperator::Unary(operator, bound, span) => {
                    self.push(NodeKind::Unary(operator, bound, right), span);
                }
                PendingOperator::Binary(operator, bound, span) => {
                    let Some(left) = self.operands.pop() else { return };
                    self.push(NodeKind::Binary(operator, bound, left, right), span);
                }
            }
        }
    }

    /// Parses the bound of the previous operator, if it has one: `[2,5]`, `<= 4`, or `[3]` after a step operator.
    fn bound(&mut self, is_step: bool) -> Result<Option<Box<Bound>>, SyntaxError> {
        let Some(token) = self.peek() else { return Ok(None) };
        let (kind, start) = (token.kind.clone(), token.span.start);
        let after = self.tokens.get(self.next + 1).map(|token| &token.kind);
        let (from, to) = match kind {
            TokenKind::OpenBracket => {
                self.next += 1;
                if is_step && self.take_strong_mark() {
                    return Ok(None);
                }
                self.brackets(is_step, start)?
            }
            TokenKind::Binary(Binary::Xor) if is_step && matches!(after, Some(TokenKind::Number(_))) => {
                self.next += 1;
                let number = self.number()?;
                (number, Some(number))
            }
            TokenKind::LessEqual | TokenKind::Less | TokenKind::GreaterEqual | TokenKind::Greater
                if !is_step =>
            {
                self.next += 1;
                let number = self.number()?;
                match kind {
                    TokenKind::LessEqual => (0, Some(number)),
                    TokenKind::GreaterEqual => (number, None),
                    TokenKind::Greater => (number.saturating_add(1), None),
                    _ if number > 0 => (0, Some(number - 1)),
                    _ => {
                        return Err(SyntaxError::new(
                            "the bound contains no position",
                            start..self.previous_end(),
                        ));
                    }
                }
            }
            _ => return Ok(None),
        };
        let span = start..self.previous_end();
        if to.is_some_and(|to| to < from) {
            // The bound may span several lines, but a message has only one.
            let written: Vec<&str> = self.text[span.clone()].split_whitespace().collect();
            let error = SyntaxError::new(
                format!("the upper end of the bound is below the lower end: {}", written.join(" ")),
                span,
            );
            return Err(error.hint("write the smaller number first"));
        }
        Ok(Some(Box::new(Bound { from, to, span })))
    }

    /// Takes the rest of `X[!]`. The mark makes `X` strong, which it is anyway.
    fn take_strong_mark(&mut self) -> bool {
        let kinds = self.tokens[self.next..].iter().take(2).map(|token| &token.kind);
        let found = kinds.eq([&TokenKind::Unary(Unary::Not), &TokenKind::CloseBracket]);
        self.next += if found { 2 } else { 0 };
        found
    }

    /// Parses the inside of brackets and the closing bracket.
    fn brackets(&mut self, is_step: bool, start: usize) -> Result<(u64, Option<u64>), SyntaxError> {
        let is_separator = |token: &Token| token.kind == TokenKind::RangeSeparator;
        let from = if self.peek().is_some_and(is_separator) { 0 } else { self.number()? };
        let (is_range, to) = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::RangeSeparator) => {
                self.next += 1;
                (true, self.upper_end()?)
            }
            _ => (false, Some(from)),
        };
        match self.peek() {
            Some(token) if token.kind == TokenKind::CloseBracket => self.next += 1,
            found => {
                let expected: &[&str] = if is_range { &["`]`"] } else { &["`,`", "`]`"] };
                return Err(SyntaxError::expected(
                    expected,
                    &scan::token_text(found, self.text),
                    self.next_span(),
                ));
            }
        }
        let span = start..self.previous_end();
        match (is_step, is_range) {
            (true, true) => Err(SyntaxError::new("this operator takes a single number of steps", span)),
            (false, false) => Err(SyntaxError::new("this bound needs two numbers", span).hint(format!(
                "write [0,{from}] or <={from} for all positions up to {from}, [{from},{from}] for position {from} only"
            ))),
            _ => Ok((from, to)),
        }
    }

    /// Parses the upper end of a bound. It may be missing, `inf` or `$` for an unbounded operator.
    fn upper_end(&mut self) -> Result<Option<u64>, SyntaxError> {
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::CloseBracket) => return Ok(None),
            Some(TokenKind::Name(name)) if name == "inf" || name == "$" => {}
            Some(TokenKind::Infinity) => {}
            _ => return self.number().map(Some),
        }
        self.next += 1;
        Ok(None)
    }

    fn number(&mut self) -> Result<u64, SyntaxError> {
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Number(number)) => {
                let number = *number;
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.lexical_error_or(SyntaxError::expected(
                &["a number"],
                &scan::token_text(self.peek(), self.text),
                self.next_span(),
            ))),
        }
    }

    /// Returns the position of the next token, or of the end.
    fn next_span(&self) -> Range<usize> {
        self.peek().map_or(self.end..self.end, |token| token.span.clone())
    }

    /// Returns the offset at which the previous token ends.
    fn previous_end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |before| self.tokens[before].span.end)
    }

    /// Returns the lexical error of the next token if it is invalid, or else `otherwise`.
    fn lexical_error_or(&self, otherwise: SyntaxError) -> SyntaxError {
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Invalid(error)) => (**error).clone(),
            _ => otherwise,
        }
    }

    fn missing_operand(&self) -> SyntaxError {
        let error = SyntaxError::expected(
            &["a formula"],
            &scan::token_text(self.peek(), self.text),
            self.next_span(),
        );
        let error = match self.peek() {
            Some(token) if matches!(token.kind, TokenKind::Binary(_)) => {
                let written = &self.text[token.span.clone()];
                match spelling::is_name(written) {
                    true => error.hint(format!("to use it as a name, write it in quotes: '{written}'")),
                    false => error,
                }
            }
            Some(Token { kind: TokenKind::Number(_), .. }) => {
                error.hint("write expressions in double quotes")
            }
            _ => error,
        };
        self.lexical_error_or(error)
    }

    fn unexpected_token(&self) -> SyntaxError {
        let open = self.operators.iter().any(|entry| matches!(entry, PendingOperator::Group(_)));
        let expected: &[&str] = if open { &["an operator", "`)`"] } else { &["an operator", "the end"] };
        let found = self.peek();
        let error = SyntaxError::expected(expected, &scan::token_text(found, self.text), self.next_span());
        let before = self.next.checked_sub(1).map(|before| &self.tokens[before]);
        let hint = match (before, found) {
            (_, Some(Token { kind: TokenKind::Name(name), .. })) if is_keyword(&name.to_lowercase()) => {
                Some(format!("write the operator in lower case: {}", name.to_lowercase()))
            }
            (Some(Token { kind: TokenKind::Name(name), .. }), _)
                if spelling::separate_operators(name).is_some() =>
            {
                spelling::separate_operators(name).map(|apart| {
                    format!("`{name}` is a single name; write the operators separately: {apart}")
                })
            }
            (
                Some(Token { kind: TokenKind::Name(name), span }),
                Some(Token { kind: TokenKind::Open, span: open }),
            ) if span.end == open.start => {
                Some(format!("write a name with parentheses in quotes: '{name}(…)'"))
            }
            (_, Some(token)) if is_comparison(&token.kind) => {
                Some("write expressions in double quotes".to_owned())
            }
            _ => None,
        };
        self.lexical_error_or(SyntaxError { hint, ..error })
    }
}

fn is_keyword(text: &str) -> bool {
    spelling::reserved_keyword(text).or_else(|| spelling::soft_keyword(text)).is_some()
}

fn is_comparison(kind: &TokenKind) -> bool {
    use TokenKind::{DoubleEquals, Equals, Greater, GreaterEqual, Less, LessEqual};
    matches!(kind, DoubleEquals | Equals | Less | LessEqual | Greater | GreaterEqual)
}
