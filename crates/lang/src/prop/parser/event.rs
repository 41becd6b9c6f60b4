//! Events and their parameters.

use super::super::ast::{EventPattern, Name, Param};
use crate::parsing::PropParser;
use crate::parsing::layout_tokens::{LayoutRole, LayoutToken};
use crate::parsing::scan::{self, COMMON_PARAMS, Token};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_monitor::event::{EventKind, ParamSource, ParamType};
use invigil_monitor::predefined_event::PredefinedEvent;

/// The maximum number of `*`, `&` and `^` before a parameter.
const MAX_DEPTH: usize = 16;

impl PropParser<'_> {
    /// Parses `before event write s(s)` and the like. On an error, skips to the next clause.
    pub(super) fn event(&mut self) -> Option<EventPattern> {
        let start = self.at.start;
        let mut role = LayoutRole::Clause;
        let phase = match (self.at.token, self.peek()) {
            (Token::Word("before" | "after"), Token::Mark('(')) => None,
            (Token::Word(word @ ("before" | "after")), _) => {
                self.take(std::mem::replace(&mut role, LayoutRole::Word));
                Some(word)
            }
            _ => None,
        };
        self.event_word(role, phase);
        let access = match self.at.token {
            Token::Word(word @ ("call" | "read" | "write" | "access")) if self.name_follows() => {
                self.take(LayoutRole::Word);
                Some(word)
            }
            _ => None,
        };
        let Some(name) = self.event_name() else {
            let diagnostic = self.expected("an event name").help(self.name_help());
            self.report(diagnostic);
            if self.at_mark('(') {
                self.params();
            } else {
                self.skip_to(&["success", "failure", "transition", "state"]);
            }
            return None;
        };
        let kind = self.kind(phase, access, &name);
        let params = if self.at_mark('(') { self.params() } else { Vec::new() };
        Some(EventPattern { kind, name, params, span: self.since(start) })
    }

    /// Takes the word `event` or `call`, or reports that it is missing.
    fn event_word(&mut self, role: LayoutRole, phase: Option<&str>) {
        match self.at.token {
            Token::Word("event" | "call") => {
                self.take(role);
            }
            // `write s(s)` or `queue_push(q)`: only the keyword is missing.
            Token::Word(word) if self.peek() == Token::Mark('(') || self.at_access() => {
                let phase = phase.map_or(String::new(), |phase| format!("{phase} "));
                let diagnostic = self.expected("`event`").help(format!("write `{phase}event {word} …`"));
                self.report(diagnostic);
            }
            Token::Word(word) if !matches!(word, "success" | "failure") => {
                match self.intended_keyword(word, &["event", "before", "after"]) {
                    Some(keyword) => self.report_misspelt(keyword),
                    None => {
                        let diagnostic = self.expected("`event`").help("write `event NAME`");
                        self.report(diagnostic);
                    }
                }
                self.skip();
                if self.at_word("event") {
                    self.skip();
                }
            }
            _ => {
                let diagnostic = self.expected("`event`");
                self.report(diagnostic.help("a transition needs an event: `transition { event f() … }`"));
            }
        }
    }

    fn at_access(&self) -> bool {
        matches!(self.at.token, Token::Word("read" | "write" | "access")) && self.name_follows()
    }

    /// Whether an event name follows the current word; if so, the word is a keyword.
    fn name_follows(&self) -> bool {
        let next = scan::next(self.text, self.at.token, self.at.end, |_, _| {});
        match next.token {
            Token::Word("success" | "failure") => {
                scan::next(self.text, next.token, next.end, |_, _| {}).token == Token::Mark('(')
            }
            Token::Word(_) | Token::Quoted(_) | Token::Predefined(_) => true,
            _ => false,
        }
    }

    /// Parses an event name.
    fn event_name(&mut self) -> Option<Name> {
        match self.at.token {
            // A transition without an event.
            Token::Word("success" | "failure")
                if !matches!(self.peek(), Token::Mark('(') | Token::Word("success" | "failure")) =>
            {
                None
            }
            Token::Quoted(text) if !text.is_empty() => {
                Some(Name { text: text.to_owned(), span: self.take(LayoutRole::Word) })
            }
            Token::Predefined(word) => {
                Some(Name { text: format!("#{word}"), span: self.take(LayoutRole::Word) })
            }
            Token::Word(_) | Token::Mark('/' | '.' | '~' | '$') => {
                let start = self.at.start;
                let end = start + scan::event_name_length(&self.text[start..]);
                if end == start {
                    return None;
                }
                self.tokens.push(LayoutToken { role: LayoutRole::Word, start, end });
                self.jump(end);
                Some(Name { text: self.text[start..end].to_owned(), span: self.span(start, end) })
            }
            _ => None,
        }
    }

    /// Returns the help for a missing event name.
    fn name_help(&self) -> String {
        let hidden = self.comments.last().filter(|comment| comment.start >= self.last_end);
        match hidden.map(|comment| scan::word_at(&self.text[comment.start + 1..])) {
            Some(word) if !word.is_empty() => match nearest(word, PredefinedEvent::WORDS.iter().copied()) {
                Some(predefined) => format!("did you mean `#{predefined}`? `#{word}` starts a comment"),
                None => format!(
                    "`#{word}` starts a comment; the predefined events are `#{}`",
                    PredefinedEvent::WORDS.join("`, `#")
                ),
            },
            _ => "write `event FUNCTION` or `event write VARIABLE`".to_owned(),
        }
    }

    fn kind(&mut self, phase: Option<&str>, access: Option<&str>, name: &Name) -> EventKind {
        let implied = EventKind::implied_by(&name.text);
        if implied != EventKind::Before {
            if phase.is_some() || access.is_some_and(|word| word != "call") {
                let message = format!("`{}` has no `before`, `after` or access", name.text);
                let diagnostic = Diagnostic::error(name.span, message).label("must directly follow `event`");
                self.report(diagnostic.help(format!("write `event {}`", name.text)));
            }
            return implied;
        }
        match (access, phase) {
            (Some("read"), Some("before")) => EventKind::BeforeRead,
            (Some("read"), _) => EventKind::Read,
            (Some("write"), Some("before")) => EventKind::BeforeWrite,
            (Some("write"), _) => EventKind::Write,
            (Some("access"), Some("before")) => EventKind::BeforeAccess,
            (Some("access"), _) => EventKind::Access,
            (_, Some("after")) => EventKind::After,
            _ => EventKind::Before,
        }
    }

    /// Parses the parenthesized parameters.
    fn params(&mut self) -> Vec<Param> {
        let open = self.take(LayoutRole::OpenList);
        let mut params = Vec::new();
        loop {
            if self.at_mark(')') {
                self.take(LayoutRole::CloseList);
                return params;
            }
            match self.param() {
                Some(param) => params.push(param),
                None if self.skip_to_param() => continue,
                None => return params,
            }
            match self.at.token {
                Token::Mark(',') => {
                    self.take(LayoutRole::Comma);
                }
                Token::Mark(')') => {}
                _ => {
                    let diagnostic = self.expected("`,` or `)`").related(open, "the parameters start here");
                    let help = match (params.last().map(|param| &param.source), self.at.token) {
                        (Some(ParamSource::Name(word)), Token::Word(name))
                            if ParamType::from_word(word).is_some() =>
                        {
                            format!("the type follows the name: `{name}: {word}`")
                        }
                        (_, Token::Word(_) | Token::Predefined(_)) => {
                            "separate parameters with commas".to_owned()
                        }
                        (_, Token::Mark('.' | '-' | '[') | Token::Arrow) => {
                            "a parameter is a name; write an expression in quotes: `\"q->size\" as size`"
                                .to_owned()
                        }
                        _ => "close the parameters with `)`".to_owned(),
                    };
                    self.report(diagnostic.help(help));
                    if self.skip_to_param() {
                        continue;
                    }
                    return params;
                }
            }
        }
    }

    /// Skips to the next comma, which is taken, or to the closing parenthesis. Returns whether one of them was found.
    fn skip_to_param(&mut self) -> bool {
        loop {
            match self.at.token {
                Token::Mark(',') => {
                    self.take(LayoutRole::Comma);
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
            self.take(LayoutRole::Prefix);
            prefixes.push(prefix);
        }
        if prefixes.len() > MAX_DEPTH {
            let message = format!("at most {MAX_DEPTH} of `*`, `&` and `^` are allowed in a row");
            let diagnostic = Diagnostic::error(self.since(start), message);
            self.report(diagnostic.label(format!("{} operators", prefixes.len())));
            return None;
        }
        let (innermost, suggested) = self.source()?;
        let source = prefixes.iter().rev().fold(innermost, |of, prefix| match prefix {
            '*' => ParamSource::Deref(Box::new(of)),
            '&' => ParamSource::Address(Box::new(of)),
            _ => ParamSource::InCaller(Box::new(of)),
        });
        let mut param = Param { source, name: Name { text: suggested, span: self.since(start) }, ty: None };
        let is_renamed = self.suffixes(&mut param);
        if !is_renamed && scan::word_at(&param.name.text) != param.name.text {
            let diagnostic = Diagnostic::error(param.name.span, "this expression needs a name")
                .label("expected `as NAME` after it");
            self.report(diagnostic.help(format!("write `\"{}\" as NAME`", param.name.text)));
        }
        Some(param)
    }

    /// Parses the source of a parameter without its prefixes. Returns it with the name derived from it.
    fn source(&mut self) -> Option<(ParamSource, String)> {
        match (self.at.token, self.peek()) {
            (Token::Word("arg"), Token::Number(digits)) => {
                self.take(LayoutRole::Word);
                let position = digits.parse().unwrap_or(0);
                let number_span = self.take(LayoutRole::Word);
                if position == 0 {
                    let message = format!("invalid argument number {digits}");
                    let diagnostic = Diagnostic::error(number_span, message).label("expected 1 or more");
                    self.report(diagnostic.help("arguments are numbered from 1: the first is `arg 1`"));
                }
                Some((ParamSource::Arg(position), format!("arg{digits}")))
            }
            (Token::Word("ret"), _) => {
                self.take(LayoutRole::Word);
                Some((ParamSource::Ret, "ret".to_owned()))
            }
            (Token::Quoted(words), _) if !words.trim().is_empty() => {
                self.take(LayoutRole::Word);
                Some((ParamSource::Expression(words.trim().to_owned()), words.trim().to_owned()))
            }
            (Token::Word(name), _) => {
                self.take(LayoutRole::Word);
                Some((ParamSource::Name(name.to_owned()), name.to_owned()))
            }
            (Token::Predefined(word), _) => {
                self.take(LayoutRole::Word);
                let source = match word {
                    "thread" => ParamSource::Thread,
                    "time" => ParamSource::Time,
                    _ => ParamSource::Program,
                };
                Some((source, word.to_owned()))
            }
            (token, _) => {
                let diagnostic = self.expected("a parameter");
                self.report(diagnostic.help(self.param_help(token)));
                None
            }
        }
    }

    fn param_help(&self, found: Token<'_>) -> String {
        let hidden = self.comments.last().filter(|comment| comment.start >= self.last_end);
        let word = hidden.map_or("", |comment| scan::word_at(&self.text[comment.start + 1..]));
        match (nearest(word, COMMON_PARAMS), found) {
            (Some(predefined), _) => format!("did you mean `#{predefined}`? `#{word}` starts a comment"),
            (_, Token::Number(digits)) => format!("write `arg {digits}` for an argument by position"),
            (_, Token::Mark('.' | '_' | ')')) => {
                "list only the parameters that the property reads; `f()` matches all calls of `f`".to_owned()
            }
            _ => "a parameter is a name, `arg 1`, `ret` or `#thread`, optionally preceded by `*`, `&` or `^`"
                .to_owned(),
        }
    }

    /// Parses `as name` and `: type` after a parameter, in either order. Returns whether there was an `as`.
    fn suffixes(&mut self, param: &mut Param) -> bool {
        let mut first_as: Option<Span> = None;
        let mut first_type: Option<Span> = None;
        loop {
            if self.at_word("as") {
                let here = self.take(LayoutRole::Word);
                self.report_duplicate("as", here, &mut first_as);
                let help = "write `as NAME`; blocks use this name";
                match self.expect_name("a name for the parameter", help) {
                    Some(name) => param.name = name,
                    None => return true,
                }
            } else if self.at_mark(':') {
                let here = self.take(LayoutRole::Tight);
                self.report_duplicate(":", here, &mut first_type);
                param.ty = self.ty();
            } else {
                return first_as.is_some();
            }
        }
    }

    fn ty(&mut self) -> Option<(ParamType, Span)> {
        let words = ParamType::WORDS.iter().flat_map(|(_, words)| words.iter().copied());
        let Token::Word(word) = self.at.token else {
            let diagnostic = self.expected("a type").help("the types are `int`, `float`, `bool` and `str`");
            self.report(diagnostic);
            return None;
        };
        let ty = ParamType::from_word(word);
        if ty.is_none() {
            let help = match nearest(word, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the types are `int`, `float`, `bool` and `str`".to_owned(),
            };
            let diagnostic = Diagnostic::error(self.here(), format!("unknown type `{word}`"));
            self.report(diagnostic.label("expected a type").help(help));
        }
        let span = self.take(LayoutRole::Word);
        ty.map(|ty| (ty, span))
    }
}
