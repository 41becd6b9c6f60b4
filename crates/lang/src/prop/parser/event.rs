//! Events and their parameters.

use super::super::ast::{EventPattern, Name, Param};
use crate::reading::Parser;
use crate::reading::piece::{Piece, Role};
use crate::reading::scan::{self, SPECIAL_EVENTS, SPECIAL_PARAMS, Token};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_monitor::event::{Kind, Source, Type};

/// `***p` makes sense, a thousand stars do not.
const MAX_DEPTH: usize = 16;

impl Parser<'_> {
    /// Reads `before event write s(s)` and the like. If it cannot be made out, skips to what follows it.
    pub(super) fn event(&mut self) -> Option<EventPattern> {
        let start = self.at.start;
        let mut role = Role::Clause;
        let moment = match (self.at.token, self.second()) {
            (Token::Word("before" | "after"), Token::Mark('(')) => None,
            (Token::Word(word @ ("before" | "after")), _) => {
                self.take(std::mem::replace(&mut role, Role::Word));
                Some(word)
            }
            _ => None,
        };
        self.event_word(role, moment);
        let access = match self.at.token {
            Token::Word(word @ ("call" | "read" | "write" | "access")) if self.name_follows() => {
                self.take(Role::Word);
                Some(word)
            }
            _ => None,
        };
        let Some(name) = self.event_name() else {
            let problem = self.expected("the name of an event").help(self.name_help());
            self.report(problem);
            if self.at_mark('(') {
                self.params();
            } else {
                self.skip_to(&["success", "failure", "transition", "state"]);
            }
            return None;
        };
        let kind = self.kind(moment, access, &name);
        let params = if self.at_mark('(') { self.params() } else { Vec::new() };
        Some(EventPattern { kind, name, params, span: self.since(start) })
    }

    /// Takes the word `event` or `call`, or complains that there is none.
    fn event_word(&mut self, role: Role, moment: Option<&str>) {
        match self.at.token {
            Token::Word("event" | "call") => {
                self.take(role);
            }
            // `write s(s)` or `queue_push(q)`: only the word is missing.
            Token::Word(word) if self.second() == Token::Mark('(') || self.at_access() => {
                let moment = moment.map_or(String::new(), |moment| format!("{moment} "));
                let problem = self.expected("`event`").help(format!("write `{moment}event {word} …`"));
                self.report(problem);
            }
            Token::Word(word) if !matches!(word, "success" | "failure") => {
                match self.meant(word, &["event", "before", "after"]) {
                    Some(keyword) => self.report_misspelt(keyword),
                    None => {
                        let problem = self.expected("`event`").help("write `event` and its name");
                        self.report(problem);
                    }
                }
                self.skip();
                if self.at_word("event") {
                    self.skip();
                }
            }
            _ => {
                let problem = self.expected("`event`");
                self.report(problem.help("a transition waits for an event: `transition { event f() … }`"));
            }
        }
    }

    fn at_access(&self) -> bool {
        matches!(self.at.token, Token::Word("read" | "write" | "access")) && self.name_follows()
    }

    /// Whether the word that comes next is followed by the name of an event, so that it is not one itself.
    fn name_follows(&self) -> bool {
        let next = scan::next(self.text, self.at.token, self.at.end, |_, _| {});
        match next.token {
            Token::Word("success" | "failure") => {
                scan::next(self.text, next.token, next.end, |_, _| {}).token == Token::Mark('(')
            }
            Token::Word(_) | Token::Quoted(_) | Token::Special(_) => true,
            _ => false,
        }
    }

    /// Takes the name of an event.
    fn event_name(&mut self) -> Option<Name> {
        match self.at.token {
            // A transition without its event.
            Token::Word("success" | "failure")
                if !matches!(self.second(), Token::Mark('(') | Token::Word("success" | "failure")) =>
            {
                None
            }
            Token::Quoted(text) if !text.is_empty() => {
                Some(Name { text: text.to_owned(), span: self.take(Role::Word) })
            }
            Token::Special(word) => Some(Name { text: format!("#{word}"), span: self.take(Role::Word) }),
            Token::Word(_) | Token::Mark('/' | '.' | '~' | '$') => {
                let start = self.at.start;
                let end = start + scan::event_name_length(&self.text[start..]);
                if end == start {
                    return None;
                }
                self.pieces.push(Piece { role: Role::Word, start, end });
                self.jump(end);
                Some(Name { text: self.text[start..end].to_owned(), span: self.span(start, end) })
            }
            _ => None,
        }
    }

    /// What to say when the name of an event is missing.
    fn name_help(&self) -> String {
        let hidden = self.comments.last().filter(|comment| comment.start >= self.last_end);
        match hidden.map(|comment| scan::word_at(&self.text[comment.start + 1..])) {
            Some(word) if !word.is_empty() => match nearest(word, SPECIAL_EVENTS) {
                Some(special) => format!("did you mean `#{special}`? `#{word}` is read as a comment"),
                None => format!(
                    "`#{word}` is read as a comment; the events with a `#` are `#{}`",
                    SPECIAL_EVENTS.join("`, `#")
                ),
            },
            _ => "write `event` and the name of a function, or `event write` and the name of a variable"
                .to_owned(),
        }
    }

    fn kind(&mut self, moment: Option<&str>, access: Option<&str>, name: &Name) -> Kind {
        let implied = Kind::implied_by(&name.text);
        if implied != Kind::Before {
            if moment.is_some() || access.is_some_and(|word| word != "call") {
                let message =
                    format!("`{}` just happens: it has no before and after, and no access", name.text);
                let problem = Diagnostic::error(name.span, message).label("expected right after `event`");
                self.report(problem.help(format!("write `event {}`", name.text)));
            }
            return implied;
        }
        match (access, moment) {
            (Some("read"), Some("before")) => Kind::BeforeRead,
            (Some("read"), _) => Kind::Read,
            (Some("write"), Some("before")) => Kind::BeforeWrite,
            (Some("write"), _) => Kind::Write,
            (Some("access"), Some("before")) => Kind::BeforeAccess,
            (Some("access"), _) => Kind::Access,
            (_, Some("after")) => Kind::After,
            _ => Kind::Before,
        }
    }

    /// Reads the parameters and their parentheses.
    fn params(&mut self) -> Vec<Param> {
        let open = self.take(Role::OpenList);
        let mut params = Vec::new();
        loop {
            if self.at_mark(')') {
                self.take(Role::CloseList);
                return params;
            }
            match self.param() {
                Some(param) => params.push(param),
                None if self.skip_to_param() => continue,
                None => return params,
            }
            match self.at.token {
                Token::Mark(',') => {
                    self.take(Role::Comma);
                }
                Token::Mark(')') => {}
                _ => {
                    let problem = self.expected("`,` or `)`").related(open, "the parameters start here");
                    let help = match (params.last().map(|param| &param.source), self.at.token) {
                        (Some(Source::Name(word)), Token::Word(name)) if Type::from_word(word).is_some() => {
                            format!("the type stands behind the name: `{name}: {word}`")
                        }
                        (_, Token::Word(_) | Token::Special(_)) => {
                            "put a comma between two parameters".to_owned()
                        }
                        (_, Token::Mark('.' | '-' | '[') | Token::Arrow) => {
                            "a parameter is a name; an expression stands in quotes: `\"q->size\" as size`"
                                .to_owned()
                        }
                        _ => "close the parameters with `)`".to_owned(),
                    };
                    self.report(problem.help(help));
                    if self.skip_to_param() {
                        continue;
                    }
                    return params;
                }
            }
        }
    }

    /// Skips to the next comma, which is taken, or to the closing parenthesis. Says whether there is one.
    fn skip_to_param(&mut self) -> bool {
        loop {
            match self.at.token {
                Token::Mark(',') => {
                    self.take(Role::Comma);
                    return true;
                }
                Token::Mark(')') => return true,
                Token::End | Token::Mark('{' | '}') => return false,
                Token::Word("success" | "failure" | "transition" | "state") => return false,
                _ => self.skip(),
            }
        }
    }

    fn param(&mut self) -> Option<Param> {
        let start = self.at.start;
        let mut prefixes = Vec::new();
        while let Token::Mark(prefix @ ('*' | '&' | '^')) = self.at.token {
            self.take(Role::Prefix);
            prefixes.push(prefix);
        }
        if prefixes.len() > MAX_DEPTH {
            let message = format!("at most {MAX_DEPTH} of `*`, `&` and `^` can stand in a row");
            let problem = Diagnostic::error(self.since(start), message);
            self.report(problem.label(format!("these are {}", prefixes.len())));
            return None;
        }
        let (innermost, suggested) = self.source()?;
        let source = prefixes.iter().rev().fold(innermost, |of, prefix| match prefix {
            '*' => Source::Deref(Box::new(of)),
            '&' => Source::Address(Box::new(of)),
            _ => Source::Outer(Box::new(of)),
        });
        let mut param = Param { source, name: Name { text: suggested, span: self.since(start) }, ty: None };
        let renamed = self.suffixes(&mut param);
        if !renamed && scan::word_at(&param.name.text) != param.name.text {
            let problem = Diagnostic::error(param.name.span, "this expression needs a name")
                .label("expected `as` and a name behind it");
            self.report(problem.help(format!("write `\"{}\" as NAME`", param.name.text)));
        }
        Some(param)
    }

    /// Takes where a parameter comes from, without its prefixes, and the name that it suggests.
    fn source(&mut self) -> Option<(Source, String)> {
        match (self.at.token, self.second()) {
            (Token::Word("arg"), Token::Number(digits)) => {
                self.take(Role::Word);
                let position = digits.parse().unwrap_or(0);
                let place = self.take(Role::Word);
                if position == 0 {
                    let message = format!("there is no argument {digits}");
                    let problem = Diagnostic::error(place, message).label("expected 1 or more");
                    self.report(problem.help("arguments are counted from one: the first is `arg 1`"));
                }
                Some((Source::Arg(position), format!("arg{digits}")))
            }
            (Token::Word("ret"), _) => {
                self.take(Role::Word);
                Some((Source::Ret, "ret".to_owned()))
            }
            (Token::Quoted(words), _) if !words.trim().is_empty() => {
                self.take(Role::Word);
                Some((Source::Expression(words.trim().to_owned()), words.trim().to_owned()))
            }
            (Token::Word(name), _) => {
                self.take(Role::Word);
                Some((Source::Name(name.to_owned()), name.to_owned()))
            }
            (Token::Special(word), _) => {
                self.take(Role::Word);
                let source = match word {
                    "thread" => Source::Thread,
                    "time" => Source::Time,
                    _ => Source::Program,
                };
                Some((source, word.to_owned()))
            }
            (token, _) => {
                let problem = self.expected("a parameter");
                self.report(problem.help(self.param_help(token)));
                None
            }
        }
    }

    fn param_help(&self, found: Token<'_>) -> String {
        let hidden = self.comments.last().filter(|comment| comment.start >= self.last_end);
        let word = hidden.map_or("", |comment| scan::word_at(&self.text[comment.start + 1..]));
        match (nearest(word, SPECIAL_PARAMS), found) {
            (Some(special), _) => format!("did you mean `#{special}`? `#{word}` is read as a comment"),
            (_, Token::Number(digits)) => format!("an argument by its position is `arg {digits}`"),
            (_, Token::Mark('.' | '_' | ')')) => {
                "list only what the property reads; `f()` fits any arguments".to_owned()
            }
            _ => "a parameter is a name, `arg 1`, `ret`, `#thread`, or one of these after `*`, `&` or `^`"
                .to_owned(),
        }
    }

    /// Reads `as name` and `: type` behind a parameter, in either order; says whether there was an `as`.
    fn suffixes(&mut self, param: &mut Param) -> bool {
        let mut renamed: Option<Span> = None;
        let mut typed: Option<Span> = None;
        loop {
            if self.at_word("as") {
                let here = self.take(Role::Word);
                self.report_twice("as", here, &mut renamed);
                let help = "write `as` and the name that the blocks use";
                match self.expect_name("a name for the parameter", help) {
                    Some(name) => param.name = name,
                    None => return true,
                }
            } else if self.at_mark(':') {
                let here = self.take(Role::Tight);
                self.report_twice(":", here, &mut typed);
                param.ty = self.ty();
            } else {
                return renamed.is_some();
            }
        }
    }

    fn ty(&mut self) -> Option<(Type, Span)> {
        let words = Type::WORDS.iter().flat_map(|(_, words)| words.iter().copied());
        let Token::Word(word) = self.at.token else {
            let problem = self.expected("a type").help("the types are `int`, `float`, `bool` and `str`");
            self.report(problem);
            return None;
        };
        let ty = Type::from_word(word);
        if ty.is_none() {
            let help = match nearest(word, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the types are `int`, `float`, `bool` and `str`".to_owned(),
            };
            let problem = Diagnostic::error(self.here(), format!("there is no type `{word}`"));
            self.report(problem.label("expected a type").help(help));
        }
        let span = self.take(Role::Word);
        ty.map(|ty| (ty, span))
    }
}
