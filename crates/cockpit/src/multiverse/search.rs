//! The command `run`: searches for breakpoints.

use super::display::SHORT_LIST;
use super::model_debugger::{BreakpointEntry, ModelDebugger};
use super::subject_syntax::SubjectSyntax;
use crate::interrupt_handle::InterruptHandle;
use invigil_check::report::{Paint, grouped};
use invigil_explore::breakpoint_search::{BreakpointFinder, BreakpointSearchResult, Execution, Witness};
use invigil_explore::{Incomplete, Limits, ProgressListener, Totals};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

type CommandResult = Result<String, String>;

/// Maximum number of witnesses of `run all`.
const MAX_WITNESSES: usize = 1000;
/// Maximum number of lines shown of a list of witnesses, and of each end of a long path.
const MAX_LINES: usize = 20;

/// Progress listener of a search: stops it on an interrupt, and shows its progress on a terminal.
struct SearchListener<'a> {
    interrupt: &'a InterruptHandle,
    shows_progress: bool,
    has_printed: AtomicBool,
}

impl ProgressListener for SearchListener<'_> {
    fn progress(&self, totals: &Totals) {
        // Short searches end before the progress could be read.
        if self.shows_progress && totals.states > 50_000 {
            self.has_printed.store(true, Ordering::Relaxed);
            let states = grouped(totals.states);
            // An error on standard error does not end the search.
            let _ = write!(std::io::stderr(), "\r\x1b[K{states} configurations, depth {}", totals.depth);
        }
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.was_interrupted()
    }
}

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Runs to the nearest breakpoint, or finds several witnesses.
    pub(super) fn run_command(&mut self, rest: &str) -> CommandResult {
        if self.entries.is_empty() {
            return Err("no breakpoints: set one with `break`".to_owned());
        }
        let max_witnesses = match rest {
            "" => None,
            "all" => Some(MAX_WITNESSES),
            word => match word.parse::<usize>().ok().filter(|max_witnesses| *max_witnesses > 0) {
                Some(max_witnesses) => Some(max_witnesses.min(MAX_WITNESSES)),
                None => return Err(format!("expected a number of witnesses or `all`, found `{word}`")),
            },
        };
        let result = self.search(max_witnesses.unwrap_or(1));
        match (max_witnesses, &result.witnesses[..]) {
            (_, []) => Ok(self.describe_no_hit(&result)),
            (None, [first, ..]) => Ok(self.go_to_witness(first, &result)),
            (Some(_), all) => Ok(self.add_universes(all, &result)),
        }
    }

    fn search(&self, max_witnesses: usize) -> BreakpointSearchResult<S::Config, S::Action> {
        let has_printed = AtomicBool::new(false);
        let listener =
            SearchListener { interrupt: &self.interrupt, shows_progress: self.shows_progress, has_printed };
        // A breakpoint that holds in the current configuration is skipped, so that `run` reaches the next one.
        let skips_initial_hits = self.at.current.is_some();
        let finder = BreakpointFinder {
            max_witnesses,
            listener: &listener,
            skips_initial_hits,
            ..self.debugger.finder()
        };
        let result = self.interrupt.while_running(|| self.debugger.find(&self.at, &finder));
        if listener.has_printed.load(Ordering::Relaxed) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        result
    }

    /// Goes to the end of a witness and renders its path.
    fn go_to_witness(
        &mut self,
        witness: &Witness<S::Config, S::Action>,
        result: &BreakpointSearchResult<S::Config, S::Action>,
    ) -> String {
        let execution = &witness.execution;
        let was_selecting = self.at.current.is_none();
        self.follow(execution);
        let path = self.current_node().map_or(Vec::new(), |node| self.at.history.path(node));
        let shown = execution.len() + usize::from(was_selecting);
        let new_steps = &path[path.len().saturating_sub(shown)..];
        let mut out = String::new();
        self.render_steps(new_steps, &mut out);
        self.render_changed_watches(&mut out);
        let hit = self.style.paint(Paint::Good, &self.describe_hits(&witness.hits));
        out.push_str(&format!("{hit} after {}; {}\n", steps(execution.len()), self.search_size(result)));
        out.push_str(&self.describe_witness(witness, &path));
        out.push_str(&self.describe_skipped(result));
        out + &self.render_choices(SHORT_LIST)
    }

    /// Describes the cycle of a witness, and the conditions that raised a fault.
    fn describe_witness(&self, witness: &Witness<S::Config, S::Action>, path: &[usize]) -> String {
        let execution = &witness.execution;
        let mut out = describe_cycle(execution, path);
        let before = execution.len().checked_sub(1).and_then(|before| execution.config(before));
        let step = match (before, execution.steps.last()) {
            (Some(before), Some((action, target))) => Step::by_action(before, action, target),
            _ => Step::initial(&execution.start),
        };
        for hit in &witness.hits {
            let fault = self
                .debugger
                .breakpoints
                .get(*hit)
                .and_then(|breakpoint| breakpoint.fault(self.subject, step));
            if let (Some(fault), Some(entry)) = (fault, self.entries.get(*hit)) {
                out.push_str(&format!("breakpoint {} raises a fault here: {fault}\n", entry.number));
            }
        }
        out
    }

    /// Adds all witnesses to the tree and stays at the current node.
    fn add_universes(
        &mut self,
        witnesses: &[Witness<S::Config, S::Action>],
        result: &BreakpointSearchResult<S::Config, S::Action>,
    ) -> String {
        let mut out = match witnesses.len() {
            1 => format!("1 witness; {}\n", self.search_size(result)),
            count => format!("{count} witnesses, added as universes; {}\n", self.search_size(result)),
        };
        let start = self.at.clone();
        for (at, witness) in witnesses.iter().enumerate() {
            self.at.current = start.current.clone();
            self.at.options = start.options.clone();
            self.at.from = start.from.clone();
            self.return_to(start.history.at());
            self.at = self.debugger.follow(&self.at, &witness.execution);
            let end = self.current_node().unwrap_or_default();
            if at < MAX_LINES {
                let last = witness.execution.steps.last();
                let last = last.map_or_else(|| "start".to_owned(), |(action, _)| self.action(action));
                let (steps, hits) = (steps(witness.execution.len()), self.describe_hits(&witness.hits));
                let repeats = if witness.execution.loop_back.is_some() { ", repeating forever" } else { "" };
                let line = format!("  #{end:<4} {steps:<9} {last}: {hits}{repeats}\n");
                out.push_str(&line);
            }
        }
        self.at =
            invigil_explore::debugger::DebugConfig { history: self.at.history.clone(), ..start.clone() };
        self.return_to(start.history.at());
        if witnesses.len() > MAX_LINES {
            out.push_str(&format!("  … {} more: `tree` shows all\n", witnesses.len() - MAX_LINES));
        }
        out.push_str(&self.describe_skipped(result));
        out + "  `jump #N` goes to one of them\n"
    }

    /// Moves the history back to a node without recording a path.
    fn return_to(&mut self, node: Option<usize>) {
        if let Some(node) = node {
            use invigil_explore::debugger::History;
            self.at.history.jump(node);
        }
    }

    /// Renders the steps to some nodes; of a long path, only both ends.
    pub(super) fn render_steps(&self, path: &[usize], out: &mut String) {
        let is_long = path.len() > 2 * MAX_LINES;
        let (first, last) =
            if is_long { (&path[..MAX_LINES], &path[path.len() - MAX_LINES..]) } else { (path, &[][..]) };
        for node in first {
            self.step_lines(*node, out);
        }
        if is_long {
            out.push_str(&format!("      … {} steps: `path all` shows them\n", path.len() - 2 * MAX_LINES));
        }
        for node in last {
            self.step_lines(*node, out);
        }
    }

    fn describe_hits(&self, hits: &[usize]) -> String {
        let describe = |entry: &BreakpointEntry| format!("breakpoint {} ({})", entry.number, entry.text);
        let hits: Vec<String> = hits.iter().filter_map(|hit| self.entries.get(*hit)).map(describe).collect();
        hits.join(" and ")
    }

    fn search_size(&self, result: &BreakpointSearchResult<S::Config, S::Action>) -> String {
        match result.totals.states {
            1 => "1 configuration explored".to_owned(),
            states => format!("{} configurations explored", grouped(states)),
        }
    }

    fn describe_no_hit(&self, result: &BreakpointSearchResult<S::Config, S::Action>) -> String {
        let search_size = self.search_size(result);
        let mut out = match result.incomplete {
            None if result.is_exhaustive() => {
                let current_hits = self.current_hits();
                let subject = if current_hits.is_empty() { "no breakpoint" } else { "none" };
                format!(
                    "{current_hits}{subject} can be reached from here; {search_size}, the complete state space\n"
                )
            }
            None => format!("no breakpoint found; {search_size}\n"),
            Some(why) => {
                let why = match why {
                    Incomplete::States => "limit on configurations reached (`limit states N`)",
                    Incomplete::Memory => "memory limit reached",
                    Incomplete::Time => "time limit reached (`limit time SECONDS`)",
                    Incomplete::Depth => "depth limit reached (`limit depth N`)",
                    Incomplete::Stopped => "interrupted",
                    Incomplete::Failed => "the subject failed",
                    Incomplete::Found => "the search ended",
                };
                format!("no breakpoint found; {search_size}, search incomplete: {why}\n")
            }
        };
        if let Some(failed) = &result.evaluation_error {
            out.push_str(&format!(
                "warning: a condition raised a fault and was treated as false: {failed}\n"
            ));
        }
        out + &self.describe_skipped(result)
    }

    /// Describes the breakpoints that hold in the current configuration, which `run` skips.
    fn current_hits(&self) -> String {
        let finder = BreakpointFinder {
            limits: Limits { depth: Some(0), ..Limits::default() },
            ..self.debugger.finder()
        };
        let result = self.debugger.find(&self.at, &finder);
        let empty_witness = result.witnesses.iter().find(|witness| witness.execution.is_empty());
        empty_witness
            .filter(|witness| witness.execution.loop_back.is_none())
            .map_or_else(String::new, |witness| format!("{} holds here; ", self.describe_hits(&witness.hits)))
    }

    fn describe_skipped(&self, result: &BreakpointSearchResult<S::Config, S::Action>) -> String {
        if result.skipped == 0 {
            return String::new();
        }
        let by = self.reduction.as_deref().unwrap_or_default();
        let text = format!(
            "reduction by `{by}`: {} skipped, so witnesses may be missing",
            configurations(result.skipped)
        );
        format!("{}\n", self.style.paint(Paint::Undecided, &text))
    }
}

/// Describes the cycle of an infinite execution; `path` is its path in the tree.
pub(super) fn describe_cycle<C, A>(execution: &Execution<C, A>, path: &[usize]) -> String {
    let Some(back) = execution.loop_back else { return String::new() };
    let end = path.last().copied().unwrap_or_default();
    if back == execution.len() {
        return format!("it stays in #{end} forever: no step is possible there\n");
    }
    // The path may be longer than the execution: it starts at the root.
    let first = path.len().checked_sub(execution.len() + 1).and_then(|start| path.get(start + back));
    let first = first.copied().unwrap_or_default();
    format!("the steps from #{first} to #{end} repeat forever: both are the same configuration\n")
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

fn configurations(count: u64) -> String {
    if count == 1 { "1 configuration".to_owned() } else { format!("{} configurations", grouped(count)) }
}
