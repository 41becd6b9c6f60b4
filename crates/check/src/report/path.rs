//! The way of a slice to its violation, as a table: one row per step, one column per variable.

use super::table::{Align, Table};
use super::words::{count, decimals, printable, shorten, width};
use super::{Paint, Style, Violations};
use crate::finding::{Finding, Happening, PathStep, Variable};
use invigil_monitor::verdict::Verdict;

/// A longer path is told without its middle.
const ROWS: usize = 14;
/// What is told of it: its beginning and its end.
const FIRST: usize = 3;
const LAST: usize = 9;

/// The most columns that a value takes.
const VALUE: usize = 24;
/// How far lines with changes are indented.
const CHANGES: usize = 9;
/// A column for a variable may get as narrow as this for others to fit.
const NARROW: usize = 8;

/// The path of a finding of a live run, each line indented and ended: its events were recorded nowhere.
pub fn way(finding: &Finding, style: &Style) -> String {
    path(&Violations { automata: &[], inputs: &[] }, finding, style)
}

/// The path of a finding, each line indented and ended.
pub(super) fn path(report: &Violations<'_>, finding: &Finding, style: &Style) -> String {
    let names = variables(finding);
    let wide = table(report, finding, &Columns::new(report, finding, Memory::Columns(&names)), style);
    if wide.fits(style.width) {
        return wide.render(style);
    }
    table(report, finding, &Columns::new(report, finding, Memory::Changes(&names)), style).render(style)
}

fn table(report: &Violations<'_>, finding: &Finding, columns: &Columns<'_>, style: &Style) -> Table {
    let (first, last) = told(finding);
    let steps = &finding.path;
    let mut table = Table::default();
    columns.title(&mut table);
    match finding.untold {
        Some(0) => {}
        Some(untold) => table.note(format!("… {}", count(untold, "earlier step"))),
        None => table.note("… earlier steps are not known any more".to_owned()),
    }
    for (at, step) in steps.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| steps.get(before));
        if at == first && first + last < steps.len() {
            let hidden = steps.len() - first - last;
            table.note(format!("… {}", count(hidden as u64, "step")));
        }
        if at < first || at >= steps.len() - last {
            table.row(columns.row(report, finding, step, before));
            for line in packed(&columns.changes(step, before), style.width.saturating_sub(CHANGES)) {
                table.note(format!("{:CHANGES$}{line}", ""));
            }
        }
    }
    table
}

/// How many steps are told at the beginning and at the end of a path.
fn told(finding: &Finding) -> (usize, usize) {
    let len = finding.path.len();
    match finding.untold {
        _ if len <= ROWS => (0, len),
        Some(0) => (FIRST, LAST),
        // Its true beginning is gone: one gap is enough.
        _ => (0, ROWS),
    }
}

/// The variables that ever have a value, in the property's order.
fn variables(finding: &Finding) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for variable in finding.path.iter().flat_map(|step| &step.env) {
        if !names.contains(&variable.name.as_str()) {
            names.push(&variable.name);
        }
    }
    names
}

/// How the variables of a property are told.
enum Memory<'a> {
    /// Each in a column of its own.
    Columns(&'a [&'a str]),
    /// If there is no room for that: below each step those that it changed.
    Changes(&'a [&'a str]),
}

struct Columns<'a> {
    /// How many files the trace is of; none if the run is live.
    files: usize,
    /// How many decimals times have, if there are any.
    decimals: Option<usize>,
    memory: Memory<'a>,
}

type Cell = (String, Paint);

