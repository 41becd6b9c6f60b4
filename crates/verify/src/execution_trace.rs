//! Executions of a model, rendered as text, as JSON and as a trace.

use invigil_check::report::{Paint, Style};
use invigil_explore::Path;
use invigil_model::{Domain, FaultReason, Model, Step, Variable};
use serde_json::{Map, Value, json};
use std::fmt;

/// An execution of a model with the names and values of the model.
#[derive(Clone, Debug)]
pub struct ExecutionTrace {
    /// The steps; the first one is the initial configuration.
    pub steps: Vec<TraceStep>,
    /// How the execution ends.
    pub ending: ExecutionEnd,
}

/// The end of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionEnd {
    /// After the last step, neither in a deadlock nor in a cycle nor with a fault.
    LastStep,
    /// In a deadlock.
    Deadlock,
    /// In a cycle, which starts after the step with this index.
    Repeats(usize),
    /// In a deadlock where the execution stays forever, because it is read as an infinite one.
    StaysInDeadlock,
    /// With a fault of an action.
    Fault {
        /// The name of the action.
        action: String,
        /// The reason of the fault.
        reason: String,
    },
}

/// A step of an execution and the configuration after it.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// The name of the action; none for the initial configuration.
    pub action: Option<String>,
    /// The event that properties receive, with its parameters.
    pub event: Option<(String, Vec<(String, Value)>)>,
    /// The visible variables and their values after the step.
    pub state: Vec<(String, Value)>,
    /// The variables that the step changed.
    pub changes: Vec<VariableChange>,
}

/// A variable that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableChange {
    /// The name of the variable, with the index of the element.
    pub name: String,
    /// The value before the step.
    pub before: String,
    /// The value after the step.
    pub after: String,
}

impl ExecutionTrace {
    /// Describes a path. Extra words that products append to those of the model are ignored.
    pub fn of(model: &Model, path: &Path) -> ExecutionTrace {
        let mut steps: Vec<TraceStep> = Vec::new();
        for (at, state) in path.states.iter().enumerate() {
            let source = at.checked_sub(1).map(|before| &*path.states[before]);
            let action = at.checked_sub(1).and_then(|before| path.actions.get(before)).copied();
            steps.push(trace_step(model, source, action, state));
        }
        let ending = match (&path.loop_back, path.fault, path.states.last()) {
            (_, Some(action), Some(last)) => fault(model, action, last),
            (_, Some(_), None) => initial_fault(model),
            (Some((_, None)), ..) => ExecutionEnd::StaysInDeadlock,
            (Some((to, Some(action))), _, Some(last)) => {
                let target = path.states.get(*to).unwrap_or(last);
                steps.push(trace_step(model, Some(last), Some(*action), target));
                ExecutionEnd::Repeats(*to)
            }
            _ => ExecutionEnd::LastStep,
        };
        ExecutionTrace { steps, ending }
    }

    /// The execution as text: the initial configuration, then each action with the changes.
    pub fn text(&self, style: &Style) -> String {
        self.text_after(None, style)
    }

