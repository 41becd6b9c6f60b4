//! `run`: to a breakpoint, or to many.

use super::dialect::Dialect;
use super::journey::{Break, Journey};
use crate::bell::Bell;
use invigil_check::report::{Paint, grouped};
use invigil_explore::finder::{Execution, Finder, Found, Witness};
use invigil_explore::{Incomplete, Limits, Pulse, Totals};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

type Said = Result<String, String>;

/// How many witnesses `run all` gives at most, and how many lines are shown of anything long.
const MOST: usize = 1000;
const LINES: usize = 20;

/// Stops a search when the bell rings; on a terminal it tells how far the search is.
struct Listening<'a> {
    bell: &'a Bell,
    is_live: bool,
    has_told: AtomicBool,
}

impl Pulse for Listening<'_> {
    fn beat(&self, totals: &Totals) {
        // Short searches are over before anybody reads.
        if self.is_live && totals.states > 50_000 {
            self.has_told.store(true, Ordering::Relaxed);
            let states = grouped(totals.states);
            // A line that cannot be shown is not worth ending a search.
            let _ = write!(std::io::stderr(), "\r\x1b[K{states} configurations, depth {}", totals.depth);
        }
    }

    fn is_stopped(&self) -> bool {
        self.bell.was_rung()
    }
}

