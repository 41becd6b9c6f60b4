//! `step`, `select`, `back`, `forward`, `jump`, `restart`, `name`.

use super::dialect::Dialect;
use super::journey::Journey;
use invigil_explore::debugger::Act;
use invigil_expr::diag::nearest;
use invigil_semantics::{Describe, Evaluate, Semantics};

type Said = Result<String, String>;

impl<S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'_, S, D> {
    /// Does an action, by its number or the beginning of its name.
    pub(super) fn step_command(&mut self, rest: &str) -> Said {
        let Some(current) = &self.at.current else {
            return Err("there are several outcomes: `select` one first, or go `back`".to_owned());
        };
        let actions: Vec<S::Action> = self.subject.actions(current).into_iter().collect();
        let action = match (&actions[..], rest) {
            ([], _) => return Err("nothing can happen here: go `back`, or `jump`".to_owned()),
            ([only], "") => only,
            (_, "") => {
                return Err(format!(
                    "say which of the {} actions\n{}",
                    actions.len(),
                    self.next(12).trim_end()
                ));
            }
            _ => &actions[self.chosen(&actions, rest)?],
        };
        let action = action.clone();
        if !self.act(&Act::Step(action.clone())) {
            return Err(format!("{} blocks: it has no outcome here", self.action(&action)));
        }
        if let [only] = &self.at.options[..] {
            let only = only.clone();
            self.act(&Act::Select(only));
        }
        Ok(self.here())
    }

    /// The place in a list of actions of the one that is meant.
    fn chosen(&self, actions: &[S::Action], word: &str) -> Result<usize, String> {
        if let Ok(number) = word.parse::<usize>() {
            return match number.checked_sub(1).filter(|at| *at < actions.len()) {
                Some(at) => Ok(at),
                None => Err(format!("there is no action {number}: they go from 1 to {}", actions.len())),
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
            [..] => Err(format!("`{word}` may be any of {} actions: give a number", matching.len())),
        }
    }

    /// Selects one of several outcomes.
    pub(super) fn select_command(&mut self, rest: &str) -> Said {
        let count = self.at.options.len();
        if count == 0 {
            return Err("there is nothing to select: `step` first".to_owned());
        }
        let number = rest.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(option) = number.and_then(|at| self.at.options.get(at)).cloned() else {
            return Err(format!("say which: a number from 1 to {count}"));
        };
        self.act(&Act::Select(option));
        Ok(self.here())
    }

    /// Goes back by some steps.
    pub(super) fn back_command(&mut self, rest: &str) -> Said {
        let mut count = count(rest)?;
        let Some(mut place) = self.at.history.at() else { return Err("this is the beginning".to_owned()) };
        // While outcomes are on offer, the step is not complete, and taking it back is one step.
        if self.at.current.is_none() {
            if self.at.from.is_none() {
                return Err("this is the beginning; `jump` goes to what was seen".to_owned());
            }
            count -= 1;
        }
        let was = self.place();
        for _ in 0..count {
            match self.at.history.parent(place) {
                Some(parent) => place = parent,
                None if was == Some(place) => return Err("this is the beginning".to_owned()),
                None => break,
            }
        }
        self.jump_to(place)
    }

    /// Goes on by some steps, the way one went before.
    pub(super) fn forward_command(&mut self, rest: &str) -> Said {
        let count = count(rest)?;
        let Some(from) = self.place() else { return Err("`select` first".to_owned()) };
        let mut place = from;
        for _ in 0..count {
            let children = self.at.history.children(Some(place));
            match (self.onwards.get(&place), children) {
                (Some(next), _) | (None, [next, ..]) => place = *next,
                (None, []) if place == from => {
                    return Err("nothing was seen after this: `step` or `run`".to_owned());
                }
                (None, []) => break,
            }
        }
        self.jump_to(place)
    }

    /// Goes to what was seen before.
    pub(super) fn jump_command(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return Err("say where to: `tree` shows the places".to_owned());
        }
        let place = self.place_called(rest)?;
        self.jump_to(place)
    }

    fn jump_to(&mut self, place: usize) -> Said {
        self.act(&Act::Jump(place));
        Ok(self.here())
    }

    /// Starts again; what was seen stays in the tree.
    pub(super) fn restart_command(&mut self) -> Said {
        let begin = self.debugger.begin();
        self.at = invigil_explore::debugger::Debugging { history: self.at.history.clone(), ..begin };
        self.start();
        Ok(self.here())
    }

    /// Where there is only one way to start, starts.
    pub(super) fn start(&mut self) {
        if let [only] = &self.at.options[..] {
            let only = only.clone();
            self.act(&Act::Select(only));
        }
    }

    /// Gives the current place a name.
    pub(super) fn name_command(&mut self, rest: &str) -> Said {
        let Some(place) = self.place() else { return Err("`select` first".to_owned()) };
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if rest.is_empty() || !rest.chars().all(is_word) || rest.chars().all(|c| c.is_ascii_digit()) {
            return Err("say a name of letters, digits, `-` and `_`".to_owned());
        }
        self.names.insert(rest.to_owned(), place);
        Ok(format!("#{place} is \"{rest}\"\n"))
    }
}

/// How often; once if nothing is said.
fn count(rest: &str) -> Result<usize, String> {
    match rest {
        "" => Ok(1),
        word => word
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| format!("`{word}` is not a number of steps")),
    }
}
