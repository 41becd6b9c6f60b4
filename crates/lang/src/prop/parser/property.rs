//! The top level of a property: slicing, initialization and states.

use super::super::ast::{Acceptance, Name, Property, State};
use crate::parsing::PropParser;
use crate::parsing::layout_tokens::LayoutRole;
use crate::parsing::scan::Token;
use invigil_expr::diag::{Diagnostic, Span};

/// The keywords that start a section of the property.
const SECTIONS: [&str; 3] = ["slice", "initialization", "state"];

impl PropParser<'_> {
    /// Parses the whole file.
    pub(super) fn property(&mut self) -> Property {
        let mut property = Property::default();
        let mut first_slice_on = None;
        let mut first_initialization = None;
        loop {
            let Token::Word(word) = self.at.token else {
                if self.at.token == Token::End {
                    break;
                }
                self.stray_token();
                continue;
            };
            match self.intended_section(word) {
                Some("slice") => self.slice(&mut property, &mut first_slice_on),
                Some("initialization") => self.initialization(&mut property, &mut first_initialization),
                Some("state") => {
                    self.take(LayoutRole::Item);
                    if let Some(state) = self.state() {
                        property.states.push(state);
                    }
                }
                Some(_) => self.stray_transition(&mut property),
                None => self.stray_word(&mut property, word),
            }
        }
        if property.states.is_empty() && self.diagnostics.is_empty() {
            let diagnostic = Diagnostic::error(self.here(), "this property has no states")
                .label("expected a state")
                .help("write the initial state: `state init { … }`");
            self.report(diagnostic);
        }
        property
    }

    /// Returns the keyword that `word` is or was probably meant to be.
    fn intended_section(&mut self, word: &str) -> Option<&'static str> {
        const WORDS: [&str; 4] = ["slice", "initialization", "state", "transition"];
        if let Some(keyword) = WORDS.into_iter().find(|keyword| *keyword == word) {
            return Some(keyword);
        }
        let next = self.peek();
        let keyword = self.intended_keyword(word, &WORDS)?;
        let fits = match keyword {
            "state" => matches!(next, Token::Word(_)),
            "slice" => next == Token::Word("on"),
            // A state whose keyword `state` is missing looks the same.
            "initialization" => word != "init" && next == Token::Mark('{'),
            _ => next == Token::Mark('{'),
        };
        if fits {
            self.report_misspelt(keyword);
        }
        fits.then_some(keyword)
    }

    /// Reports a token that is not a word where a section is expected.
    fn stray_token(&mut self) {
        let diagnostic = if self.at_mark('}') {
            Diagnostic::error(self.here(), "unmatched `}`")
                .label("no open `{` to close")
                .help("remove it, or check whether an earlier `}` closes a block too soon")
        } else {
            self.expected("a state")
                .help("a property consists of `slice on`, `initialization` and `state` sections")
        };
        let is_closing_brace = self.at_mark('}');
        self.report(diagnostic);
        self.skip();
        if !is_closing_brace {
            self.skip_to(&SECTIONS);
        }
    }

    /// Reports an unexpected word: perhaps a state name whose keyword `state` is missing.
    fn stray_word(&mut self, property: &mut Property, word: &str) {
        let looks_like_state = matches!(
            self.peek(),
            Token::Mark('{') | Token::NonAccepting | Token::Word("accepting" | "final" | "import")
        );
        let diagnostic = self.expected("`state`");
        if looks_like_state {
            self.report(diagnostic.help(format!("write `state {word}`")));
            if let Some(state) = self.state() {
                property.states.push(state);
            }
        } else {
            self.report(
                diagnostic.help("a property consists of `slice on`, `initialization` and `state` sections"),
            );
            self.skip();
            self.skip_to(&SECTIONS);
        }
    }

    fn stray_transition(&mut self, property: &mut Property) {
        let diagnostic = Diagnostic::error(self.here(), "this transition is outside a state")
            .label("expected `state`")
            .help("check whether an earlier `}` closes the state too soon");
        self.report(diagnostic);
        let transition = self.transition();
        if let (Some(state), Some(transition)) = (property.states.last_mut(), transition) {
            state.transitions.push(transition);
        }
    }

    fn slice(&mut self, property: &mut Property, first_slice_on: &mut Option<Span>) {
        let start = self.take(LayoutRole::Item);
        self.report_duplicate("slice on", start, first_slice_on);
        if self.at_word("on") {
            self.take(LayoutRole::Word);
        } else {
            let diagnostic = self.expected("`on`").help("write `slice on PARAMETER, …`");
            self.report(diagnostic);
        }
        if self.at_section_or_end() {
            let diagnostic = self.expected("a parameter name");
            self.report(diagnostic.help("list the parameters that identify an object: `slice on queue`"));
            return;
        }
        loop {
            if let Token::Predefined(word) = self.at.token {
                let diagnostic = self.expected("a parameter name");
                self.report(diagnostic.help(format!(
                    "name the parameter in the event, `#{word} as {word}`, and slice on `{word}`"
                )));
                self.skip();
            } else {
                let help = "list the parameters that identify an object: `slice on queue`";
                match self.expect_name("a parameter name", help) {
                    Some(name) => property.slice_on.push(name),
                    None => return self.skip_to(&SECTIONS),
                }
            }
            let comma = self.at_mark(',');
            if comma {
                self.take(LayoutRole::Tight);
            }
            if self.at_section_or_end() {
                return;
            }
            if !comma {
                let diagnostic = self.expected("`,` or a state").help("separate the parameters with commas");
                self.report(diagnostic);
                if !matches!(self.at.token, Token::Word(_)) {
                    return self.skip_to(&SECTIONS);
                }
            }
        }
    }

    /// Whether the next section or the end follows, rather than another name.
    fn at_section_or_end(&self) -> bool {
        match self.at.token {
            Token::End | Token::Mark('}') => true,
            Token::Word("state") => matches!(self.peek(), Token::Word(_)),
            Token::Word("initialization") => self.peek() == Token::Mark('{'),
            Token::Word("slice") => self.peek() == Token::Word("on"),
            _ => false,
        }
    }

    fn initialization(&mut self, property: &mut Property, first_initialization: &mut Option<Span>) {
        let start = self.take(LayoutRole::Item);
        self.report_duplicate("initialization", start, first_initialization);
        match self.block() {
            Some(block) => property.initialization = Some(block),
            None => {
                let diagnostic = self.expected("`{`").help("write `initialization { N = 0 }`");
                self.report(diagnostic);
                self.skip_to(&SECTIONS);
            }
        }
    }

    /// Parses a state from its name on.
    fn state(&mut self) -> Option<State> {
        let start = self.tokens.last().map_or(0, |piece| piece.start);
        let help = "name the state: `state ready accepting { … }`";
        let name = self.expect_name("a state name", help);
        // Without a name it is still parsed, to report the errors in it.
        let unnamed = name.is_none();
        let mut state = State {
            name: name.unwrap_or_else(|| Name { text: String::new(), span: self.here() }),
            acceptance: None,
            final_span: None,
            action: None,
            imports: Vec::new(),
            transitions: Vec::new(),
            span: self.here(),
        };
        self.modifiers(&mut state);
        if self.at_mark('{') {
            self.body(&mut state);
        }
        state.span = self.since(start);
        (!unnamed).then_some(state)
    }

    /// Parses the modifiers between a state name and its body, in any order.
    fn modifiers(&mut self, state: &mut State) {
        loop {
            if self.at_action() {
                let call = self.action();
                match (&state.action, call) {
                    (Some(first), Some(second)) => {
                        let diagnostic = Diagnostic::error(second.span, "a state can make only one call")
                            .label("the second call")
                            .related(first.span, "the first call");
                        self.report(diagnostic.help("keep one of them"));
                    }
                    (_, call) => state.action = call,
                }
                continue;
            }
            match self.at.token {
                Token::Word("accepting") => self.acceptance(state, Acceptance::Accepting),
                Token::NonAccepting => self.acceptance(state, Acceptance::NonAccepting),
                Token::Word("final") => {
                    let here = self.take(LayoutRole::Word);
                    self.report_duplicate("final", here, &mut state.final_span);
                }
                Token::Word("import") => self.import(state, LayoutRole::Word),
                Token::End | Token::Mark('{' | '}') => return,
                _ if self.at_section_or_end() => return,
                Token::Word(word) => {
                    if self.unexpected_modifier(state, word) {
                        return;
                    }
                }
                _ => {
                    let help = match self.at.token {
                        Token::Mark('-' | '.') => "a name consists of letters, digits and `_`",
                        _ => "enclose the transitions of a state in `{ … }`",
                    };
                    let diagnostic = self.expected("`{`").help(help);
                    self.report(diagnostic);
                    while !matches!(self.at.token, Token::End | Token::Mark('{' | '}'))
                        && !self.at_section_or_end()
                    {
                        self.skip();
                    }
                }
            }
        }
    }

    fn acceptance(&mut self, state: &mut State, acceptance: Acceptance) {
        let here = self.take(LayoutRole::Word);
        match state.acceptance {
            Some((earlier, first)) if earlier != acceptance => {
                let diagnostic =
                    Diagnostic::error(here, "a state is either `accepting` or `non-accepting`, not both")
                        .label("contradicts the first one")
                        .related(first, "first modifier");
                self.report(diagnostic.help("keep one of them"));
            }
            Some((_, first)) => {
                let keyword = match acceptance {
                    Acceptance::Accepting => "accepting",
                    Acceptance::NonAccepting => "non-accepting",
                };
                self.report_duplicate(keyword, here, &mut Some(first));
            }
            None => state.acceptance = Some((acceptance, here)),
        }
    }

    /// Reports a word that is not a modifier. Returns whether the modifiers end here.
    fn unexpected_modifier(&mut self, state: &mut State, word: &str) -> bool {
        const NON_ACCEPTING: [&str; 7] =
            ["nonaccepting", "non_accepting", "non", "not", "rejecting", "bad", "error"];
        match word {
            "transition" | "event" | "before" | "after" => {
                let diagnostic = self.expected("`{`").help("enclose the transitions of a state in `{ … }`");
                self.report(diagnostic);
                self.body(state);
                true
            }
            _ if NON_ACCEPTING.contains(&word) => {
                self.report_misspelt("non-accepting");
                self.skip();
                if matches!(self.at.token, Token::Mark('-')) {
                    self.skip();
                }
                if matches!(self.at.token, Token::Word("accepting")) {
                    self.skip();
                }
                false
            }
            _ => {
                match self.intended_keyword(word, &["accepting", "final", "import"]) {
                    Some("import") if matches!(self.peek(), Token::Word(_)) => {
                        self.report_misspelt("import");
                        self.import(state, LayoutRole::Word);
                        return false;
                    }
                    Some(keyword) if keyword != "import" => self.report_misspelt(keyword),
                    _ => {
                        let diagnostic = self.expected("`{` or the next state");
                        self.report(diagnostic.help(format!("to call a function, write `{word}()`")));
                    }
                }
                self.skip();
                false
            }
        }
    }

    /// Parses `import transitions from state X`.
    fn import(&mut self, state: &mut State, role: LayoutRole) {
        self.take(role);
        for word in ["transitions", "from", "state"] {
            if self.at_word(word) {
                self.take(LayoutRole::Word);
            } else {
                let diagnostic = self.expected(&format!("`{word}`"));
                self.report(diagnostic.help("write `import transitions from state NAME`"));
                if matches!(self.at.token, Token::Word(found) if self.intended_keyword(found, &[word]).is_some())
                {
                    self.skip();
                }
            }
        }
        let help = "write `import transitions from state NAME`";
        if let Some(name) = self.expect_name("a state name", help) {
            state.imports.push(name);
        }
    }

    /// Parses the body of a state. If its brace is missing, that has been reported.
    fn body(&mut self, state: &mut State) {
        let open = self.here();
        let opened = self.at_mark('{');
        if opened {
            self.take(LayoutRole::OpenBody);
        }
        loop {
            match self.at.token {
                Token::Mark('}') => {
                    self.take(LayoutRole::CloseBody);
                    return;
                }
                Token::End => return self.unclosed_state(state, open, opened),
                Token::Word("transition") => state.transitions.extend(self.transition()),
                Token::Word("import") => self.import(state, LayoutRole::Clause),
                _ if self.at_section_or_end() => return self.unclosed_state(state, open, opened),
                Token::Word("event" | "before" | "after" | "call") => {
                    let diagnostic = self.expected("`transition {`");
                    self.report(diagnostic.help("put the event into a transition: `transition { event … }`"));
                    state.transitions.extend(self.transition());
                }
                Token::Word(word) => match self.intended_keyword(word, &["transition", "import"]) {
                    Some("import") => {
                        self.report_misspelt("import");
                        self.import(state, LayoutRole::Clause);
                    }
                    Some(keyword) => {
                        self.report_misspelt(keyword);
                        state.transitions.extend(self.transition());
                    }
                    None => self.unexpected_in_body(),
                },
                _ => self.unexpected_in_body(),
            }
        }
    }

    fn unexpected_in_body(&mut self) {
        let diagnostic = self.expected("`transition` or `}`");
        self.report(diagnostic.help("a state contains transitions: `transition { event … }`"));
        self.skip();
        self.skip_to(&["transition", "import", "state", "initialization"]);
    }

    fn unclosed_state(&mut self, state: &State, open: Span, opened: bool) {
        if !opened {
            return;
        }
        let message = match state.name.text.as_str() {
            "" => "this state is not closed".to_owned(),
            name => format!("state `{name}` is not closed"),
        };
        let mut diagnostic = Diagnostic::error(open, message).label("opened here");
        if self.at.token == Token::End {
            diagnostic = diagnostic.help("add the missing `}`");
        } else {
            diagnostic = diagnostic.related(self.here(), "the next section starts here");
            diagnostic = diagnostic.help(format!("add the missing `}}` before {}", self.describe_next()));
        }
        self.report(diagnostic);
    }
}
