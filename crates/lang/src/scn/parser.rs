//! Parser of the scenario language: all errors of a file are reported together.

use super::ast::{Name, Reaction, Scenario, StateSelector, Trigger};
use crate::parsing::layout_tokens::LayoutRole;
use crate::parsing::scan::Token;
use crate::parsing::{Language, PropParser};
use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// The keywords that start a section of a scenario.
const SECTIONS: [&str; 2] = ["initialization", "on"];

/// The help that shows the form of a reaction.
const FORM: &str = "write `on entering state NAME { … }` or `on leaving accepting state { … }`";

/// The settings of the parser for scenarios.
static LANGUAGE: Language = Language {
    noun: "scenario",
    clauses: &["on", "initialization"],
    synonyms: &[
        ("when", "on"),
        ("init", "initialization"),
        ("initialisation", "initialization"),
        ("enter", "entering"),
        ("enters", "entering"),
        ("reaching", "entering"),
        ("leave", "leaving"),
        ("leaves", "leaving"),
        ("exiting", "leaving"),
        ("in", "of"),
        ("for", "of"),
        ("states", "state"),
    ],
};

/// Parses the scenario in `text`, the contents of the file `source`.
///
/// The scenario is complete if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::scn;
///
/// let (scenario, diagnostics) = scn::parse(SourceId(0), "on entering state sink { suspend_execution() }");
/// assert!(diagnostics.is_empty());
/// assert_eq!(scenario.reactions.len(), 1);
///
/// let (_, diagnostics) = scn::parse(SourceId(0), "on entring state sink { suspend_execution() }");
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `entering`?"));
/// ```
pub fn parse(source: SourceId, text: &str) -> (Scenario, Vec<Diagnostic>) {
    let mut parser = PropParser::new(&LANGUAGE, source, text);
    let scenario = parser.scenario();
    (scenario, parser.diagnostics)
}

