//! The path of a slice to its violation as a table: one row per step, one column per variable.

use super::format::{count, decimals, printable, shorten, width};
use super::table::{Align, Table};
use super::{Paint, Style, ViolationRenderer};
use crate::violation::{PathStep, ReportedEvent, Variable, Violation};
use invigil_monitor::verdict::Verdict;

/// Maximum number of rows: the middle of a longer path is omitted.
const MAX_ROWS: usize = 14;
/// Number of steps shown of a longer path, at its start and at its end.
const STEPS_AT_START: usize = 3;
const STEPS_AT_END: usize = 9;

/// Maximum width of a value, in columns.
const MAX_VALUE_WIDTH: usize = 24;
/// Indentation of lines with changes.
const CHANGES_INDENT: usize = 9;
/// Minimum width of a variable's column.
const MIN_COLUMN_WIDTH: usize = 8;

/// Renders the path of a violation in a live run, whose events have no position in a trace.
pub fn path_table(violation: &Violation, style: &Style) -> String {
    path(&ViolationRenderer { automata: &[], inputs: &[] }, violation, style)
}

/// Renders the path of a violation.
pub(super) fn path(renderer: &ViolationRenderer<'_>, violation: &Violation, style: &Style) -> String {
    let names = variables(violation);
    let wide = table(
        renderer,
        violation,
        &Columns::new(renderer, violation, VariableLayout::Columns(&names)),
        style,
    );
    if wide.fits(style.width) {
        return wide.render(style);
    }
    table(renderer, violation, &Columns::new(renderer, violation, VariableLayout::Changes(&names)), style)
        .render(style)
}

fn table(
    renderer: &ViolationRenderer<'_>,
    violation: &Violation,
    columns: &Columns<'_>,
    style: &Style,
) -> Table {
    let (first, last) = shown_steps(violation);
    let steps = &violation.path;
    let mut table = Table::default();
    columns.title(&mut table);
    match violation.omitted {
        Some(0) => {}
        Some(omitted) => table.note(format!("… {}", count(omitted, "earlier step"))),
        None => table.note("… earlier steps are not recorded".to_owned()),
    }
    for (at, step) in steps.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| steps.get(before));
        if at == first && first + last < steps.len() {
            let hidden = steps.len() - first - last;
            table.note(format!("… {}", count(hidden as u64, "step")));
        }
        if at < first || at >= steps.len() - last {
            table.row(columns.row(renderer, violation, step, before));
            for line in packed(&columns.changes(step, before), style.width.saturating_sub(CHANGES_INDENT)) {
                table.note(format!("{:CHANGES_INDENT$}{line}", ""));
            }
        }
    }
    table
}

/// Number of steps shown at the start and at the end of a path.
fn shown_steps(violation: &Violation) -> (usize, usize) {
    let len = violation.path.len();
    match violation.omitted {
        _ if len <= MAX_ROWS => (0, len),
        Some(0) => (STEPS_AT_START, STEPS_AT_END),
        // The start of the path is not recorded anyway: a single gap suffices.
        _ => (0, MAX_ROWS),
    }
}

/// The variables that are ever set, in the order of the property.
fn variables(violation: &Violation) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for variable in violation.path.iter().flat_map(|step| &step.env) {
        if !names.contains(&variable.name.as_str()) {
            names.push(&variable.name);
        }
    }
    names
}

/// Layout of the variables.
enum VariableLayout<'a> {
    /// One column per variable.
    Columns(&'a [&'a str]),
    /// Below each step, the variables that it changed. Used if the columns do not fit.
    Changes(&'a [&'a str]),
}

struct Columns<'a> {
    /// Number of input files; 0 for a live run.
    files: usize,
    /// Number of decimals of times; `None` if there are no times.
    decimals: Option<usize>,
    variables: VariableLayout<'a>,
}

type Cell = (String, Paint);

