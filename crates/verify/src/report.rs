//! An answer, told to people and to programs.

use crate::answer::{Answer, Outcome, Trouble, Verdict};
use crate::story::{Ending, Story};
use invigil_check::report::{Paint, Style, count, grouped};
use invigil_explore::{Certainty, Incomplete, Totals, What};
use serde_json::{Value, json};
use std::time::Duration;

/// An answer, and what is needed to tell it.
pub struct Report<'a> {
    /// The answer.
    pub answer: &'a Answer,
    /// The file of the model.
    pub file: &'a str,
    /// How long it took.
    pub elapsed: Duration,
}

impl Report<'_> {
    /// The report for people.
    pub fn text(&self, style: &Style) -> String {
        let answer = self.answer;
        let mut text = format!("{}: {}\n", style.paint(Paint::Title, self.file), self.seen());
        for note in self.notes() {
            text.push_str(&format!("  {} {note}\n", style.paint(Paint::Open, "note:")));
        }
        if !answer.verdicts.is_empty() {
            text.push('\n');
        }
        let column = answer.verdicts.iter().map(|verdict| verdict.name.chars().count()).max().unwrap_or(0);
        for verdict in &answer.verdicts {
            let gap = " ".repeat(column - verdict.name.chars().count());
            text.push_str(&format!("  {}{gap}  {}\n", verdict.name, result(verdict, style)));
        }
        let mut above = None;
        for (title, story) in self.counterexamples() {
            let title = style.paint(Paint::Bad, &title);
            let told = match above {
                Some(above) if story.is_as(above) => "  by the execution above\n".to_owned(),
                _ => story.text_after(above, style),
            };
            text.push_str(&format!("\n{title}\n{told}"));
            above = Some(story);
        }
        text
    }

    /// The report for programs.
    pub fn json(&self) -> String {
        let answer = self.answer;
        let troubles: Vec<Value> = answer
            .troubles
            .iter()
            .map(|trouble| {
                let kind = if trouble.what == What::Deadlock { "deadlock" } else { "fault" };
                json!({"kind": kind, "execution": trouble.story.json()})
            })
            .collect();
        let verdicts: Vec<Value> = answer
            .verdicts
            .iter()
            .map(|verdict| {
                let (result, why, story) = match &verdict.result {
                    Outcome::Holds => ("holds", None, None),
                    Outcome::Violated(story) => ("violated", None, Some(story.json())),
                    Outcome::Unknown(why) => ("unknown", Some(doubt(*why).to_owned()), None),
                    Outcome::Undecidable(words) => ("undecidable", Some(words.clone()), None),
                };
                json!({
                    "claim": verdict.name, "verdict": result, "why": why, "execution": story,
                    "states": verdict.totals.states, "transitions": verdict.totals.transitions,
                    "reduced": matches!(verdict.reduction, Some(Ok(()))),
                })
            })
            .collect();
        let (missed, coverage) = match answer.certainty {
            Certainty::Estimated { missed, coverage } => (Some(missed), Some(coverage)),
            _ => (None, None),
        };
        let totals = &answer.totals;
        let document = json!({
            "model": self.file,
            "states": totals.states, "transitions": totals.transitions, "deadlocks": totals.deadlocks,
            "faults": totals.faults, "depth": totals.depth, "memory": totals.memory,
            "complete": answer.incomplete.is_none() && answer.certainty == Certainty::Exact,
            "incomplete": answer.incomplete.map(reason),
            "missed": missed, "coverage": coverage,
            "reduced": matches!(answer.reduction, Some(Ok(()))),
            "seconds": self.elapsed.as_secs_f64(),
            "troubles": troubles, "claims": verdicts,
        });
        format!("{document:#}\n")
    }

    /// The stories in which something goes wrong, with what does.
    pub fn counterexamples(&self) -> Vec<(String, &Story)> {
        let troubles = self.answer.troubles.iter().map(|trouble| (trouble_title(trouble), &trouble.story));
        let verdicts = self.answer.verdicts.iter().filter_map(|verdict| match &verdict.result {
            Outcome::Violated(story) => Some((format!("violation of {}", verdict.name), story)),
            _ => None,
        });
        troubles.chain(verdicts).collect()
    }

    /// What was seen, in one line.
    fn seen(&self) -> String {
        let Totals { states, transitions, deadlocks, faults, depth, .. } = self.answer.totals;
        let mut parts = vec![
            count(states, "configuration"),
            count(transitions, "transition"),
            if deadlocks == 0 { "no deadlock".to_owned() } else { count(deadlocks, "deadlock") },
        ];
        if faults > 0 {
            let verb = if faults == 1 { "goes" } else { "go" };
            parts.push(format!("{} that {verb} wrong", count(faults, "action")));
        }
        parts.push(format!("depth {}", grouped(depth)));
        parts.join(", ")
    }

    /// What to know about the numbers.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.answer.incomplete {
            None => {}
            Some(Incomplete::Found) => {
                notes.push("the search ended with what it found; `--full` looks at everything".to_owned());
            }
            Some(why) => notes.push(format!("incomplete: {}; what was not seen may be wrong", reason(why))),
        }
        if let Some(why) = &self.answer.interpreted {
            notes.push(format!("the model is interpreted, which is slow: {why}"));
        }
        match self.answer.certainty {
            Certainty::Exact => {}
            Certainty::Estimated { missed, coverage } => notes.push(format!(
                "configurations were told apart by their hashes: about {missed:.1} were missed, at most {:.2} % were seen",
                coverage * 100.0
            )),
            Certainty::United { runs, states, fresh } => notes.push(format!(
                "{} with different hashes saw about {} different configurations; {:.2} % of those of the last were new",
                if runs == 1 { "one search".to_owned() } else { format!("{} searches", grouped(runs)) },
                grouped(states.round() as u64),
                fresh * 100.0
            )),
            Certainty::Sampled => notes.push("some executions were tried, not all".to_owned()),
        }
        match &self.answer.reduction {
            None => {}
            Some(Ok(())) => {
                notes.push(
                    "orders of independent actions are left out, so there are fewer configurations"
                        .to_owned(),
                );
            }
            Some(Err(why)) => notes.push(format!("all orders are looked at: {why}")),
        }
        // Claims with a search of their own.
        let others = self.answer.verdicts.iter().filter(|of| of.reduction != self.answer.reduction);
        notes.extend(others.filter_map(|verdict| match verdict.reduction? {
            Ok(()) => Some(format!("orders of independent actions are left out for {}", verdict.name)),
            Err(why) => Some(format!("all orders are looked at for {}: {why}", verdict.name)),
        }));
        notes
    }
}

