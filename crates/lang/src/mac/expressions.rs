//! Parses expressions: Java's, extended by operators on events and conditions.

use super::ast::{Literal, MethodPhase, Node, NodeId, NodeKind, OPERATORS, Path, Segment};
use super::literals::{number, unescaped};
use super::parser::ScriptParser;
use crate::parsing::cursor::Token;
use crate::parsing::cursor::suggest;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{Binary, Type, Unary};

/// The maximum nesting depth: more than practical scripts need, and safe for the stack.
const MAX_NESTING: u32 = 500;

/// The binding power of `||`, the weakest operator on events.
const OR: u8 = 2;

/// How the next token continues a sequence of operators.
enum Next {
    Operator(Binary, u8),
    /// `x<-1`: the alias mark is read as two operators here.
    Split(Binary, u8),
    Nothing,
}

impl ScriptParser<'_> {
    fn push(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span, is_grouped: false });
        self.nodes.len() - 1
    }

    fn span_of(&self, node: NodeId) -> Span {
        self.nodes[node].span
    }

    /// Parses an expression and adds its nodes.
    pub(crate) fn expression(&mut self) -> Option<NodeId> {
        self.nested(|parser| {
            let condition = parser.operators(1)?;
            if !parser.take_mark("?") {
                return Some(condition);
            }
            let first = parser.expression()?;
            parser.expect_mark(":", "write a conditional as `condition ? value : value`")?;
            let second = parser.expression()?;
            let span = parser.span_of(condition).to(parser.span_of(second));
            Some(parser.push(NodeKind::Choice(condition, first, second), span))
        })
    }

    /// Parses the event of a guard, where `->` is not an operator.
    pub(crate) fn trigger(&mut self) -> Option<NodeId> {
        self.nested(|parser| parser.operators(OR))
    }

    /// Parses one level deeper, if the nesting limit allows it.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<NodeId>) -> Option<NodeId> {
        if self.nesting == MAX_NESTING {
            let diagnostic = Diagnostic::error(self.here(), "this expression is nested too deeply")
                .label(format!("more than {MAX_NESTING} levels"))
                .help("define a part of it under a name of its own");
            self.report(diagnostic);
            return None;
        }
        self.nesting += 1;
        let node = read(self);
        self.nesting -= 1;
        node
    }

    /// Parses operands and the operators between them that bind at least as tightly as `level`.
    fn operators(&mut self, level: u8) -> Option<NodeId> {
        let mut left = self.operand()?;
        loop {
            let (operator, power) = match self.operator() {
                Next::Operator(operator, power) if power >= level => {
                    self.take();
                    (operator, power)
                }
                Next::Split(operator, power) if power >= level => {
                    let next = self.at.start + 1;
                    self.jump(next);
                    (operator, power)
                }
                _ => return Some(left),
            };
            let right = match operator {
                // Right-associative: `a => b => c` is `a => (b => c)`.
                Binary::Implies => self.nested(|parser| parser.operators(power))?,
                _ => self.operators(power + 1)?,
            };
            let span = self.span_of(left).to(self.span_of(right));
            left = self.push(NodeKind::Binary(operator, left, right), span);
        }
    }

    fn operator(&mut self) -> Next {
        match self.at.token {
            Token::Mark("->") if self.peek() == Token::Mark("{") => Next::Nothing,
            Token::Mark("<-") => Next::Split(Binary::Less, 8),
            Token::Mark(mark) => match OPERATORS.iter().find(|(word, ..)| *word == mark) {
                Some((_, operator, power)) => Next::Operator(*operator, *power),
                None => Next::Nothing,
            },
            Token::Word("instanceof") => {
                let diagnostic = Diagnostic::error(self.here(), "`instanceof` is not supported")
                    .label("objects are not monitored")
                    .help("monitor a variable of primitive type with the same information");
                self.report(diagnostic);
                Next::Nothing
            }
            _ => Next::Nothing,
        }
    }

    /// Parses an operand with its prefixes and a trailing `when`.
    fn operand(&mut self) -> Option<NodeId> {
        let mut before = Vec::new();
        let operand = loop {
            let start = self.at.start;
            let prefix = match self.at.token {
                Token::Mark("+") => Prefix::Unary(Unary::Plus),
                Token::Mark("-") => Prefix::Unary(Unary::Minus),
                Token::Mark("~") => Prefix::Unary(Unary::Complement),
                Token::Mark("!") => Prefix::Unary(Unary::Not),
                Token::Mark("(") if self.at_cast() => {
                    self.take();
                    let Token::Word(word) = self.at.token else { return None };
                    let ty = Type::from_word(word)?;
                    self.take();
                    self.expect_mark(")", "write a cast as `(int) x`")?;
                    before.push((Prefix::Cast(ty), start));
                    continue;
                }
                Token::Number(_) => match before.last() {
                    // `-2147483648` is a literal, although the number after the sign is out of range.
                    Some((Prefix::Unary(Unary::Minus), minus)) => {
                        let minus = *minus;
                        before.pop();
                        break self.number(Some(minus))?;
                    }
                    _ => break self.number(None)?,
                },
                _ => break self.primary()?,
            };
            self.take();
            before.push((prefix, start));
        };
        let mut node = operand;
        while let Some((prefix, start)) = before.pop() {
            let span = self.since(start);
            node = match prefix {
                Prefix::Unary(operator) => self.push(NodeKind::Unary(operator, node), span),
                Prefix::Cast(ty) => self.push(NodeKind::Cast(ty, node), span),
            };
        }
        self.whens(node)
    }

    fn at_cast(&self) -> bool {
        matches!(self.peek(), Token::Word(word) if Type::from_word(word).is_some())
    }

    /// Parses `e when c when d`: conditions extend as far as possible.
    fn whens(&mut self, event: NodeId) -> Option<NodeId> {
        let mut event = event;
        while !self.stops_at_when && self.take_word("when") {
            self.stops_at_when = true;
            let condition = self.expression();
            self.stops_at_when = false;
            let condition = condition?;
            let span = self.span_of(event).to(self.span_of(condition));
            event = self.push(NodeKind::When(event, condition), span);
        }
        Some(event)
    }

    fn primary(&mut self) -> Option<NodeId> {
        let start = self.at.start;
        let node = match self.at.token {
            Token::Mark("(") => {
                self.take();
                let node = self.bracketed(Self::expression)?;
                self.expect_mark(")", "add the missing `)`").or_else(|| self.unclosed(start))?;
                // The span of the expression includes its parentheses.
                self.nodes[node].is_grouped = true;
                self.nodes[node].span = self.since(start);
                node
            }
            Token::Mark("[") if self.language.allows_target_names => {
                let diagnostic = Diagnostic::error(self.here(), "intervals are not allowed in PEDL");
                let help = "PEDL has no history: export both events and define the interval in MEDL";
                self.report(diagnostic.label("depends on the past").help(help));
                return None;
            }
            Token::Mark("[") => self.interval()?,
            Token::Text(inside) => {
                let text = self.text(inside)?;
                let span = self.take();
                self.push(NodeKind::Literal(Literal::String(String::from_utf16_lossy(&text))), span)
            }
            Token::Char(inside) => {
                let text = self.text(inside)?;
                let [unit] = text[..] else {
                    let diagnostic = Diagnostic::error(self.here(), "this is not a single character")
                        .label("single quotes enclose one character")
                        .help("write strings in double quotes: `\"text\"`");
                    self.report(diagnostic);
                    return None;
                };
                let span = self.take();
                self.push(NodeKind::Literal(Literal::Char(unit)), span)
            }
            Token::UnclosedQuote => {
                let diagnostic = Diagnostic::error(self.here(), "unterminated quote")
                    .label("no closing quote on this line")
                    .help("close it; a prime directly follows its variable, as in `x'`");
                self.report(diagnostic);
                return None;
            }
            Token::Primed(name) => {
                let span = self.take();
                self.push(NodeKind::Primed(name.to_owned()), span)
            }
            Token::Word("true" | "false" | "null") => {
                let literal = match self.at.token {
                    Token::Word("true") => Literal::Boolean(true),
                    Token::Word("false") => Literal::Boolean(false),
                    _ => Literal::Null,
                };
                let span = self.take();
                self.push(NodeKind::Literal(literal), span)
            }
            Token::Word(word) if self.peek() == Token::Mark("(") && self.is_function(word) => {
                self.function(word, start)?
            }
            Token::Word(word) => self.name(word)?,
            _ => {
                let diagnostic = self.expected("an expression");
                self.report(diagnostic);
                return None;
            }
        };
        if self.at_mark("[") {
            let diagnostic = Diagnostic::error(self.here(), "array elements cannot be monitored")
                .label("expected an operator or `;`")
                .help("monitor a variable of primitive type instead");
            self.report(diagnostic);
            return None;
        }
        Some(node)
    }

    /// Parses the contents of parentheses or brackets; a `when` inside belongs to them.
    fn bracketed(&mut self, read: impl FnOnce(&mut Self) -> Option<NodeId>) -> Option<NodeId> {
        let outer = std::mem::replace(&mut self.stops_at_when, false);
        let node = read(self);
        self.stops_at_when = outer;
        node
    }

    /// Adds the position of the `(` to the diagnostic about a missing `)`.
    fn unclosed(&mut self, start: usize) -> Option<Span> {
        let open = self.span(start, start + 1);
        if let Some(last) = self.diagnostics.last_mut().filter(|last| last.related.is_empty()) {
            last.related.push((open, "opened here".to_owned()));
        }
        None
    }

    /// Whether a word is meant as a function. In MEDL, nothing else is followed by a parenthesis.
    fn is_function(&self, word: &str) -> bool {
        self.language.functions.iter().any(|function| function.eq_ignore_ascii_case(word))
            || !self.language.allows_target_names
    }

    fn name(&mut self, word: &str) -> Option<NodeId> {
        let path = match self.language.functions.contains(&word) {
            true => {
                let diagnostic = self.expected("an expression").help(format!("write `{word}(…)`"));
                self.report(diagnostic);
                return None;
            }
            false => self.path("an expression")?,
        };
        let span = path.span;
        Some(self.push(NodeKind::Path(path), span))
    }

    fn function(&mut self, word: &str, start: usize) -> Option<NodeId> {
        let name = self.here();
        if !self.language.functions.contains(&word) {
            let diagnostic =
                Diagnostic::error(name, format!("unknown function `{word}(…)` in {}", self.language.noun));
            let functions = self.language.functions;
            let help = suggest(word, functions.iter().copied())
                .unwrap_or_else(|| format!("the functions are `{}`", functions.join("`, `")));
            self.report(diagnostic.label("unknown").help(help));
            return None;
        }
        self.take();
        self.take();
        let kind = match word {
            "update" => NodeKind::Update(self.path("a monitored variable")?),
            "startM" => NodeKind::Method(MethodPhase::Start, self.path("a monitored method")?),
            "endM" => NodeKind::Method(MethodPhase::End, self.path("a monitored method")?),
            "IOM" => NodeKind::Method(MethodPhase::Either, self.path("a monitored method")?),
            "InM" => NodeKind::Method(MethodPhase::Inside, self.path("a monitored method")?),
            _ => {
                let operand = self.bracketed(Self::expression)?;
                match word {
                    "start" => NodeKind::Start(operand),
                    "end" => NodeKind::End(operand),
                    "defined" => NodeKind::Defined(operand),
                    "time" => NodeKind::Time(operand),
                    _ => {
                        self.expect_mark(",", "write `value(e, 0)`: the event and the index of the value")?;
                        NodeKind::Value(operand, self.bracketed(Self::expression)?)
                    }
                }
            }
        };
        let open = name.end as usize;
        self.expect_mark(")", &format!("close `{word}(` with `)`")).or_else(|| self.unclosed(open))?;
        let span = self.since(start);
        Some(self.push(kind, span))
    }

    /// Parses `[e, f)`; `[e, f]` is accepted with the same meaning.
    fn interval(&mut self) -> Option<NodeId> {
        const HELP: &str = "write an interval as `[event, event)`";
        let start = self.take().start as usize;
        let from = self.bracketed(Self::expression)?;
        self.expect_mark(",", HELP)?;
        let to = self.bracketed(Self::expression)?;
        if !self.take_mark("]") {
            self.expect_mark(")", HELP)?;
        }
        let span = self.since(start);
        Some(self.push(NodeKind::Interval(from, to), span))
    }

    fn number(&mut self, minus: Option<usize>) -> Option<NodeId> {
        let Token::Number(written) = self.at.token else { return None };
        let span = self.take();
        let span = minus.map_or(span, |start| self.since(start));
        match number(written, minus.is_some()) {
            Ok(literal) => Some(self.push(NodeKind::Literal(literal), span)),
            Err((message, help)) => {
                self.report(Diagnostic::error(span, message).label("not a Java number").help(help));
                None
            }
        }
    }

    /// Decodes the escape sequences of a string literal.
    fn text(&mut self, inside: &str) -> Option<Vec<u16>> {
        unescaped(inside)
            .map_err(|wrong| {
                let start = self.at.start + 1;
                let diagnostic = Diagnostic::error(
                    self.span(start + wrong.start, start + wrong.end),
                    "unknown escape sequence",
                )
                .label("unknown")
                .help("write `\\\\` for a backslash, `\\n` for a new line, `\\u00e9` for a letter");
                self.report(diagnostic);
            })
            .ok()
    }
}

/// A prefix of an operand.
enum Prefix {
    Unary(Unary),
    Cast(Type),
}

impl Path {
    /// Creates a path that consists of one name.
    pub(crate) fn name(text: &str, span: Span) -> Path {
        let segment = Segment { separator: "", name: text.to_owned(), parameters: None };
        Path { segments: vec![segment], span }
    }
}
