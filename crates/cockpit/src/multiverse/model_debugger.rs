//! The state of the model debugger.

use super::repl::ReplConfig;
use super::subject_syntax::{StepEvaluator, SubjectSyntax};
use crate::interrupt_handle::InterruptHandle;
use invigil_check::report::Style;
use invigil_explore::breakpoint_search::Execution;
use invigil_explore::debugger::{DebugAction, DebugConfig, Debugger, History, Multiverse};
use invigil_semantics::{Describe, Evaluate, Language, Semantics, Step, StepRef};
use std::collections::BTreeMap;

pub(super) type Tree<S> = Multiverse<<S as Language>::Config, <S as Language>::Action>;
pub(super) type TreeDebugConfig<S> = DebugConfig<<S as Language>::Config, <S as Language>::Action, Tree<S>>;

/// A subject under the debugger, and the state of the command interpreter.
pub(super) struct ModelDebugger<'a, S: Semantics + Evaluate, D> {
    pub(super) name: String,
    pub(super) subject: &'a S,
    pub(super) syntax: &'a D,
    pub(super) style: Style,
    pub(super) interrupt: InterruptHandle,
    /// Whether to show the progress of a search.
    pub(super) shows_progress: bool,
    pub(super) debugger: Debugger<'a, S, Tree<S>>,
    /// The current configuration of the debugger, with the tree.
    pub(super) at: TreeDebugConfig<S>,
    /// The breakpoints as the user wrote them, in the order of the debugger's.
    pub(super) entries: Vec<BreakpointEntry>,
    pub(super) next_number: usize,
    pub(super) watches: Vec<DisplayExpr<'a, S>>,
    /// The expressions of the reduction, as the user wrote them.
    pub(super) reduction: Option<String>,
    /// Named nodes.
    pub(super) names: BTreeMap<String, usize>,
    /// For each node, the child that was visited last. `forward` follows it.
    pub(super) next_visited: BTreeMap<usize, usize>,
    pub(super) has_quit: bool,
    /// Line that an empty line executes.
    pub(super) repeat: Option<&'static str>,
}

/// A breakpoint as the user wrote it.
pub(super) struct BreakpointEntry {
    pub(super) number: usize,
    pub(super) text: String,
}

/// An expression that is shown whenever its value changes.
pub(super) struct DisplayExpr<'a, S: Semantics + Evaluate> {
    pub(super) text: String,
    pub(super) value: StepEvaluator<'a, S>,
    pub(super) last: Option<String>,
}

impl<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'a, S, D> {
    /// Creates a debugger at the initial configurations of the subject.
    pub(super) fn new(
        subject: &'a S,
        syntax: &'a D,
        config: ReplConfig,
        shows_progress: bool,
    ) -> ModelDebugger<'a, S, D> {
        let mut debugger = Debugger::new(subject);
        debugger.limits = config.limits;
        let at = debugger.initial_config();
        ModelDebugger {
            name: config.name,
            subject,
            syntax,
            style: config.style,
            interrupt: config.interrupt,
            shows_progress,
            debugger,
            at,
            entries: Vec::new(),
            next_number: 1,
            watches: Vec::new(),
            reduction: None,
            names: BTreeMap::new(),
            next_visited: BTreeMap::new(),
            has_quit: false,
            repeat: None,
        }
    }

    /// The current node of the tree; `None` while an outcome must be selected.
    pub(super) fn current_node(&self) -> Option<usize> {
        self.at.current.as_ref().and(self.at.history.at())
    }

    /// Executes a debugger action. Returns whether it was possible.
    pub(super) fn act(&mut self, act: &DebugAction<S::Config, S::Action>) -> bool {
        let next = self.debugger.act(&self.at, act);
        let is_done = next.is_some();
        if let Some(next) = next {
            self.set_configuration(next);
        }
        is_done
    }

    /// Moves to a configuration of the debugger, and records the path for `forward`.
    pub(super) fn set_configuration(&mut self, at: TreeDebugConfig<S>) {
        self.at = at;
        if let Some(node) = self.current_node() {
            for pair in self.at.history.path(node).windows(2) {
                self.next_visited.insert(pair[0], pair[1]);
            }
        }
    }

    /// Adds an execution to the tree and goes to its end.
    pub(super) fn follow(&mut self, execution: &Execution<S::Config, S::Action>) {
        self.set_configuration(self.debugger.follow(&self.at, execution));
    }

    /// The step that leads to a node.
    pub(super) fn step(&self, node: usize) -> Option<StepRef<'_, S>> {
        let visit = self.at.history.visit(node)?;
        let before = self.at.history.parent(node).and_then(|parent| self.at.history.config(parent));
        Some(match (before, &visit.by) {
            (Some(before), Some(by)) => Step::by_action(before, by, &visit.config),
            _ => Step::initial(&visit.config),
        })
    }

    /// Finds a node by number (`#3` or `3`) or name.
    pub(super) fn find_node(&self, word: &str) -> Result<usize, String> {
        if let Some(node) = self.names.get(word) {
            return Ok(*node);
        }
        let number = word.strip_prefix('#').unwrap_or(word);
        let count = self.at.history.len();
        match number.parse::<usize>() {
            Ok(node) if node < count => Ok(node),
            Ok(_) if count == 0 => {
                Err("no configuration has been visited yet; `select` an initial one".to_owned())
            }
            Ok(node) => Err(format!("no node #{node}: the last one is #{}", count - 1)),
            Err(_) => Err(format!("no node `{word}`: expected a number such as #0, or a name")),
        }
    }

    /// The names of a node.
    pub(super) fn names_of(&self, node: usize) -> impl Iterator<Item = &str> {
        self.names.iter().filter(move |(_, named)| **named == node).map(|(name, _)| name.as_str())
    }

    /// Whether `quit` was executed or an exit was requested.
    pub(super) fn has_quit(&self) -> bool {
        self.has_quit || self.interrupt.is_exit_requested()
    }
}
