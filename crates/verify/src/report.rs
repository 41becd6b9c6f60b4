//! Reports of a verification result.

use crate::execution_trace::{ExecutionEnd, ExecutionTrace};
use crate::verify::{ClaimResult, ModelError, Verdict, VerifyResult};
use invigil_check::report::{Paint, Style, count, grouped};
use invigil_explore::{Certainty, FindingKind, Incomplete, Totals};
use serde_json::{Value, json};
use std::time::Duration;

/// A verification result and the data needed to render it.
pub struct VerifyReport<'a> {
    /// The result.
    pub result: &'a VerifyResult,
    /// The file of the model.
    pub file: &'a str,
    /// The duration.
    pub elapsed: Duration,
}

impl VerifyReport<'_> {
    /// The report as text.
    pub fn text(&self, style: &Style) -> String {
        let result = self.result;
        let mut text = format!("{}: {}\n", style.paint(Paint::Title, self.file), self.totals_line());
        for note in self.notes() {
            text.push_str(&format!("  {} {note}\n", style.paint(Paint::Undecided, "note:")));
        }
        if !result.verdicts.is_empty() {
            text.push('\n');
        }
        let column = result.verdicts.iter().map(|verdict| verdict.name.chars().count()).max().unwrap_or(0);
        for verdict in &result.verdicts {
            let gap = " ".repeat(column - verdict.name.chars().count());
            text.push_str(&format!("  {}{gap}  {}\n", verdict.name, verdict_text(verdict, style)));
        }
        let mut above = None;
        for (title, execution) in self.counterexamples() {
            let title = style.paint(Paint::Bad, &title);
            let reported = match above {
                Some(above) if execution.is_same_execution(above) => "  by the execution above\n".to_owned(),
                _ => execution.text_after(above, style),
            };
            text.push_str(&format!("\n{title}\n{reported}"));
            above = Some(execution);
        }
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        let result = self.result;
        let model_errors: Vec<Value> = result
            .model_errors
            .iter()
            .map(|error| {
                let kind = if error.kind == FindingKind::Deadlock { "deadlock" } else { "fault" };
                json!({"kind": kind, "execution": error.execution.json()})
            })
            .collect();
        let verdicts: Vec<Value> = result
            .verdicts
            .iter()
            .map(|verdict| {
                let (outcome, why, execution) = match &verdict.result {
                    ClaimResult::Holds => ("holds", None, None),
                    ClaimResult::Violated(execution) => ("violated", None, Some(execution.json())),
                    ClaimResult::Unknown(why) => ("unknown", Some(unknown_reason(*why).to_owned()), None),
                    ClaimResult::Undecidable(message) => ("undecidable", Some(message.clone()), None),
                };
                json!({
                    "claim": verdict.name, "verdict": outcome, "why": why, "execution": execution,
                    "states": verdict.totals.states, "transitions": verdict.totals.transitions,
                    "reduced": matches!(verdict.reduction, Some(Ok(()))),
                })
            })
            .collect();
        let (missed, coverage) = match result.certainty {
            Certainty::Estimated { missed, coverage } => (Some(missed), Some(coverage)),
            _ => (None, None),
        };
        let totals = &result.totals;
        let document = json!({
            "model": self.file,
            "states": totals.states, "transitions": totals.transitions, "deadlocks": totals.deadlocks,
            "faults": totals.faults, "depth": totals.depth, "memory": totals.memory,
            "complete": result.incomplete.is_none() && result.certainty == Certainty::Exact,
            "incomplete": result.incomplete.map(incomplete_reason),
            "missed": missed, "coverage": coverage,
            "reduced": matches!(result.reduction, Some(Ok(()))),
            "seconds": self.elapsed.as_secs_f64(),
            "troubles": model_errors, "claims": verdicts,
        });
        format!("{document:#}\n")
    }

    /// The counterexamples with their titles.
    pub fn counterexamples(&self) -> Vec<(String, &ExecutionTrace)> {
        let model_errors =
            self.result.model_errors.iter().map(|error| (model_error_title(error), &error.execution));
        let verdicts = self.result.verdicts.iter().filter_map(|verdict| match &verdict.result {
            ClaimResult::Violated(execution) => Some((format!("violation of {}", verdict.name), execution)),
            _ => None,
        });
        model_errors.chain(verdicts).collect()
    }

    /// The totals in one line.
    fn totals_line(&self) -> String {
        let Totals { states, transitions, deadlocks, faults, depth, .. } = self.result.totals;
        let mut parts = vec![
            count(states, "configuration"),
            count(transitions, "transition"),
            if deadlocks == 0 { "no deadlock".to_owned() } else { count(deadlocks, "deadlock") },
        ];
        if faults > 0 {
            parts.push(count(faults, "fault"));
        }
        parts.push(format!("depth {}", grouped(depth)));
        parts.join(", ")
    }

    /// Notes on the reliability of the numbers.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.result.incomplete {
            None => {}
            Some(Incomplete::Found) => {
                notes
                    .push("the search stopped at the first finding; `--full` explores everything".to_owned());
            }
            Some(why) => notes.push(format!(
                "incomplete: {}; the unexplored part may contain errors",
                incomplete_reason(why)
            )),
        }
        if let Some(why) = &self.result.interpretation_reason {
            notes.push(format!("the model is interpreted, which is slow: {why}"));
        }
        match self.result.certainty {
            Certainty::Exact => {}
            Certainty::Estimated { missed, coverage } => notes.push(format!(
                "configurations were compared by their hashes: about {missed:.1} were missed, at most {:.2} % were visited",
                coverage * 100.0
            )),
            Certainty::United { runs, states, new_share } => notes.push(format!(
                "{} with different hashes visited about {} different configurations; {:.2} % of those of the last search were new",
                if runs == 1 { "one search".to_owned() } else { format!("{} searches", grouped(runs)) },
                grouped(states.round() as u64),
                new_share * 100.0
            )),
            Certainty::Sampled => notes.push("only some executions were explored".to_owned()),
        }
        match &self.result.reduction {
            None => {}
            Some(Ok(())) => {
                notes.push(
                    "partial-order reduction: equivalent orders of independent actions are omitted"
                        .to_owned(),
                );
            }
            Some(Err(why)) => notes.push(format!("no partial-order reduction: {why}")),
        }
        // Claims that needed a search of their own.
        let others = self.result.verdicts.iter().filter(|verdict| verdict.reduction != self.result.reduction);
        notes.extend(others.filter_map(|verdict| match verdict.reduction? {
            Ok(()) => Some(format!("partial-order reduction for {}", verdict.name)),
            Err(why) => Some(format!("no partial-order reduction for {}: {why}", verdict.name)),
        }));
        notes
    }
}

