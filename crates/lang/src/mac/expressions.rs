//! Reads expressions: Java's, with the operators on events and conditions.

use super::ast::{At, Kind, Literal, Moment, Node, OPERATORS, Path, Segment};
use super::literals::{number, unescaped};
use super::parser::Parser;
use crate::reading::cursor::Token;
use crate::reading::cursor::suggest;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{Binary, Type, Unary};

/// Deeper than anyone writes, and shallow enough for every stack.
const MAX_NESTING: u32 = 500;

/// How strongly `||` binds: the weakest operator that events have.
const OR: u8 = 2;

/// What a loop of operators does with its next token.
enum Next {
    Operator(Binary, u8),
    /// `x<-1`: the mark of an alias is two operators here.
    Split(Binary, u8),
    Nothing,
}

impl Parser<'_> {
    fn push(&mut self, kind: Kind, span: Span) -> At {
        self.nodes.push(Node { kind, span, is_grouped: false });
        self.nodes.len() - 1
    }

    fn span_of(&self, node: At) -> Span {
        self.nodes[node].span
    }

    /// Reads an expression, and adds its nodes.
    pub(crate) fn expression(&mut self) -> Option<At> {
        self.deeper(|parser| {
            let condition = parser.operators(1)?;
            if !parser.take_mark("?") {
                return Some(condition);
            }
            let first = parser.expression()?;
            parser.expect_mark(":", "a choice is written `condition ? this : that`")?;
            let second = parser.expression()?;
            let span = parser.span_of(condition).to(parser.span_of(second));
            Some(parser.push(Kind::Choice(condition, first, second), span))
        })
    }

    /// Reads the event that a guard waits for: `->` is none of its operators.
    pub(crate) fn trigger(&mut self) -> Option<At> {
        self.deeper(|parser| parser.operators(OR))
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<At>) -> Option<At> {
        if self.nesting == MAX_NESTING {
            let problem = Diagnostic::error(self.here(), "this is nested too deeply")
                .label(format!("{MAX_NESTING} expressions are inside each other here"))
                .help("give a part of it a name of its own");
            self.report(problem);
            return None;
        }
        self.nesting += 1;
        let node = read(self);
        self.nesting -= 1;
        node
    }

    /// Reads operands with operators between them that bind at least as strongly as `level`.
    fn operators(&mut self, level: u8) -> Option<At> {
        let mut left = self.operand()?;
        loop {
            let (operator, binds) = match self.operator() {
                Next::Operator(operator, binds) if binds >= level => {
                    self.take();
                    (operator, binds)
                }
                Next::Split(operator, binds) if binds >= level => {
                    let next = self.at.start + 1;
                    self.jump(next);
                    (operator, binds)
                }
                _ => return Some(left),
            };
            let right = match operator {
                // To the right: `a => b => c` is `a => (b => c)`.
                Binary::Implies => self.deeper(|parser| parser.operators(binds))?,
                _ => self.operators(binds + 1)?,
            };
            let span = self.span_of(left).to(self.span_of(right));
            left = self.push(Kind::Binary(operator, left, right), span);
        }
    }

    fn operator(&mut self) -> Next {
        match self.at.token {
            Token::Mark("->") if self.peek() == Token::Mark("{") => Next::Nothing,
            Token::Mark("<-") => Next::Split(Binary::Less, 8),
            Token::Mark(mark) => match OPERATORS.iter().find(|(word, ..)| *word == mark) {
                Some((_, operator, binds)) => Next::Operator(*operator, *binds),
                None => Next::Nothing,
            },
            Token::Word("instanceof") => {
                let problem = Diagnostic::error(self.here(), "nothing is known of objects here")
                    .label("`instanceof` asks about an object")
                    .help("watch a variable of primitive type that tells the same");
                self.report(problem);
                Next::Nothing
            }
            _ => Next::Nothing,
        }
    }

    /// Reads an operand with what stands before it, and the `when` behind it.
    fn operand(&mut self) -> Option<At> {
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
                    self.expect_mark(")", "a cast is written `(int) x`")?;
                    before.push((Prefix::Cast(ty), start));
                    continue;
                }
                Token::Number(_) => match before.last() {
                    // `-2147483648` is a number, though what stands behind the sign is none.
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
                Prefix::Unary(operator) => self.push(Kind::Unary(operator, node), span),
                Prefix::Cast(ty) => self.push(Kind::Cast(ty, node), span),
            };
        }
        self.whens(node)
    }

    fn at_cast(&self) -> bool {
        matches!(self.peek(), Token::Word(word) if Type::from_word(word).is_some())
    }

    /// `e when c when d`: the conditions reach as far as they can.
    fn whens(&mut self, event: At) -> Option<At> {
        let mut event = event;
        while !self.leaves_when && self.take_word("when") {
            self.leaves_when = true;
            let condition = self.expression();
            self.leaves_when = false;
            let condition = condition?;
            let span = self.span_of(event).to(self.span_of(condition));
            event = self.push(Kind::When(event, condition), span);
        }
        Some(event)
    }

    fn primary(&mut self) -> Option<At> {
        let start = self.at.start;
        let node = match self.at.token {
            Token::Mark("(") => {
                self.take();
                let node = self.apart(Self::expression)?;
                self.expect_mark(")", "this `(` is not closed").or_else(|| self.unclosed(start))?;
                // The whole is where its parentheses are.
                self.nodes[node].is_grouped = true;
                self.nodes[node].span = self.since(start);
                node
            }
            Token::Mark("[") if self.language.has_program => {
                let problem = Diagnostic::error(self.here(), "there are no intervals in PEDL");
                let help =
                    "PEDL speaks of the present only: export both events, and define the interval in MEDL";
                self.report(problem.label("an interval looks back in time").help(help));
                return None;
            }
            Token::Mark("[") => self.interval()?,
            Token::Text(inside) => {
                let text = self.text(inside)?;
                let span = self.take();
                self.push(Kind::Literal(Literal::String(String::from_utf16_lossy(&text))), span)
            }
            Token::Char(inside) => {
                let text = self.text(inside)?;
                let [unit] = text[..] else {
                    let problem = Diagnostic::error(self.here(), "this is not one character")
                        .label("a character stands between single quotes")
                        .help("texts have double quotes: `\"text\"`");
                    self.report(problem);
                    return None;
                };
                let span = self.take();
                self.push(Kind::Literal(Literal::Char(unit)), span)
            }
            Token::OpenQuote => {
                let problem = Diagnostic::error(self.here(), "this quote is not closed")
                    .label("the quote is missing on this line")
                    .help("close it; a prime stands right behind its variable, as in `x'`");
                self.report(problem);
                return None;
            }
            Token::Primed(name) => {
                let span = self.take();
                self.push(Kind::Primed(name.to_owned()), span)
            }
            Token::Word("true" | "false" | "null") => {
                let literal = match self.at.token {
                    Token::Word("true") => Literal::Boolean(true),
                    Token::Word("false") => Literal::Boolean(false),
                    _ => Literal::Null,
                };
                let span = self.take();
                self.push(Kind::Literal(literal), span)
            }
            Token::Word(word) if self.peek() == Token::Mark("(") && self.is_function(word) => {
                self.function(word, start)?
            }
            Token::Word(word) => self.name(word)?,
            _ => {
                let problem = self.expected("an expression");
                self.report(problem);
                return None;
            }
        };
        if self.at_mark("[") {
            let problem = Diagnostic::error(self.here(), "elements of arrays are not watched")
                .label("expected an operator or `;`")
                .help("watch a variable of primitive type that holds what matters");
            self.report(problem);
            return None;
        }
        Some(node)
    }

    /// Reads what stands between parentheses or brackets: a `when` in there belongs there.
    fn apart(&mut self, read: impl FnOnce(&mut Self) -> Option<At>) -> Option<At> {
        let outside = std::mem::replace(&mut self.leaves_when, false);
        let node = read(self);
        self.leaves_when = outside;
        node
    }

    /// Adds to the complaint about a missing `)` where the `(` is.
    fn unclosed(&mut self, start: usize) -> Option<Span> {
        let open = self.span(start, start + 1);
        if let Some(last) = self.problems.last_mut().filter(|last| last.related.is_empty()) {
            last.related.push((open, "opened here".to_owned()));
        }
        None
    }

    /// In MEDL, where nothing else has parentheses behind it, every word is meant as a function.
    fn is_function(&self, word: &str) -> bool {
        self.language.functions.iter().any(|function| function.eq_ignore_ascii_case(word))
            || !self.language.has_program
    }

    fn name(&mut self, word: &str) -> Option<At> {
        let path = match self.language.functions.contains(&word) {
            true => {
                let problem = self.expected("an expression").help(format!("write `{word}(…)`"));
                self.report(problem);
                return None;
            }
            false => self.path("an expression")?,
        };
        let span = path.span;
        Some(self.push(Kind::Path(path), span))
    }

    fn function(&mut self, word: &str, start: usize) -> Option<At> {
        let name = self.here();
        if !self.language.functions.contains(&word) {
            let problem =
                Diagnostic::error(name, format!("there is no `{word}(…)` in {}", self.language.noun));
            let functions = self.language.functions;
            let help = suggest(word, functions.iter().copied())
                .unwrap_or_else(|| format!("there are `{}`", functions.join("`, `")));
            self.report(problem.label("unknown").help(help));
            return None;
        }
        self.take();
        self.take();
        let kind = match word {
            "update" => Kind::Update(self.path("a monitored variable")?),
            "startM" => Kind::Method(Moment::Start, self.path("a monitored method")?),
            "endM" => Kind::Method(Moment::End, self.path("a monitored method")?),
            "IOM" => Kind::Method(Moment::Either, self.path("a monitored method")?),
            "InM" => Kind::Method(Moment::Inside, self.path("a monitored method")?),
            _ => {
                let operand = self.apart(Self::expression)?;
                match word {
                    "start" => Kind::Start(operand),
                    "end" => Kind::End(operand),
                    "defined" => Kind::Defined(operand),
                    "time" => Kind::Time(operand),
                    _ => {
                        self.expect_mark(",", "write `value(e, 0)`: the event, and which of its values")?;
                        Kind::Value(operand, self.apart(Self::expression)?)
                    }
                }
            }
        };
        let open = name.end as usize;
        self.expect_mark(")", &format!("close `{word}(` with `)`")).or_else(|| self.unclosed(open))?;
        let span = self.since(start);
        Some(self.push(kind, span))
    }

    /// `[e, f)`; some write `[e, f]`, which is the same.
    fn interval(&mut self) -> Option<At> {
        const HELP: &str = "an interval is written `[event, event)`";
        let start = self.take().start as usize;
        let from = self.apart(Self::expression)?;
        self.expect_mark(",", HELP)?;
        let to = self.apart(Self::expression)?;
        if !self.take_mark("]") {
            self.expect_mark(")", HELP)?;
        }
        let span = self.since(start);
        Some(self.push(Kind::Interval(from, to), span))
    }

    fn number(&mut self, minus: Option<usize>) -> Option<At> {
        let Token::Number(written) = self.at.token else { return None };
        let span = self.take();
        let span = minus.map_or(span, |start| self.since(start));
        match number(written, minus.is_some()) {
            Ok(literal) => Some(self.push(Kind::Literal(literal), span)),
            Err((message, help)) => {
                self.report(Diagnostic::error(span, message).label("not a number of Java").help(help));
                None
            }
        }
    }

    /// What a text says, without its backslashes.
    fn text(&mut self, inside: &str) -> Option<Vec<u16>> {
        unescaped(inside)
            .map_err(|wrong| {
                let start = self.at.start + 1;
                let problem = Diagnostic::error(
                    self.span(start + wrong.start, start + wrong.end),
                    "this backslash means nothing",
                )
                .label("unknown")
                .help("write `\\\\` for a backslash, `\\n` for a new line, `\\u00e9` for a letter");
                self.report(problem);
            })
            .ok()
    }
}

/// What can stand before an operand.
enum Prefix {
    Unary(Unary),
    Cast(Type),
}

impl Path {
    /// The path that is just a name.
    pub(crate) fn name(text: &str, span: Span) -> Path {
        let segment = Segment { joint: "", name: text.to_owned(), parameters: None };
        Path { segments: vec![segment], span }
    }
}