    /// The same below another execution: a long initial configuration that equals the other one is not repeated.
    pub fn text_after(&self, above: Option<&ExecutionTrace>, style: &Style) -> String {
        let start = |execution: &ExecutionTrace| execution.steps.first().map(|step| step.state.clone());
        let starts_alike = above.is_some_and(|above| start(above) == start(self));
        let digits = self.steps.len().saturating_sub(1).to_string().len().max(2);
        let longest = self.steps.iter().filter_map(|step| step.action.as_ref()).map(|name| width(name)).max();
        let column = longest.unwrap_or(0).clamp(5, style.width / 2);
        let mut text = String::new();
        for (at, step) in self.steps.iter().enumerate() {
            let number = style.paint(Paint::Faint, &format!("{at:>digits$}"));
            let mark = if self.ending == ExecutionEnd::Repeats(at) { "┌" } else { " " };
            let name = step.action.as_deref().unwrap_or("start");
            text.push_str(&format!("  {mark}{number}  {name}"));
            let details = step.details();
            let (mut indent, mut gap) = (digits + column + 7, column.saturating_sub(width(name)) + 2);
            let mut lines = wrap_list(&details, style.width.saturating_sub(indent));
            if lines.len() > 1 && step.action.is_none() {
                // A long state may use the whole width.
                (indent, gap) = (digits + width(name) + 7, 2);
                lines = match starts_alike {
                    true => vec!["as above".to_owned()],
                    false => wrap_list(&details, style.width.saturating_sub(indent)),
                };
            }
            for (at, line) in lines.iter().enumerate() {
                match at {
                    0 if width(name) <= column => text.push_str(&format!("{}{line}", " ".repeat(gap))),
                    // Details of an action with a long name start on the next line.
                    _ => text.push_str(&format!("\n{}{line}", " ".repeat(indent))),
                }
            }
            text.push('\n');
        }
        let last = match &self.ending {
            ExecutionEnd::LastStep => return text,
            ExecutionEnd::Deadlock => "deadlock: no step is possible".to_owned(),
            ExecutionEnd::Repeats(to) => {
                let last = self.steps.len().saturating_sub(1);
                format!(
                    "└ step {last} leads back to the configuration of step {to}; the cycle repeats forever"
                )
            }
            ExecutionEnd::StaysInDeadlock => {
                "deadlock: no step is possible, so the execution stays here forever".to_owned()
            }
            ExecutionEnd::Fault { action, reason } => format!("{action} raises a fault: {reason}"),
        };
        text.push_str(&format!("  {last}\n"));
        text
    }

    /// Whether the steps are the same, regardless of whether a deadlock is read as the end or as staying.
    pub(crate) fn is_same_execution(&self, other: &ExecutionTrace) -> bool {
        let is_same = |(a, b): (&TraceStep, &TraceStep)| (&a.action, &a.state) == (&b.action, &b.state);
        let ending = |execution: &ExecutionTrace| match &execution.ending {
            ExecutionEnd::StaysInDeadlock => ExecutionEnd::Deadlock,
            ending => ending.clone(),
        };
        self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(is_same)
            && ending(self) == ending(other)
    }

    /// The execution as a trace in JSON Lines, which `check` and `debug` read: a line with the initial configuration,
    /// then a line per event with the configuration after it.
    pub fn to_json_lines(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let mut line = Map::new();
            if let Some(action) = &step.action {
                let event = step.event.as_ref().map_or(action, |(name, _)| name);
                line.insert("event".to_owned(), json!(event));
                line.insert("action".to_owned(), json!(action));
            }
            let parameters = step.event.iter().flat_map(|(_, parameters)| parameters);
            for (name, value) in parameters.chain(&step.state) {
                line.entry(name.clone()).or_insert_with(|| value.clone());
            }
            text.push_str(&Value::Object(line).to_string());
            text.push('\n');
        }
        text
    }

    /// The execution as part of a JSON report.
    pub fn json(&self) -> Value {
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| {
                let fields = |fields: &[(String, Value)]| Value::Object(fields.iter().cloned().collect());
                json!({
                    "action": step.action,
                    "event": step.event.as_ref().map(|(name, _)| name),
                    "parameters": step.event.as_ref().map(|(_, parameters)| fields(parameters)),
                    "state": fields(&step.state),
                })
            })
            .collect();
        let ending = match &self.ending {
            ExecutionEnd::LastStep => json!({"kind": "end"}),
            ExecutionEnd::Deadlock => json!({"kind": "deadlock"}),
            ExecutionEnd::Repeats(to) => json!({"kind": "repeats", "from": to}),
            ExecutionEnd::StaysInDeadlock => json!({"kind": "stays"}),
            ExecutionEnd::Fault { action, reason } => {
                json!({"kind": "fault", "action": action, "reason": reason})
            }
        };
        json!({"steps": steps, "ending": ending})
    }
}

