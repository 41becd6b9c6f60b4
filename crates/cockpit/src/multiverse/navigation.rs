//! The commands `step`, `select`, `back`, `forward`, `jump`, `restart` and `name`.

use super::display::SHORT_LIST;
use super::model_debugger::ModelDebugger;
use super::subject_syntax::SubjectSyntax;
use invigil_explore::debugger::DebugAction;
use invigil_expr::diag::nearest;
use invigil_semantics::{Describe, Evaluate, Semantics};

type CommandResult = Result<String, String>;

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Executes an action, given by its number or a part of its name.
    pub(super) fn step_command(&mut self, rest: &str) -> CommandResult {
        let Some(current) = &self.at.current else {
            return Err("there are several outcomes: `select` one, or go `back`".to_owned());
        };
        let actions: Vec<S::Action> = self.subject.actions(current).into_iter().collect();
        let action = match (&actions[..], rest) {
            ([], _) => return Err("no action is enabled here: go `back`, or `jump`".to_owned()),
            ([only], "") => only,
            (_, "") => {
                return Err(format!(
                    "missing action; {} are enabled\n{}",
                    actions.len(),
                    self.render_choices(SHORT_LIST).trim_end()
                ));
            }
            _ => &actions[self.find_action(&actions, rest)?],
        };
        let action = action.clone();
        if !self.act(&DebugAction::Step(action.clone())) {
            return Err(format!("{} has no outcome here", self.action(&action)));
        }
        if let [only] = &self.at.options[..] {
            let only = only.clone();
            self.act(&DebugAction::Select(only));
        }
        Ok(self.render_current())
    }

    /// Finds the index of the action that the user means.
    fn find_action(&self, actions: &[S::Action], word: &str) -> Result<usize, String> {
        if let Ok(number) = word.parse::<usize>() {
            return match number.checked_sub(1).filter(|at| *at < actions.len()) {
                Some(at) => Ok(at),
                None => Err(format!("no action {number}: the last one is {}", actions.len())),
            };
        }
        let names: Vec<String> = actions.iter().map(|action| self.action(action)).collect();
        if let Some(at) = names.iter().position(|name| name == word) {
            return Ok(at);
        }
        let matching: Vec<usize> = (0..names.len()).filter(|at| names[*at].contains(word)).collect();
        match matching[..] {
            [at] => Ok(at),
            [] => Err(match nearest(word, names.iter().map(String::as_str)) {
                Some(near) => format!("no action `{word}` is enabled: did you mean `{near}`?"),
                None => format!("no action `{word}` is enabled"),
            }),
            [..] => Err(format!("`{word}` matches {} actions: use a number", matching.len())),
        }
    }

    /// Selects one of several outcomes.
    pub(super) fn select_command(&mut self, rest: &str) -> CommandResult {
        let count = self.at.options.len();
        if count == 0 {
            return Err("nothing to select: `step` first".to_owned());
        }
        let number = rest.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(option) = number.and_then(|at| self.at.options.get(at)).cloned() else {
            return Err(format!("expected a number from 1 to {count}"));
        };
        self.act(&DebugAction::Select(option));
        Ok(self.render_current())
    }

    /// Goes back by some steps.
    pub(super) fn back_command(&mut self, rest: &str) -> CommandResult {
        let mut count = count(rest)?;
        let Some(mut node) = self.at.history.at() else { return Err("already at the start".to_owned()) };
        // While an outcome must be selected, the step is incomplete; undoing it counts as one step.
        if self.at.current.is_none() {
            if self.at.from.is_none() {
                return Err("already at the start; `jump` goes to visited nodes".to_owned());
            }
            count -= 1;
        }
        let before = self.current_node();
        for _ in 0..count {
            match self.at.history.parent(node) {
                Some(parent) => node = parent,
                None if before == Some(node) => return Err("already at the start".to_owned()),
                None => break,
            }
        }
        self.jump_to(node)
    }

    /// Goes forward by some steps, along the children visited last.
    pub(super) fn forward_command(&mut self, rest: &str) -> CommandResult {
        let count = count(rest)?;
        let Some(from) = self.current_node() else { return Err("`select` first".to_owned()) };
        let mut node = from;
        for _ in 0..count {
            let children = self.at.history.children(Some(node));
            match (self.next_visited.get(&node), children) {
                (Some(next), _) | (None, [next, ..]) => node = *next,
                (None, []) if node == from => {
                    return Err("no step has been taken from here: `step` or `run`".to_owned());
                }
                (None, []) => break,
            }
        }
        self.jump_to(node)
    }

    /// Goes to a visited node.
    pub(super) fn jump_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            return Err("missing node; `tree` shows the nodes".to_owned());
        }
        let node = self.find_node(rest)?;
        self.jump_to(node)
    }

    fn jump_to(&mut self, node: usize) -> CommandResult {
        self.act(&DebugAction::Jump(node));
        Ok(self.render_current())
    }

    /// Goes back to the start; the tree is kept.
    pub(super) fn restart_command(&mut self) -> CommandResult {
        let initial = self.debugger.initial_config();
        self.at = invigil_explore::debugger::DebugConfig { history: self.at.history.clone(), ..initial };
        self.select_only_initial();
        Ok(self.render_current())
    }

    /// Selects the initial configuration if there is only one.
    pub(super) fn select_only_initial(&mut self) {
        if let [only] = &self.at.options[..] {
            let only = only.clone();
            self.act(&DebugAction::Select(only));
        }
    }

    /// Names the current node.
    pub(super) fn name_command(&mut self, rest: &str) -> CommandResult {
        let Some(node) = self.current_node() else { return Err("`select` first".to_owned()) };
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if rest.is_empty() || !rest.chars().all(is_word) || rest.chars().all(|c| c.is_ascii_digit()) {
            return Err("expected a name of letters, digits, `-` and `_`".to_owned());
        }
        self.names.insert(rest.to_owned(), node);
        Ok(format!("#{node} is \"{rest}\"\n"))
    }
}

/// Parses an optional number of steps; the default is 1.
fn count(rest: &str) -> Result<usize, String> {
    match rest {
        "" => Ok(1),
        word => word
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| format!("expected a number of steps, found `{word}`")),
    }
}