impl<'a> Columns<'a> {
    fn new(
        renderer: &ViolationRenderer<'_>,
        violation: &Violation,
        variables: VariableLayout<'a>,
    ) -> Columns<'a> {
        let events = || violation.path.iter().filter_map(|step| step.event.as_ref());
        let times = || events().filter_map(|event| event.time);
        Columns {
            files: renderer.inputs.len(),
            decimals: times().next().is_some().then(|| decimals(times())),
            variables,
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
        match self.variables {
            VariableLayout::Columns(names) => {
                names.iter().for_each(|name| {
                    table.column(&shorten(name, MAX_VALUE_WIDTH), Align::Right, MIN_COLUMN_WIDTH)
                });
            }
            VariableLayout::Changes(_) => {}
        }
    }

    fn row(
        &self,
        renderer: &ViolationRenderer<'_>,
        violation: &Violation,
        step: &PathStep,
        before: Option<&PathStep>,
    ) -> Vec<Cell> {
        let mut row = self.event(renderer, violation, step);
        let entered = before.is_some_and(|before| before.state != step.state);
        row.push((
            step.state.clone(),
            match step.verdict {
                Verdict::NonAccepting | Verdict::Error => Paint::Bad,
                _ if entered => Paint::Changed,
                _ => Paint::Plain,
            },
        ));
        if let VariableLayout::Columns(names) = self.variables {
            let (now, earlier) = around(step, before);
            row.extend(names.iter().map(|name| {
                let changed = !earlier.is_empty() && value(now, name) != value(earlier, name);
                (
                    shorten(value(now, name), MAX_VALUE_WIDTH),
                    if changed { Paint::Changed } else { Paint::Plain },
                )
            }));
        }
        row
    }

    /// The changes of a step, if they are shown below it.
    fn changes(&self, step: &PathStep, before: Option<&PathStep>) -> Vec<String> {
        let VariableLayout::Changes(names) = self.variables else { return Vec::new() };
        let (now, earlier) = around(step, before);
        names
            .iter()
            .filter(|name| value(now, name) != value(earlier, name))
            .map(|name| format!("{name}={}", shorten(value(now, name), MAX_VALUE_WIDTH)))
            .collect()
    }

    /// The cells of the event: number, position, time, and the event itself.
    fn event(&self, renderer: &ViolationRenderer<'_>, violation: &Violation, step: &PathStep) -> Vec<Cell> {
        let plain = |text: String| (text, Paint::Plain);
        let mut cells = Vec::new();
        let Some(event) = &step.event else {
            let columns = 1 + usize::from(self.files > 0) + usize::from(self.decimals.is_some());
            cells.resize(columns, plain(String::new()));
            cells.push(("start".to_owned(), Paint::Faint));
            return cells;
        };
        cells.push(plain(event.index.to_string()));
        match self.files {
            0 => {}
            1 => cells.push(plain(event.position.line.to_string())),
            _ => cells.push(plain(printable(&renderer.position_text(event.position)))),
        }
        if let Some(decimals) = self.decimals {
            cells.push(plain(event.time.map_or(String::new(), |time| format!("{time:.decimals$}"))));
        }
        cells.push(plain(event_without_binding(violation, event)));
        cells
    }
}

/// Joins items to lines of at most `max_width` columns.
fn packed(items: &[String], max_width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(item) <= max_width => *line += &format!(", {item}"),
            _ => lines.push(item.clone()),
        }
    }
    lines
}

/// The environments after and before a step.
fn around<'a>(step: &'a PathStep, before: Option<&'a PathStep>) -> (&'a [Variable], &'a [Variable]) {
    (&step.env, before.map_or(&[], |before| &before.env))
}

fn value<'a>(env: &'a [Variable], name: &str) -> &'a str {
    env.iter().find(|variable| variable.name == name).map_or("", |variable| &variable.value.text)
}

/// Renders an event without the parameters that are equal to the slice's binding.
fn event_without_binding(violation: &Violation, event: &ReportedEvent) -> String {
    let shared = |param: &Variable| {
        violation
            .slice
            .iter()
            .any(|bound| bound.name == param.name && bound.value.as_ref() == Some(&param.value))
    };
    let params: Vec<String> = event
        .params
        .iter()
        .filter(|param| !shared(param))
        .map(|param| format!("{}={}", param.name, shorten(&param.value.text, MAX_VALUE_WIDTH)))
        .collect();
    if params.is_empty() { event.name.clone() } else { format!("{}({})", event.name, params.join(", ")) }
}