impl PropParser<'_> {
    fn scenario(&mut self) -> Scenario {
        let mut scenario = Scenario::default();
        let mut first_initialization = None;
        loop {
            match self.at.token {
                Token::End => return scenario,
                Token::Word("on") => scenario.reactions.extend(self.reaction()),
                Token::Word("initialization") => {
                    self.scenario_initialization(&mut scenario, &mut first_initialization)
                }
                Token::Word(word) => match self.intended_keyword(word, &SECTIONS) {
                    Some("on") => {
                        self.report_misspelt("on");
                        scenario.reactions.extend(self.reaction());
                    }
                    Some(keyword) => {
                        self.report_misspelt(keyword);
                        self.scenario_initialization(&mut scenario, &mut first_initialization);
                    }
                    None if matches!(word, "entering" | "leaving") => {
                        let diagnostic = self.expected("`on`").help(format!("write `on {word} …`"));
                        self.report(diagnostic);
                        let start = self.at.start;
                        scenario.reactions.extend(self.reaction_from(start));
                    }
                    None => self.stray(),
                },
                _ => self.stray(),
            }
        }
    }

    /// Reports a token that cannot start a section.
    fn stray(&mut self) {
        let diagnostic = if self.at_mark('}') {
            Diagnostic::error(self.here(), "unmatched `}`")
                .label("no open `{` to close")
                .help("remove it, or check whether an earlier `}` closes a block too soon")
        } else {
            let diagnostic = self.expected("`on` or `initialization`");
            match self.at.token {
                Token::Word("state" | "slice" | "transition") => diagnostic
                    .help("this looks like a property; a scenario contains reactions: `on entering …`"),
                _ => diagnostic.help(FORM),
            }
        };
        self.report(diagnostic);
        self.skip();
        while !matches!(self.at.token, Token::End | Token::Word("on" | "initialization")) {
            self.skip();
        }
    }

    fn scenario_initialization(&mut self, scenario: &mut Scenario, first_initialization: &mut Option<Span>) {
        let start = self.take(LayoutRole::Item);
        self.report_duplicate("initialization", start, first_initialization);
        match self.block() {
            Some(block) => scenario.initialization = scenario.initialization.take().or(Some(block)),
            None => {
                let diagnostic = self.expected("`{`").help("write `initialization { saved = [] }`");
                self.report(diagnostic);
                self.skip_to(&SECTIONS);
            }
        }
    }

    fn reaction(&mut self) -> Option<Reaction> {
        let start = self.at.start;
        self.take(LayoutRole::Item);
        self.reaction_from(start)
    }

    /// Parses a reaction after its `on`.
    fn reaction_from(&mut self, start: usize) -> Option<Reaction> {
        let trigger = self.trigger();
        let selector = self.selector();
        let property = self.of_property();
        let span = self.since(start);
        let Some(block) = self.block() else {
            let diagnostic = self.expected("`{`").help("enclose the reaction in `{ … }`");
            self.report(diagnostic);
            self.skip_to(&SECTIONS);
            return None;
        };
        Some(Reaction { trigger: trigger?, selector: selector?, property, block, span })
    }

    fn trigger(&mut self) -> Option<Trigger> {
        let Token::Word(word) = self.at.token else {
            let diagnostic = self.expected("`entering` or `leaving`").help(FORM);
            self.report(diagnostic);
            return None;
        };
        let keyword = match word {
            "entering" | "leaving" => Some(word),
            _ => {
                let meant = self.intended_keyword(word, &["entering", "leaving"]);
                match meant {
                    Some(keyword) => self.report_misspelt(keyword),
                    None => {
                        let diagnostic = self.expected("`entering` or `leaving`").help(FORM);
                        self.report(diagnostic);
                    }
                }
                meant
            }
        };
        // If the keyword is missing, the current word belongs to the selector.
        if keyword.is_some() || !matches!(word, "state" | "accepting" | "initial") {
            self.take(LayoutRole::Word);
        }
        match keyword? {
            "entering" => Some(Trigger::Entering),
            _ => Some(Trigger::Leaving),
        }
    }

    fn selector(&mut self) -> Option<StateSelector> {
        let selector = match self.at.token {
            Token::Word("state") => {
                self.take(LayoutRole::Word);
                let name = self.expect_name("a state name", FORM);
                return name.map(StateSelector::State);
            }
            Token::NonAccepting => StateSelector::NonAccepting,
            Token::Word("accepting") => StateSelector::Accepting,
            Token::Word("initial") => StateSelector::Initial,
            Token::Word(word) => return self.unexpected_selector(word),
            _ => {
                let diagnostic = self.expected("`state` or `accepting`").help(FORM);
                self.report(diagnostic);
                return None;
            }
        };
        self.take(LayoutRole::Word);
        self.state_word();
        Some(selector)
    }

    /// Takes the word `state`, or reports that it is missing.
    fn state_word(&mut self) {
        if self.at_word("state") {
            self.take(LayoutRole::Word);
            return;
        }
        if let Token::Word(word) = self.at.token
            && let Some(keyword) = self.intended_keyword(word, &["state"])
        {
            self.report_misspelt(keyword);
            self.take(LayoutRole::Word);
            return;
        }
        let diagnostic = self.expected("`state`").help(FORM);
        self.report(diagnostic);
    }

    /// Handles an unexpected word where a state selector is expected.
    fn unexpected_selector(&mut self, word: &str) -> Option<StateSelector> {
        if matches!(word, "nonaccepting" | "non_accepting" | "rejecting" | "bad" | "error" | "violating") {
            self.report_misspelt("non-accepting");
            self.take(LayoutRole::Word);
            self.state_word();
            return Some(StateSelector::NonAccepting);
        }
        match self.intended_keyword(word, &["state", "accepting", "initial"]) {
            Some("state") => {
                self.report_misspelt("state");
                self.take(LayoutRole::Word);
                self.take_name(LayoutRole::Word).map(StateSelector::State)
            }
            Some(keyword) => {
                self.report_misspelt(keyword);
                self.take(LayoutRole::Word);
                self.state_word();
                Some(if keyword == "initial" { StateSelector::Initial } else { StateSelector::Accepting })
            }
            None => {
                let diagnostic = self.expected("`state`").help(format!("write `state {word}`"));
                self.report(diagnostic);
                self.take_name(LayoutRole::Word).map(StateSelector::State)
            }
        }
    }

    /// Parses `of PROPERTY`, if present.
    fn of_property(&mut self) -> Option<Name> {
        let Token::Word(word) = self.at.token else { return None };
        if word != "of" {
            let meant = self.intended_keyword(word, &["of"]).is_some();
            let help = match meant {
                true => "did you mean `of`?",
                false => "enclose the reaction in `{ … }`; `of NAME` selects a property",
            };
            let diagnostic = self.expected("`{`");
            self.report(diagnostic.help(help));
            if !meant {
                return None;
            }
        }
        self.take(LayoutRole::Word);
        if let Token::Quoted(text) = self.at.token {
            return Some(Name { text: text.to_owned(), span: self.take(LayoutRole::Word) });
        }
        self.expect_name("a property name", "write `of NAME`, with the name of the property's file")
    }
}
