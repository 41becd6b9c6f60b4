//! A person's way through the behaviours of a subject.

use super::dialect::{Dialect, Value};
use super::program::Setting;
use crate::bell::Bell;
use invigil_check::report::Style;
use invigil_explore::debugger::{Act, Debugger, Debugging, History, Multiverse};
use invigil_explore::finder::Execution;
use invigil_semantics::{Describe, Evaluate, Language, Semantics, Step, StepRef};
use std::collections::BTreeMap;

pub(super) type Tree<S> = Multiverse<<S as Language>::Config, <S as Language>::Action>;
pub(super) type At<S> = Debugging<<S as Language>::Config, <S as Language>::Action, Tree<S>>;

/// A subject under the debugger, and what is remembered from one command to the next.
pub(super) struct Journey<'a, S: Semantics + Evaluate, D> {
    pub(super) name: String,
    pub(super) subject: &'a S,
    pub(super) dialect: &'a D,
    pub(super) style: Style,
    pub(super) bell: Bell,
    /// Whether to tell how a search is going.
    pub(super) is_live: bool,
    pub(super) debugger: Debugger<'a, S, Tree<S>>,
    pub(super) at: At<S>,
    /// The breakpoints as they were written, in the order of the debugger's.
    pub(super) breaks: Vec<Break>,
    pub(super) next_break: usize,
    pub(super) watches: Vec<Watch<'a, S>>,
    /// What is alike for a run, as it was written.
    pub(super) reduction: Option<String>,
    /// Places with names.
    pub(super) names: BTreeMap<String, usize>,
    /// For each place, the one to which one went from there last.
    pub(super) onwards: BTreeMap<usize, usize>,
    pub(super) is_over: bool,
    /// What an empty line does.
    pub(super) repeat: Option<&'static str>,
}

/// A breakpoint as it was written.
pub(super) struct Break {
    pub(super) number: usize,
    pub(super) text: String,
}

/// Something that is shown whenever it changes.
pub(super) struct Watch<'a, S: Semantics + Evaluate> {
    pub(super) text: String,
    pub(super) value: Value<'a, S>,
    pub(super) last: Option<String>,
}

impl<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'a, S, D> {
    /// Begins where the subject begins.
    pub(super) fn new(subject: &'a S, dialect: &'a D, setting: Setting, is_live: bool) -> Journey<'a, S, D> {
        let mut debugger = Debugger::new(subject);
        debugger.limits = setting.limits;
        let at = debugger.begin();
        Journey {
            name: setting.name,
            subject,
            dialect,
            style: setting.style,
            bell: setting.bell,
            is_live,
            debugger,
            at,
            breaks: Vec::new(),
            next_break: 1,
            watches: Vec::new(),
            reduction: None,
            names: BTreeMap::new(),
            onwards: BTreeMap::new(),
            is_over: false,
            repeat: None,
        }
    }

    /// Where one is in the tree; none while one has to select.
    pub(super) fn place(&self) -> Option<usize> {
        self.at.current.as_ref().and(self.at.history.at())
    }

    /// Does something with the debugger; says whether it could be done.
    pub(super) fn act(&mut self, act: &Act<S::Config, S::Action>) -> bool {
        let next = self.debugger.act(&self.at, act);
        let is_done = next.is_some();
        if let Some(next) = next {
            self.arrive(next);
        }
        is_done
    }

    /// Is somewhere else from now on; remembers which way one went.
    pub(super) fn arrive(&mut self, at: At<S>) {
        self.at = at;
        if let Some(place) = self.place() {
            for pair in self.at.history.path(place).windows(2) {
                self.onwards.insert(pair[0], pair[1]);
            }
        }
    }

    /// Takes an execution into the tree of universes, and goes to its end.
    pub(super) fn follow(&mut self, execution: &Execution<S::Config, S::Action>) {
        self.arrive(self.debugger.follow(&self.at, execution));
    }

    /// The step by which a place was reached.
    pub(super) fn step(&self, place: usize) -> Option<StepRef<'_, S>> {
        let visit = self.at.history.visit(place)?;
        let before = self.at.history.parent(place).and_then(|parent| self.at.history.config(parent));
        Some(match (before, &visit.by) {
            (Some(before), Some(by)) => Step::taken(before, by, &visit.config),
            _ => Step::initial(&visit.config),
        })
    }

    /// A place as a person writes it: `#3`, `3`, or its name.
    pub(super) fn place_called(&self, word: &str) -> Result<usize, String> {
        if let Some(place) = self.names.get(word) {
            return Ok(*place);
        }
        let number = word.strip_prefix('#').unwrap_or(word);
        let known = self.at.history.len();
        match number.parse::<usize>() {
            Ok(place) if place < known => Ok(place),
            Ok(_) if known == 0 => Err("nothing was seen yet: `select` where to start".to_owned()),
            Ok(place) => Err(format!("there is no #{place}: places go up to #{}", known - 1)),
            Err(_) => Err(format!("there is no place `{word}`: give a number such as #0, or a name")),
        }
    }

    /// The names of a place.
    pub(super) fn names_of(&self, place: usize) -> impl Iterator<Item = &str> {
        self.names.iter().filter(move |(_, named)| **named == place).map(|(name, _)| name.as_str())
    }

    /// Whether `quit` was said.
    pub(super) fn is_over(&self) -> bool {
        self.is_over || self.bell.is_leaving()
    }
}