impl<'a> Columns<'a> {
    fn new(report: &Violations<'_>, finding: &Finding, memory: Memory<'a>) -> Columns<'a> {
        let events = || finding.path.iter().filter_map(|step| step.event.as_ref());
        let times = || events().filter_map(|event| event.time);
        Columns {
            files: report.inputs.len(),
            decimals: times().next().is_some().then(|| decimals(times())),
            memory,
        }
    }

    fn title(&self, table: &mut Table) {
        table.column("event", Align::Right, usize::MAX);
        match self.files {
            0 => {}
            1 => table.column("line", Align::Right, usize::MAX),
            _ => table.column("where", Align::Left, 16),
        }
        if self.decimals.is_some() {
            table.column("time", Align::Right, usize::MAX);
        }
        table.column("what happened", Align::Left, 20);
        table.column("state", Align::Left, 12);
        match self.memory {
            Memory::Columns(names) => {
                names.iter().for_each(|name| table.column(&shorten(name, VALUE), Align::Right, NARROW));
            }
            Memory::Changes(_) => {}
        }
    }

    fn row(
        &self,
        report: &Violations<'_>,
        finding: &Finding,
        step: &PathStep,
        before: Option<&PathStep>,
    ) -> Vec<Cell> {
        let mut row = self.event(report, finding, step);
        let entered = before.is_some_and(|before| before.state != step.state);
        row.push((
            step.state.clone(),
            match step.verdict {
                Verdict::NonAccepting | Verdict::Error => Paint::Bad,
                _ if entered => Paint::Changed,
                _ => Paint::Plain,
            },
        ));
        if let Memory::Columns(names) = self.memory {
            let (now, earlier) = around(step, before);
            row.extend(names.iter().map(|name| {
                let changed = !earlier.is_empty() && value(now, name) != value(earlier, name);
                (shorten(value(now, name), VALUE), if changed { Paint::Changed } else { Paint::Plain })
            }));
        }
        row
    }

    /// What a step changed, if that is told below it.
    fn changes(&self, step: &PathStep, before: Option<&PathStep>) -> Vec<String> {
        let Memory::Changes(names) = self.memory else { return Vec::new() };
        let (now, earlier) = around(step, before);
        names
            .iter()
            .filter(|name| value(now, name) != value(earlier, name))
            .map(|name| format!("{name}={}", shorten(value(now, name), VALUE)))
            .collect()
    }

    /// The cells that tell what happened, and where and when.
    fn event(&self, report: &Violations<'_>, finding: &Finding, step: &PathStep) -> Vec<Cell> {
        let plain = |text: String| (text, Paint::Plain);
        let mut cells = Vec::new();
        let Some(event) = &step.event else {
            let columns = 1 + usize::from(self.files > 0) + usize::from(self.decimals.is_some());
            cells.resize(columns, plain(String::new()));
            cells.push(("begins".to_owned(), Paint::Faint));
            return cells;
        };
        cells.push(plain(event.index.to_string()));
        match self.files {
            0 => {}
            1 => cells.push(plain(event.place.line.to_string())),
            _ => cells.push(plain(printable(&report.place(event.place)))),
        }
        if let Some(decimals) = self.decimals {
            cells.push(plain(event.time.map_or(String::new(), |time| format!("{time:.decimals$}"))));
        }
        cells.push(plain(happened(finding, event)));
        cells
    }
}

/// Lines of at most `room` columns, if each item fits, with the items in order.
fn packed(items: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(item) <= room => *line += &format!(", {item}"),
            _ => lines.push(item.clone()),
        }
    }
    lines
}

/// What a slice remembers after a step, and before it.
fn around<'a>(step: &'a PathStep, before: Option<&'a PathStep>) -> (&'a [Variable], &'a [Variable]) {
    (&step.env, before.map_or(&[], |before| &before.env))
}

fn value<'a>(env: &'a [Variable], name: &str) -> &'a str {
    env.iter().find(|variable| variable.name == name).map_or("", |variable| &variable.value.text)
}

/// An event in the path of a slice: what all of them share is left out.
fn happened(finding: &Finding, event: &Happening) -> String {
    let shared = |param: &Variable| {
        finding
            .slice
            .iter()
            .any(|bound| bound.name == param.name && bound.value.as_ref() == Some(&param.value))
    };
    let params: Vec<String> = event
        .params
        .iter()
        .filter(|param| !shared(param))
        .map(|param| format!("{}={}", param.name, shorten(&param.value.text, VALUE)))
        .collect();
    if params.is_empty() { event.name.clone() } else { format!("{}({})", event.name, params.join(", ")) }
}
