//! The commands `break`, `delete`, `reduce` and `limit`.

use super::model_debugger::{BreakpointEntry, ModelDebugger};
use super::subject_syntax::SubjectSyntax;
use invigil_check::report::grouped;
use invigil_explore::Limits;
use invigil_explore::breakpoint_search::Breakpoint;
use invigil_explore::breakpoint_search::pattern::{Anchor, Letter, compile};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};
use std::time::Duration;

type CommandResult = Result<String, String>;

impl<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    /// Sets a breakpoint or lists them.
    pub(super) fn break_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            return Ok(self.list_breakpoints());
        }
        let breakpoint = self.parse_breakpoint(rest)?;
        let number = self.next_number;
        self.next_number += 1;
        self.debugger.breakpoints.push(breakpoint);
        self.entries.push(BreakpointEntry { number, text: rest.to_owned() });
        Ok(format!("breakpoint {number}: {rest}\n"))
    }

    fn parse_breakpoint(&self, text: &str) -> Result<Breakpoint<'a, S>, String> {
        let syntax = self.syntax;
        let (kind, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let pattern = |text: &str, anchor| {
            let parse_letter = |letter: Letter<'_>| match letter {
                Letter::Name(name) => syntax.named(name),
                Letter::Predicate(text) => syntax.predicate(text),
            };
            compile(text, anchor, parse_letter).map(Breakpoint::automaton)
        };
        match kind {
            "deadlock" if rest.is_empty() => Ok(Breakpoint::deadlock()),
            "on" => syntax.named(rest).map(Breakpoint::condition),
            "ltl" => syntax.formula(rest).map(Breakpoint::automaton),
            "regex" => match rest.strip_prefix('^') {
                Some(rest) => pattern(rest, Anchor::Start),
                None => pattern(rest, Anchor::Anywhere),
            },
            "prop" => syntax.property(rest),
            _ => syntax.predicate(text).map(Breakpoint::condition),
        }
    }

    /// Deletes breakpoints.
    pub(super) fn delete_command(&mut self, rest: &str) -> CommandResult {
        if rest == "all" {
            self.entries.clear();
            self.debugger.breakpoints.clear();
            return Ok("no breakpoints\n".to_owned());
        }
        let number = rest.trim_start_matches('#').parse::<usize>().ok();
        let Some(at) = self.entries.iter().position(|entry| Some(entry.number) == number) else {
            return Err(format!(
                "expected a breakpoint number or `all`\n{}",
                self.list_breakpoints().trim_end()
            ));
        };
        self.entries.remove(at);
        self.debugger.breakpoints.remove(at);
        Ok(String::new())
    }

    /// Sets the reduction: configurations with equal values are explored once.
    pub(super) fn reduce_command(&mut self, rest: &str) -> CommandResult {
        match rest {
            "" => Ok(match &self.reduction {
                Some(text) => format!("`run` explores one configuration per value of `{text}`\n"),
                None => "no reduction: `run` is exact\n".to_owned(),
            }),
            "off" => {
                (self.reduction, self.debugger.reduction) = (None, None);
                Ok("no reduction: `run` is exact\n".to_owned())
            }
            _ => {
                let syntax = self.syntax;
                let expressions = rest.split(',').map(|expression| syntax.value(expression.trim()));
                let expressions = expressions.collect::<Result<Vec<_>, String>>()?;
                // A configuration in which an expression has no value is never merged with another.
                self.debugger.reduction = Some(Box::new(move |config| {
                    let values = expressions.iter().map(|value| value(Step::initial(config)));
                    Some(values.collect::<Result<Vec<_>, String>>().ok()?.join("\n"))
                }));
                self.reduction = Some(rest.to_owned());
                Ok(format!(
                    "`run` explores one configuration per value of `{rest}`; it may miss breakpoints\n"
                ))
            }
        }
    }

    /// Sets the limits of a search.
    pub(super) fn limit_command(&mut self, rest: &str) -> CommandResult {
        let limits = &mut self.debugger.limits;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = words.get(1).and_then(|word| word.replace(['_', ','], "").parse::<u64>().ok());
        match (&words[..], number) {
            ([], _) => {}
            (["off"], _) => *limits = Limits::default(),
            (["states", _], Some(limit)) => limits.states = Some(limit),
            (["depth", _], Some(limit)) => limits.depth = Some(limit),
            (["time", _], Some(seconds)) => limits.time = Some(Duration::from_secs(seconds)),
            _ => {
                return Err("usage: `limit states N`, `limit depth N`, `limit time SECONDS` or `limit off`"
                    .to_owned());
            }
        }
        Ok(format!("search limits: {}\n", self.describe_limits()))
    }

    pub(super) fn describe_limits(&self) -> String {
        let limits = &self.debugger.limits;
        let mut limits_set = Vec::new();
        limits_set.extend(limits.states.map(|limit| format!("{} configurations", grouped(limit))));
        limits_set.extend(limits.depth.map(|limit| format!("{} steps", grouped(limit))));
        limits_set.extend(limits.time.map(|limit| format!("{} seconds", limit.as_secs())));
        if limits_set.is_empty() { "none".to_owned() } else { limits_set.join(", ") }
    }

    pub(super) fn list_breakpoints(&self) -> String {
        if self.entries.is_empty() {
            return "no breakpoints; `break` sets one\n".to_owned();
        }
        self.entries.iter().map(|entry| format!("{:>4}  {}\n", entry.number, entry.text)).collect()
    }
}