fn model_error_title(error: &ModelError) -> String {
    match (&error.kind, &error.execution.ending) {
        (FindingKind::Deadlock, _) => "deadlock".to_owned(),
        (_, ExecutionEnd::Fault { reason, .. }) => format!("an action raises a fault: {reason}"),
        _ => "the model raises a fault".to_owned(),
    }
}

fn verdict_text(verdict: &Verdict, style: &Style) -> String {
    match &verdict.result {
        ClaimResult::Holds => style.paint(Paint::Good, "holds"),
        ClaimResult::Violated(execution) => {
            format!("{} {}", style.paint(Paint::Bad, "violated"), where_violated(execution))
        }
        ClaimResult::Unknown(why) => {
            format!("{}: {}", style.paint(Paint::Undecided, "unknown"), unknown_reason(*why))
        }
        ClaimResult::Undecidable(message) => {
            format!("{}: {message}", style.paint(Paint::Undecided, "undecided"))
        }
    }
}

/// Where in an execution a claim is violated.
fn where_violated(execution: &ExecutionTrace) -> String {
    let steps = execution.steps.len().saturating_sub(1);
    let after = |steps: usize| match steps {
        0 => "from the start".to_owned(),
        _ => format!("after {}", count(steps as u64, "step")),
    };
    match execution.ending {
        ExecutionEnd::Repeats(from) => {
            let round = count((steps - from.min(steps)) as u64, "step");
            format!("in a cycle of {round}, {}", after(from))
        }
        ExecutionEnd::StaysInDeadlock => format!("in a deadlock {}", after(steps)),
        _ if steps == 0 => "at the start".to_owned(),
        _ => after(steps),
    }
}

/// Why a claim is neither refuted nor proved.
fn unknown_reason(why: Option<Incomplete>) -> &'static str {
    why.map_or("nothing was found, but not everything was explored", incomplete_reason)
}

/// Why a search is incomplete.
pub fn incomplete_reason(why: Incomplete) -> &'static str {
    match why {
        Incomplete::States => "the limit on configurations was exceeded (`--max-states`)",
        Incomplete::Memory => "the memory limit was exceeded (`--max-memory`)",
        Incomplete::Time => "the time limit was exceeded (`--timeout`)",
        Incomplete::Depth => "some configurations are deeper than the limit (`--max-depth`)",
        Incomplete::Stopped => "the search was stopped",
        Incomplete::Found => "the search stopped at the first finding",
        Incomplete::Failed => "the explored program failed",
    }
}
