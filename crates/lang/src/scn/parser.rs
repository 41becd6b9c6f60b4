//! Reads a scenario, and reports every mistake in it at once.

use super::ast::{Moment, Name, Reaction, Scenario, Which};
use crate::reading::piece::Role;
use crate::reading::scan::Token;
use crate::reading::{Language, Parser};
use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// The words that open a part of a scenario.
const PARTS: [&str; 2] = ["initialization", "on"];

/// How a reaction is written, for those who did not.
const FORM: &str = "write `on entering state NAME { … }` or `on leaving accepting state { … }`";

/// What the parser must know of scenarios.
static LANGUAGE: Language = Language {
    noun: "scenario",
    clauses: &["on", "initialization"],
    other_words: &[
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

/// Reads the scenario in `text`, the contents of the file known as `source`.
///
/// It is complete if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::scn;
///
/// let (scenario, problems) = scn::parse(SourceId(0), "on entering state sink { suspend_execution() }");
/// assert!(problems.is_empty());
/// assert_eq!(scenario.reactions.len(), 1);
///
/// let (_, problems) = scn::parse(SourceId(0), "on entring state sink { suspend_execution() }");
/// assert_eq!(problems[0].help.as_deref(), Some("did you mean `entering`?"));
/// ```
pub fn parse(source: SourceId, text: &str) -> (Scenario, Vec<Diagnostic>) {
    let mut parser = Parser::new(&LANGUAGE, source, text);
    let scenario = parser.scenario();
    (scenario, parser.problems)
}

impl Parser<'_> {
    fn scenario(&mut self) -> Scenario {
        let mut scenario = Scenario::default();
        let mut initialized = None;
        loop {
            match self.at.token {
                Token::End => return scenario,
                Token::Word("on") => scenario.reactions.extend(self.reaction()),
                Token::Word("initialization") => self.scenario_start(&mut scenario, &mut initialized),
                Token::Word(word) => match self.meant(word, &PARTS) {
                    Some("on") => {
                        self.report_misspelt("on");
                        scenario.reactions.extend(self.reaction());
                    }
                    Some(keyword) => {
                        self.report_misspelt(keyword);
                        self.scenario_start(&mut scenario, &mut initialized);
                    }
                    None if matches!(word, "entering" | "leaving") => {
                        let problem = self.expected("`on`").help(format!("write `on {word} …`"));
                        self.report(problem);
                        let start = self.at.start;
                        scenario.reactions.extend(self.reaction_from(start));
                    }
                    None => self.stray(),
                },
                _ => self.stray(),
            }
        }
    }

    /// Complains about what cannot start anything.
    fn stray(&mut self) {
        let problem = if self.at_mark('}') {
            Diagnostic::error(self.here(), "this `}` closes nothing")
                .label("one brace too many")
                .help("remove it, or look above for a brace that closes too early")
        } else {
            let problem = self.expected("`on` or `initialization`");
            match self.at.token {
                Token::Word("state" | "slice" | "transition") => {
                    problem.help("this looks like a property; a scenario holds reactions: `on entering …`")
                }
                _ => problem.help(FORM),
            }
        };
        self.report(problem);
        self.skip();
        while !matches!(self.at.token, Token::End | Token::Word("on" | "initialization")) {
            self.skip();
        }
    }

    fn scenario_start(&mut self, scenario: &mut Scenario, initialized: &mut Option<Span>) {
        let start = self.take(Role::Item);
        self.report_twice("initialization", start, initialized);
        match self.block() {
            Some(block) => scenario.initialization = scenario.initialization.take().or(Some(block)),
            None => {
                let problem = self.expected("`{`").help("write `initialization { saved = [] }`");
                self.report(problem);
                self.skip_to(&PARTS);
            }
        }
    }

    fn reaction(&mut self) -> Option<Reaction> {
        let start = self.at.start;
        self.take(Role::Item);
        self.reaction_from(start)
    }

    /// Reads a reaction from behind its `on`.
    fn reaction_from(&mut self, start: usize) -> Option<Reaction> {
        let moment = self.moment();
        let which = self.which();
        let property = self.of_property();
        let span = self.since(start);
        let Some(block) = self.block() else {
            let problem = self.expected("`{`").help("what to do stands in `{ … }`");
            self.report(problem);
            self.skip_to(&PARTS);
            return None;
        };
        Some(Reaction { moment: moment?, which: which?, property, block, span })
    }

    fn moment(&mut self) -> Option<Moment> {
        let Token::Word(word) = self.at.token else {
            let problem = self.expected("`entering` or `leaving`").help(FORM);
            self.report(problem);
            return None;
        };
        let keyword = match word {
            "entering" | "leaving" => Some(word),
            _ => {
                let meant = self.meant(word, &["entering", "leaving"]);
                match meant {
                    Some(keyword) => self.report_misspelt(keyword),
                    None => {
                        let problem = self.expected("`entering` or `leaving`").help(FORM);
                        self.report(problem);
                    }
                }
                meant
            }
        };
        // Where the word is missing, what follows it is not.
        if keyword.is_some() || !matches!(word, "state" | "accepting" | "initial") {
            self.take(Role::Word);
        }
        match keyword? {
            "entering" => Some(Moment::Entering),
            _ => Some(Moment::Leaving),
        }
    }

    fn which(&mut self) -> Option<Which> {
        let which = match self.at.token {
            Token::Word("state") => {
                self.take(Role::Word);
                let name = self.expect_name("the name of a state", FORM);
                return name.map(Which::State);
            }
            Token::NonAccepting => Which::NonAccepting,
            Token::Word("accepting") => Which::Accepting,
            Token::Word("initial") => Which::Initial,
            Token::Word(word) => return self.odd_which(word),
            _ => {
                let problem = self.expected("`state` or `accepting`").help(FORM);
                self.report(problem);
                return None;
            }
        };
        self.take(Role::Word);
        self.state_word();
        Some(which)
    }

    /// Takes the word `state`, or complains that it is missing.
    fn state_word(&mut self) {
        if self.at_word("state") {
            self.take(Role::Word);
            return;
        }
        if let Token::Word(word) = self.at.token
            && let Some(keyword) = self.meant(word, &["state"])
        {
            self.report_misspelt(keyword);
            self.take(Role::Word);
            return;
        }
        let problem = self.expected("`state`").help(FORM);
        self.report(problem);
    }

    /// A word in the place of `state` or `accepting`.
    fn odd_which(&mut self, word: &str) -> Option<Which> {
        if matches!(word, "nonaccepting" | "non_accepting" | "rejecting" | "bad" | "error" | "violating") {
            self.report_misspelt("non-accepting");
            self.take(Role::Word);
            self.state_word();
            return Some(Which::NonAccepting);
        }
        match self.meant(word, &["state", "accepting", "initial"]) {
            Some("state") => {
                self.report_misspelt("state");
                self.take(Role::Word);
                self.take_name(Role::Word).map(Which::State)
            }
            Some(keyword) => {
                self.report_misspelt(keyword);
                self.take(Role::Word);
                self.state_word();
                Some(if keyword == "initial" { Which::Initial } else { Which::Accepting })
            }
            None => {
                let problem = self.expected("`state`").help(format!("write `state {word}`"));
                self.report(problem);
                self.take_name(Role::Word).map(Which::State)
            }
        }
    }

    /// Reads `of PROPERTY`, if it is there.
    fn of_property(&mut self) -> Option<Name> {
        let Token::Word(word) = self.at.token else { return None };
        if word != "of" {
            let meant = self.meant(word, &["of"]).is_some();
            let help = match meant {
                true => "did you mean `of`?",
                false => "what to do stands in `{ … }`; `of NAME` names the property",
            };
            let problem = self.expected("`{`");
            self.report(problem.help(help));
            if !meant {
                return None;
            }
        }
        self.take(Role::Word);
        if let Token::Quoted(text) = self.at.token {
            return Some(Name { text: text.to_owned(), span: self.take(Role::Word) });
        }
        self.expect_name("the name of a property", "write `of` and the name of the property's file")
    }
}