fn trouble_title(trouble: &Trouble) -> String {
    match (&trouble.what, &trouble.story.ending) {
        (What::Deadlock, _) => "deadlock".to_owned(),
        (_, Ending::Fault { reason, .. }) => format!("an action goes wrong: {reason}"),
        _ => "the model goes wrong".to_owned(),
    }
}

fn result(verdict: &Verdict, style: &Style) -> String {
    match &verdict.result {
        Outcome::Holds => style.paint(Paint::Good, "holds"),
        Outcome::Violated(story) => format!("{} {}", style.paint(Paint::Bad, "violated"), place(story)),
        Outcome::Unknown(why) => format!("{}: {}", style.paint(Paint::Open, "not known"), doubt(*why)),
        Outcome::Undecidable(words) => format!("{}: {words}", style.paint(Paint::Open, "not decided")),
    }
}

/// Where in an execution something is wrong.
fn place(story: &Story) -> String {
    let steps = story.scenes.len().saturating_sub(1);
    let after = |steps: usize| match steps {
        0 => "from the start".to_owned(),
        _ => format!("after {}", count(steps as u64, "step")),
    };
    match story.ending {
        Ending::Repeats(from) => {
            let round = count((steps - from.min(steps)) as u64, "step");
            format!("for ever: {round} again and again, {}", after(from))
        }
        Ending::Stays => format!("for ever: nothing happens any more {}", after(steps)),
        _ if steps == 0 => "at the start".to_owned(),
        _ => after(steps),
    }
}

/// Why nothing is known where nothing was found.
fn doubt(why: Option<Incomplete>) -> &'static str {
    why.map_or("nothing was found, and not everything was looked at", reason)
}

/// Why not everything was seen.
pub fn reason(why: Incomplete) -> &'static str {
    match why {
        Incomplete::States => "there are more configurations than were allowed (`--max-states`)",
        Incomplete::Memory => "the memory was used up (`--max-memory`)",
        Incomplete::Time => "the time was over (`--timeout`)",
        Incomplete::Depth => "some lies deeper than was allowed (`--max-depth`)",
        Incomplete::Stopped => "it was stopped",
        Incomplete::Found => "it ended with what it found",
        Incomplete::Failed => "what is explored failed, and cannot be asked any more",
    }
}
