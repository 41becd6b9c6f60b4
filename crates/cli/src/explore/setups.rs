//! `explore --setups`: a table of all set-ups of a model: combinations of scheduler, reactive hypothesis and mailbox kind.

use super::args::{Explore, Mailboxes};
use super::{ExploreRequest, scheduler_config};
use crate::CliError;
use crate::terminal::Terminal;
use invigil_check::report::{Paint, Style, grouped};
use invigil_explore::scheduled::{Filter, Scheduler, SchedulerConfig};
use invigil_explore::{Incomplete, ProgressListener};
use invigil_verify::{ClaimResult, VerifyResult, VerifyTask, verify};

/// The table, in parts that have titles if there are several.
pub(crate) struct SetupTable {
    claims: Vec<String>,
    parts: Vec<(Option<&'static str>, Vec<Row>)>,
}

type Row = (&'static str, VerifyResult);

/// Explores the model under each set-up.
pub(crate) fn explore_setups(
    args: &Explore,
    text: &str,
    listener: &impl ProgressListener,
    terminal: &Terminal,
) -> Result<SetupTable, CliError> {
    let first = ExploreRequest::read(args, text, args.setup.mailboxes, terminal)?;
    first.warn(args, terminal);
    let claims = first.task(args).claims.iter().map(|claim| claim.name.clone()).collect();
    let mut parts = Vec::new();
    if args.setup.mailboxes.is_some() || !first.loaded_model.file.has_mailboxes {
        parts.push((None, rows(&first, args, listener)?));
    } else {
        for (title, kind) in
            [("fifo mailboxes", Mailboxes::Fifo), ("deferred mailboxes", Mailboxes::Deferred)]
        {
            parts.push((
                Some(title),
                rows(&ExploreRequest::read(args, text, Some(kind), terminal)?, args, listener)?,
            ));
        }
    }
    Ok(SetupTable { claims, parts })
}

/// The rows for one kind of mailboxes. Other filters apply after the reactive hypothesis.
fn rows(
    request: &ExploreRequest,
    args: &Explore,
    listener: &impl ProgressListener,
) -> Result<Vec<Row>, CliError> {
    let model = &request.loaded_model.file.model;
    let SchedulerConfig { scheduler, filters: others } = scheduler_config(model, &args.setup)?;
    let priority = match scheduler {
        None => Scheduler::FixedPriority((0..model.parts().processes.len() as u32).collect()),
        Some(priority @ Scheduler::FixedPriority(_)) => priority,
        Some(_) => {
            let message = "`--setups` compares all schedulers, so `--scheduler` can only give the order of the fixed priorities: `--scheduler priority:A,B`";
            return Err(CliError::new(message));
        }
    };
    let setups = [
        ("no scheduler", None, None),
        ("round-robin", Some(Scheduler::RoundRobin), None),
        ("fixed priority", Some(priority.clone()), None),
        ("no scheduler, reactive", None, Some(Filter::Reactive)),
        ("round-robin, reactive", Some(Scheduler::RoundRobin), Some(Filter::Reactive)),
        ("fixed priority, reactive", Some(priority), Some(Filter::Reactive)),
    ];
    let row = |(name, scheduler, reactive): (&'static str, _, Option<Filter>)| {
        let filters = reactive.into_iter().chain(others.iter().copied()).collect();
        (
            name,
            verify(
                &VerifyTask { scheduling: SchedulerConfig { scheduler, filters }, ..request.task(args) },
                listener,
            ),
        )
    };
    Ok(setups.into_iter().map(row).collect())
}

impl SetupTable {
    /// The table as text.
    pub(crate) fn text(&self, file: &str, style: &Style) -> String {
        let mut heads = ["set-up", "configurations", "transitions", "deadlocks"].map(str::to_owned).to_vec();
        heads.extend(self.claims.iter().cloned());
        let parts: Vec<Vec<Vec<String>>> =
            self.parts.iter().map(|(_, rows)| rows.iter().map(cells).collect()).collect();
        let widths: Vec<usize> = heads
            .iter()
            .enumerate()
            .map(|(column, head)| {
                let cells = parts.iter().flatten().map(|cells| cells[column].chars().count());
                cells.chain([head.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let mut text = format!("{}\n{}", style.paint(Paint::Title, file), line(&heads, &widths, style));
        for ((title, _), rows) in self.parts.iter().zip(&parts) {
            if let Some(title) = title {
                text.push_str(&format!("  {}\n", style.paint(Paint::Title, title)));
            }
            rows.iter().for_each(|row| text.push_str(&line(row, &widths, style)));
        }
        text
    }
}

fn cells((name, result): &Row) -> Vec<String> {
    let totals = &result.totals;
    let mark = if result.incomplete.is_some_and(|why| why != Incomplete::Found) { "≥" } else { "" };
    let numbers = [totals.states, totals.transitions, totals.deadlocks];
    let numbers = numbers.iter().map(|number| format!("{mark}{}", grouped(*number)));
    let verdicts = result.verdicts.iter().map(|verdict| match verdict.result {
        ClaimResult::Holds => "✓".to_owned(),
        ClaimResult::Violated(_) => "✗".to_owned(),
        ClaimResult::Unknown(_) | ClaimResult::Undecidable(_) => "?".to_owned(),
    });
    core::iter::once((*name).to_owned()).chain(numbers).chain(verdicts).collect()
}

fn line(cells: &[String], widths: &[usize], style: &Style) -> String {
    let cells = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        let gap = " ".repeat(width - cell.chars().count());
        let painted = match cell.as_str() {
            "✓" => style.paint(Paint::Good, cell),
            "✗" => style.paint(Paint::Bad, cell),
            _ => cell.clone(),
        };
        match column {
            1..=3 => format!("{gap}{painted}"),
            _ => format!("{painted}{gap}"),
        }
    });
    format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
}