fn trace_step(model: &Model, source: Option<&[u64]>, action: Option<u32>, target: &[u64]) -> TraceStep {
    let event = action.and_then(|id| {
        let action = model.action(id);
        let step = Step { source, action: Some(id), target };
        // A parameter that cannot be evaluated is omitted, because the step was taken nevertheless.
        let value = |(name, value): &(String, invigil_model::Expression)| {
            model.value(value, step).ok().map(|value| (name.clone(), json!(value)))
        };
        Some((action.event.clone()?, action.parameters.iter().filter_map(value).collect()))
    });
    let changes = source.map(|source| changes(model, source, target)).unwrap_or_default();
    TraceStep {
        action: action.map(|id| model.action(id).name.clone()),
        event,
        state: state(model, target),
        changes,
    }
}

fn fault(model: &Model, action: u32, state: &[u64]) -> ExecutionEnd {
    let name = model.action(action).name.clone();
    let outcomes = model.outcomes(state, action);
    let reason: Option<&FaultReason> =
        outcomes.iter().find_map(|outcome| outcome.fault.as_ref().map(|fault| &fault.reason));
    ExecutionEnd::Fault { action: name, reason: reason.map(ToString::to_string).unwrap_or_default() }
}

/// The fault that the initialization of the model raises.
fn initial_fault(model: &Model) -> ExecutionEnd {
    let fault = model.initial_states().into_iter().find_map(|state| state.fault);
    let reason = fault.map(|fault| fault.reason.to_string()).unwrap_or_default();
    ExecutionEnd::Fault { action: "the initialization".to_owned(), reason }
}

fn state(model: &Model, words: &[u64]) -> Vec<(String, Value)> {
    let variables = model.parts().variables.iter().zip(&model.layout().slots);
    let visible = variables.filter(|(variable, _)| !variable.is_hidden);
    visible
        .map(|(variable, slot)| {
            let element = |index| json_value(variable, slot.read(words, index));
            let value = match variable.length {
                None => element(0),
                Some(length) => Value::Array((0..length).map(element).collect()),
            };
            (variable.name.clone(), value)
        })
        .collect()
}

fn json_value(variable: &Variable, value: i64) -> Value {
    match &variable.domain {
        Domain::Integer { .. } => json!(value),
        Domain::Boolean => json!(value != 0),
        Domain::Names(_) => json!(variable.domain.show(value)),
    }
}

fn changes(model: &Model, source: &[u64], target: &[u64]) -> Vec<VariableChange> {
    let mut changes = Vec::new();
    for (variable, slot) in model.parts().variables.iter().zip(&model.layout().slots) {
        for index in (0..variable.elements()).filter(|_| !variable.is_hidden) {
            let (before, after) = (slot.read(source, index), slot.read(target, index));
            if before != after {
                let name = match variable.length {
                    Some(_) => format!("{}[{index}]", variable.name),
                    None => variable.name.clone(),
                };
                changes.push(VariableChange {
                    name,
                    before: variable.domain.show(before),
                    after: variable.domain.show(after),
                });
            }
        }
    }
    changes
}

impl TraceStep {
    /// The details shown for the step: the initial configuration, or the changes that are not part of the action's
    /// name.
    pub fn details(&self) -> Vec<String> {
        match &self.action {
            None => self.state.iter().map(display_field).collect(),
            Some(action) => {
                self.changes.iter().map(ToString::to_string).filter(|change| change != action).collect()
            }
        }
    }
}

fn display_field((name, value): &(String, Value)) -> String {
    match value {
        Value::String(text) => format!("{name} = {text}"),
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned)).collect();
            format!("{name} = [{}]", items.join(", "))
        }
        other => format!("{name} = {other}"),
    }
}

impl fmt::Display for VariableChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.name, self.before, self.after)
    }
}

/// A comma-separated list, wrapped to lines of at most `room` columns where possible.
pub(crate) fn wrap_list(words: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let comma = if at + 1 < words.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if width(line) + width(word) + 2 <= room => line.push_str(&format!(" {word}{comma}")),
            _ => lines.push(format!("{word}{comma}")),
        }
    }
    lines
}

fn width(text: &str) -> usize {
    text.chars().count()
}
