//! `break`, `delete`, `reduce`, `limit`.

use super::dialect::Dialect;
use super::journey::{Break, Journey};
use invigil_check::report::grouped;
use invigil_explore::Limits;
use invigil_explore::finder::Stop;
use invigil_explore::finder::pattern::{Anchor, Letter, compile};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};
use std::time::Duration;

type Said = Result<String, String>;

impl<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    /// Sets a breakpoint, or lists them.
    pub(super) fn break_command(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return Ok(self.breaks_listed());
        }
        let stop = self.stop(rest)?;
        let number = self.next_break;
        self.next_break += 1;
        self.debugger.stops.push(stop);
        self.breaks.push(Break { number, text: rest.to_owned() });
        Ok(format!("breakpoint {number}: {rest}\n"))
    }

    fn stop(&self, text: &str) -> Result<Stop<'a, S>, String> {
        let dialect = self.dialect;
        let (kind, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let pattern = |text: &str, anchor| {
            let read = |letter: Letter<'_>| match letter {
                Letter::Name(name) => dialect.named(name),
                Letter::Predicate(text) => dialect.predicate(text),
            };
            compile(text, anchor, read).map(Stop::accepted)
        };
        match kind {
            "deadlock" if rest.is_empty() => Ok(Stop::stuck()),
            "on" => dialect.named(rest).map(Stop::when),
            "ltl" => dialect.formula(rest).map(Stop::accepted),
            "regex" => match rest.strip_prefix('^') {
                Some(rest) => pattern(rest, Anchor::Start),
                None => pattern(rest, Anchor::Anywhere),
            },
            "prop" => dialect.property(rest),
            _ => dialect.predicate(text).map(Stop::when),
        }
    }

    /// Takes breakpoints away.
    pub(super) fn delete_command(&mut self, rest: &str) -> Said {
        if rest == "all" {
            self.breaks.clear();
            self.debugger.stops.clear();
            return Ok("no breakpoints\n".to_owned());
        }
        let number = rest.trim_start_matches('#').parse::<usize>().ok();
        let Some(at) = self.breaks.iter().position(|one| Some(one.number) == number) else {
            return Err(format!("say which breakpoint, or `all`\n{}", self.breaks_listed().trim_end()));
        };
        self.breaks.remove(at);
        self.debugger.stops.remove(at);
        Ok(String::new())
    }

    /// Says what is alike for a run.
    pub(super) fn reduce_command(&mut self, rest: &str) -> Said {
        match rest {
            "" => Ok(match &self.reduction {
                Some(text) => format!("configurations with the same `{text}` are alike for `run`\n"),
                None => "no reduction: `run` is exact\n".to_owned(),
            }),
            "off" => {
                (self.reduction, self.debugger.reduction) = (None, None);
                Ok("no reduction: `run` is exact\n".to_owned())
            }
            _ => {
                let dialect = self.dialect;
                let parts = rest.split(',').map(|part| dialect.value(part.trim()));
                let parts = parts.collect::<Result<Vec<_>, String>>()?;
                // One of which some part has no value is like no other.
                self.debugger.reduction = Some(Box::new(move |config| {
                    let values = parts.iter().map(|value| value(Step::initial(config)));
                    Some(values.collect::<Result<Vec<_>, String>>().ok()?.join("\n"))
                }));
                self.reduction = Some(rest.to_owned());
                Ok(format!(
                    "configurations with the same `{rest}` are alike for `run`; it may miss breakpoints\n"
                ))
            }
        }
    }

    /// Says how much a run may take.
    pub(super) fn limit_command(&mut self, rest: &str) -> Said {
        let limits = &mut self.debugger.limits;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = words.get(1).and_then(|word| word.replace(['_', ','], "").parse::<u64>().ok());
        match (&words[..], number) {
            ([], _) => {}
            (["off"], _) => *limits = Limits::default(),
            (["states", _], Some(most)) => limits.states = Some(most),
            (["depth", _], Some(most)) => limits.depth = Some(most),
            (["time", _], Some(seconds)) => limits.time = Some(Duration::from_secs(seconds)),
            _ => {
                return Err(
                    "say `limit states N`, `limit depth N`, `limit time SECONDS` or `limit off`".to_owned()
                );
            }
        }
        Ok(format!("a run may take {}\n", self.limits_told()))
    }

    pub(super) fn limits_told(&self) -> String {
        let limits = &self.debugger.limits;
        let mut told = Vec::new();
        told.extend(limits.states.map(|most| format!("{} configurations", grouped(most))));
        told.extend(limits.depth.map(|most| format!("{} steps", grouped(most))));
        told.extend(limits.time.map(|most| format!("{} seconds", most.as_secs())));
        if told.is_empty() {
            "as much as it needs".to_owned()
        } else {
            format!("at most {}", told.join(", "))
        }
    }

    pub(super) fn breaks_listed(&self) -> String {
        if self.breaks.is_empty() {
            return "no breakpoints: `break` sets one\n".to_owned();
        }
        self.breaks.iter().map(|one| format!("{:>4}  {}\n", one.number, one.text)).collect()
    }
}