impl<S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'_, S, D> {
    /// Runs to the nearest breakpoint, or finds several ways to one.
    pub(super) fn run_command(&mut self, rest: &str) -> Said {
        if self.breaks.is_empty() {
            return Err("there is nothing to run to: set a breakpoint with `break`".to_owned());
        }
        let most = match rest {
            "" => None,
            "all" => Some(MOST),
            word => match word.parse::<usize>().ok().filter(|most| *most > 0) {
                Some(most) => Some(most.min(MOST)),
                None => return Err(format!("`{word}` is not a number of witnesses, nor `all`")),
            },
        };
        let found = self.search(most.unwrap_or(1));
        match (most, &found.witnesses[..]) {
            (_, []) => Ok(self.nothing_found(&found)),
            (None, [first, ..]) => Ok(self.went(first, &found)),
            (Some(_), all) => Ok(self.universes(all, &found)),
        }
    }

    fn search(&self, most: usize) -> Found<S::Config, S::Action> {
        let has_told = AtomicBool::new(false);
        let listening = Listening { bell: &self.bell, is_live: self.is_live, has_told };
        // Who stands on a breakpoint wants to go on to the next.
        let passes_starts = self.at.current.is_some();
        let finder = Finder { most, pulse: &listening, passes_starts, ..self.debugger.finder() };
        let found = self.bell.running(|| self.debugger.find(&self.at, &finder));
        if listening.has_told.load(Ordering::Relaxed) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        found
    }

    /// Goes where a witness leads and tells the way.
    fn went(
        &mut self,
        witness: &Witness<S::Config, S::Action>,
        found: &Found<S::Config, S::Action>,
    ) -> String {
        let execution = &witness.execution;
        let was_selecting = self.at.current.is_none();
        self.follow(execution);
        let path = self.place().map_or(Vec::new(), |place| self.at.history.path(place));
        let shown = execution.len() + usize::from(was_selecting);
        let way = &path[path.len().saturating_sub(shown)..];
        let mut out = String::new();
        self.steps_told(way, &mut out);
        self.watched(&mut out);
        let hit = self.style.paint(Paint::Good, &self.hits_told(&witness.hits));
        out.push_str(&format!("{hit} after {}; {}\n", steps(execution.len()), self.looked_at(found)));
        out.push_str(&self.remarks(witness, &path));
        out.push_str(&self.missed(found));
        out + &self.next(12)
    }

    /// What else there is to say of a witness: what it repeats, or why a condition stopped it.
    fn remarks(&self, witness: &Witness<S::Config, S::Action>, path: &[usize]) -> String {
        let execution = &witness.execution;
        let mut out = forever(execution, path);
        let before = execution.len().checked_sub(1).and_then(|before| execution.config(before));
        let step = match (before, execution.steps.last()) {
            (Some(before), Some((action, target))) => Step::taken(before, action, target),
            _ => Step::initial(&execution.start),
        };
        for hit in &witness.hits {
            let fault = self.debugger.stops.get(*hit).and_then(|stop| stop.fault(self.subject, step));
            if let (Some(fault), Some(one)) = (fault, self.breaks.get(*hit)) {
                out.push_str(&format!("breakpoint {} cannot be evaluated here: {fault}\n", one.number));
            }
        }
        out
    }

    /// Takes all witnesses into the tree and stays where one is.
    fn universes(
        &mut self,
        witnesses: &[Witness<S::Config, S::Action>],
        found: &Found<S::Config, S::Action>,
    ) -> String {
        let mut out = match witnesses.len() {
            1 => format!("one witness; {}\n", self.looked_at(found)),
            count => format!("{count} witnesses, each a universe; {}\n", self.looked_at(found)),
        };
        let here = self.at.clone();
        for (at, witness) in witnesses.iter().enumerate() {
            self.at.current = here.current.clone();
            self.at.options = here.options.clone();
            self.at.from = here.from.clone();
            self.return_to(here.history.at());
            self.at = self.debugger.follow(&self.at, &witness.execution);
            let end = self.place().unwrap_or_default();
            if at < LINES {
                let last = witness.execution.steps.last();
                let last = last.map_or_else(|| "start".to_owned(), |(action, _)| self.action(action));
                let (steps, hits) = (steps(witness.execution.len()), self.hits_told(&witness.hits));
                let repeats = if witness.execution.back.is_some() { ", repeating for ever" } else { "" };
                let line = format!("  #{end:<4} {steps:<9} {last}: {hits}{repeats}\n");
                out.push_str(&line);
            }
        }
        self.at = invigil_explore::debugger::Debugging { history: self.at.history.clone(), ..here.clone() };
        self.return_to(here.history.at());
        if witnesses.len() > LINES {
            out.push_str(&format!("  … {} more: `tree` shows all\n", witnesses.len() - LINES));
        }
        out.push_str(&self.missed(found));
        out + "  `jump #N` goes to one\n"
    }

    /// The tree is again as if one were at that place.
    fn return_to(&mut self, place: Option<usize>) {
        if let Some(place) = place {
            use invigil_explore::debugger::History;
            self.at.history.jump(place);
        }
    }

    /// The steps to some places; of many, the first and the last.
    pub(super) fn steps_told(&self, way: &[usize], out: &mut String) {
        let is_long = way.len() > 2 * LINES;
        let (first, last) = if is_long { (&way[..LINES], &way[way.len() - LINES..]) } else { (way, &[][..]) };
        for place in first {
            self.step_lines(*place, out);
        }
        if is_long {
            out.push_str(&format!("      … {} steps: `path all` shows them\n", way.len() - 2 * LINES));
        }
        for place in last {
            self.step_lines(*place, out);
        }
    }

    fn hits_told(&self, hits: &[usize]) -> String {
        let told = |one: &Break| format!("breakpoint {} ({})", one.number, one.text);
        let hits: Vec<String> = hits.iter().filter_map(|hit| self.breaks.get(*hit)).map(told).collect();
        hits.join(" and ")
    }

    fn looked_at(&self, found: &Found<S::Config, S::Action>) -> String {
        match found.totals.states {
            1 => "one configuration was looked at".to_owned(),
            states => format!("{} configurations were looked at", grouped(states)),
        }
    }

    fn nothing_found(&self, found: &Found<S::Config, S::Action>) -> String {
        let looked_at = self.looked_at(found);
        let mut out = match found.incomplete {
            None if found.is_all() => {
                let here = self.stands_on();
                let which = if here.is_empty() { "no breakpoint" } else { "none" };
                format!("{here}{which} can be reached from here; {looked_at}, which is all\n")
            }
            None => format!("no breakpoint was found; {looked_at}\n"),
            Some(why) => {
                let why = match why {
                    Incomplete::States => "the limit of configurations was reached: `limit states N` sets it",
                    Incomplete::Memory => "the limit of memory was reached",
                    Incomplete::Time => "the limit of time was reached: `limit time SECONDS` sets it",
                    Incomplete::Depth => "it was looked no deeper than the limit: `limit depth N` sets it",
                    Incomplete::Stopped => "the search was interrupted",
                    Incomplete::Failed => "the subject did not answer",
                    Incomplete::Found => "the search ended",
                };
                format!("no breakpoint was found; {looked_at}, and there are more: {why}\n")
            }
        };
        if let Some(failed) = &found.failed {
            out.push_str(&format!(
                "a condition could not be evaluated somewhere, and counted as false: {failed}\n"
            ));
        }
        out + &self.missed(found)
    }

    /// The breakpoints that are hit right here, which a run passes.
    fn stands_on(&self) -> String {
        let finder =
            Finder { limits: Limits { depth: Some(0), ..Limits::default() }, ..self.debugger.finder() };
        let found = self.debugger.find(&self.at, &finder);
        let here = found.witnesses.iter().find(|witness| witness.execution.is_empty());
        here.filter(|witness| witness.execution.back.is_none())
            .map_or_else(String::new, |witness| format!("you stand on {}; ", self.hits_told(&witness.hits)))
    }

    fn missed(&self, found: &Found<S::Config, S::Action>) -> String {
        if found.skipped == 0 {
            return String::new();
        }
        let by = self.reduction.as_deref().unwrap_or_default();
        let told = format!(
            "reduced by `{by}`: {} were skipped as like others, so witnesses may have been missed",
            configurations(found.skipped)
        );
        format!("{}\n", self.style.paint(Paint::Open, &told))
    }
}

/// What an infinite execution repeats; `path` has its places in the tree.
pub(super) fn forever<C, A>(execution: &Execution<C, A>, path: &[usize]) -> String {
    let Some(back) = execution.back else { return String::new() };
    let end = path.last().copied().unwrap_or_default();
    if back == execution.len() {
        return format!("it stays in #{end} for ever: nothing can happen there\n");
    }
    // The path may begin long before the execution that was found.
    let first = path.len().checked_sub(execution.len() + 1).and_then(|start| path.get(start + back));
    let first = first.copied().unwrap_or_default();
    format!("from #{first} to #{end} it repeats for ever: both are the same configuration\n")
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

fn configurations(count: u64) -> String {
    if count == 1 { "1 configuration".to_owned() } else { format!("{} configurations", grouped(count)) }
}
