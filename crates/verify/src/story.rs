//! An execution of a model, told step by step.

use invigil_check::report::{Paint, Style};
use invigil_explore::Path;
use invigil_model::{Kind, Model, Reason, Step, Variable};
use serde_json::{Map, Value, json};
use std::fmt;

/// An execution of a model as it is told: to people as text, to programs as a trace.
#[derive(Clone, Debug)]
pub struct Story {
    /// What happens; the first scene is the start.
    pub scenes: Vec<Scene>,
    /// How it ends.
    pub ending: Ending,
}

/// How an execution ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the last scene.
    Here,
    /// Nothing can happen any more.
    Deadlock,
    /// It goes on for ever, again and again from the scene of this number.
    Repeats(usize),
    /// It stays in the last scene for ever, because nothing can happen.
    Stays,
    /// An action goes wrong.
    Fault {
        /// What it is called.
        action: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// One step of an execution, and where it leads.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The action, as people call it; none at the start.
    pub action: Option<String>,
    /// The event that properties see, with its parameters.
    pub event: Option<(String, Vec<(String, Value)>)>,
    /// The variables that people see, and what they hold now.
    pub state: Vec<(String, Value)>,
    /// What is different now.
    pub changes: Vec<Change>,
}

/// A variable that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The variable, with the index of the element.
    pub name: String,
    /// What it held.
    pub before: String,
    /// What it holds.
    pub after: String,
}

impl Story {
    /// The story of a path. Words behind those of the model, which products add, are left alone.
    pub fn of(model: &Model, path: &Path) -> Story {
        let mut scenes: Vec<Scene> = Vec::new();
        for (at, state) in path.states.iter().enumerate() {
            let source = at.checked_sub(1).map(|before| &*path.states[before]);
            let action = at.checked_sub(1).and_then(|before| path.actions.get(before)).copied();
            scenes.push(scene(model, source, action, state));
        }
        let ending = match (&path.back, path.fault, path.states.last()) {
            (_, Some(action), Some(last)) => fault(model, action, last),
            (Some((_, None)), ..) => Ending::Stays,
            (Some((to, Some(action))), _, Some(last)) => {
                let target = path.states.get(*to).unwrap_or(last);
                scenes.push(scene(model, Some(last), Some(*action), target));
                Ending::Repeats(*to)
            }
            _ => Ending::Here,
        };
        Story { scenes, ending }
    }

    /// The story in lines: where it starts, and then what happens and what that changes.
    pub fn text(&self, style: &Style) -> String {
        self.text_after(None, style)
    }

    /// The same, below another story: if both start alike, a wide start is not told again.
    pub fn text_after(&self, above: Option<&Story>, style: &Style) -> String {
        let start = |story: &Story| story.scenes.first().map(|scene| scene.state.clone());
        let starts_alike = above.is_some_and(|above| start(above) == start(self));
        let digits = self.scenes.len().saturating_sub(1).to_string().len().max(2);
        let longest =
            self.scenes.iter().filter_map(|scene| scene.action.as_ref()).map(|name| width(name)).max();
        let column = longest.unwrap_or(0).clamp(5, style.width / 2);
        let mut text = String::new();
        for (at, scene) in self.scenes.iter().enumerate() {
            let number = style.paint(Paint::Faint, &format!("{at:>digits$}"));
            let mark = if self.ending == Ending::Repeats(at) { "┌" } else { " " };
            let name = scene.action.as_deref().unwrap_or("start");
            text.push_str(&format!("  {mark}{number}  {name}"));
            let told = scene.told();
            let (mut indent, mut gap) = (digits + column + 7, column.saturating_sub(width(name)) + 2);
            let mut lines = wrapped(&told, style.width.saturating_sub(indent));
            if lines.len() > 1 && scene.action.is_none() {
                // A wide state takes all the room there is.
                (indent, gap) = (digits + width(name) + 7, 2);
                lines = match starts_alike {
                    true => vec!["as above".to_owned()],
                    false => wrapped(&told, style.width.saturating_sub(indent)),
                };
            }
            for (at, line) in lines.iter().enumerate() {
                match at {
                    0 if width(name) <= column => text.push_str(&format!("{}{line}", " ".repeat(gap))),
                    // What is told of a name that is too long begins below it.
                    _ => text.push_str(&format!("\n{}{line}", " ".repeat(indent))),
                }
            }
            text.push('\n');
        }
        let last = match &self.ending {
            Ending::Here => return text,
            Ending::Deadlock => "nothing can happen any more".to_owned(),
            Ending::Repeats(to) => {
                let last = self.scenes.len().saturating_sub(1);
                format!("└ after {last} it is as after {to}, and goes on like that for ever")
            }
            Ending::Stays => "nothing can happen any more: it stays so for ever".to_owned(),
            Ending::Fault { action, reason } => format!("{action} goes wrong: {reason}"),
        };
        text.push_str(&format!("  {last}\n"));
        text
    }

    /// Whether the same happens in both, but for how it goes on where nothing can happen.
    pub(crate) fn is_as(&self, other: &Story) -> bool {
        let same = |(a, b): (&Scene, &Scene)| (&a.action, &a.state) == (&b.action, &b.state);
        let ends = |story: &Story| match &story.ending {
            Ending::Stays => Ending::Deadlock,
            ending => ending.clone(),
        };
        self.scenes.len() == other.scenes.len()
            && self.scenes.iter().zip(&other.scenes).all(same)
            && ends(self) == ends(other)
    }

    /// The story as a trace in JSON Lines, which `check` and `debug` read: the first line has the state at the start,
    /// and the others an event each, with the state after it.
    pub fn trace(&self) -> String {
        let mut text = String::new();
        for scene in &self.scenes {
            let mut line = Map::new();
            if let Some(action) = &scene.action {
                let event = scene.event.as_ref().map_or(action, |(name, _)| name);
                line.insert("event".to_owned(), json!(event));
                line.insert("action".to_owned(), json!(action));
            }
            let parameters = scene.event.iter().flat_map(|(_, parameters)| parameters);
            for (name, value) in parameters.chain(&scene.state) {
                line.entry(name.clone()).or_insert_with(|| value.clone());
            }
            text.push_str(&Value::Object(line).to_string());
            text.push('\n');
        }
        text
    }

    /// The story for programs, as part of a report.
    pub fn json(&self) -> Value {
        let scenes: Vec<Value> = self
            .scenes
            .iter()
            .map(|scene| {
                let fields = |of: &[(String, Value)]| Value::Object(of.iter().cloned().collect());
                json!({
                    "action": scene.action,
                    "event": scene.event.as_ref().map(|(name, _)| name),
                    "parameters": scene.event.as_ref().map(|(_, of)| fields(of)),
                    "state": fields(&scene.state),
                })
            })
            .collect();
        let ending = match &self.ending {
            Ending::Here => json!({"kind": "end"}),
            Ending::Deadlock => json!({"kind": "deadlock"}),
            Ending::Repeats(to) => json!({"kind": "repeats", "from": to}),
            Ending::Stays => json!({"kind": "stays"}),
            Ending::Fault { action, reason } => json!({"kind": "fault", "action": action, "reason": reason}),
        };
        json!({"steps": scenes, "ending": ending})
    }
}

fn scene(model: &Model, source: Option<&[u64]>, action: Option<u32>, target: &[u64]) -> Scene {
    let event = action.and_then(|id| {
        let action = model.action(id);
        let step = Step { source, action: Some(id), target };
        // A parameter that cannot be evaluated is left out: the step was taken all the same.
        let value = |(name, value): &(String, invigil_model::Expression)| {
            model.value(value, step).ok().map(|value| (name.clone(), json!(value)))
        };
        Some((action.event.clone()?, action.parameters.iter().filter_map(value).collect()))
    });
    let changes = source.map(|source| changes(model, source, target)).unwrap_or_default();
    Scene {
        action: action.map(|id| model.action(id).name.clone()),
        event,
        state: state(model, target),
        changes,
    }
}

fn fault(model: &Model, action: u32, state: &[u64]) -> Ending {
    let name = model.action(action).name.clone();
    let outcomes = model.outcomes(state, action);
    let reason: Option<&Reason> =
        outcomes.iter().find_map(|outcome| outcome.fault.as_ref().map(|fault| &fault.reason));
    Ending::Fault { action: name, reason: reason.map(ToString::to_string).unwrap_or_default() }
}

fn state(model: &Model, words: &[u64]) -> Vec<(String, Value)> {
    let seen = model.parts().variables.iter().zip(&model.layout().slots).filter(|(of, _)| !of.is_hidden);
    seen.map(|(variable, slot)| {
        let value = |index| plain(variable, slot.read(words, index));
        let held = match variable.length {
            None => value(0),
            Some(length) => Value::Array((0..length).map(value).collect()),
        };
        (variable.name.clone(), held)
    })
    .collect()
}

fn plain(variable: &Variable, value: i64) -> Value {
    match &variable.kind {
        Kind::Integer { .. } => json!(value),
        Kind::Boolean => json!(value != 0),
        Kind::Names(_) => json!(variable.kind.show(value)),
    }
}

fn changes(model: &Model, source: &[u64], target: &[u64]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (variable, slot) in model.parts().variables.iter().zip(&model.layout().slots) {
        for index in (0..variable.elements()).filter(|_| !variable.is_hidden) {
            let (before, after) = (slot.read(source, index), slot.read(target, index));
            if before != after {
                let name = match variable.length {
                    Some(_) => format!("{}[{index}]", variable.name),
                    None => variable.name.clone(),
                };
                changes.push(Change {
                    name,
                    before: variable.kind.show(before),
                    after: variable.kind.show(after),
                });
            }
        }
    }
    changes
}

impl Scene {
    /// What is to be told of it in words: the state at the start, and later what changed and is not in the action's name.
    pub fn told(&self) -> Vec<String> {
        match &self.action {
            None => self.state.iter().map(shown).collect(),
            Some(action) => {
                self.changes.iter().map(ToString::to_string).filter(|change| change != action).collect()
            }
        }
    }
}

fn shown((name, value): &(String, Value)) -> String {
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

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.name, self.before, self.after)
    }
}

/// Words with commas between them, in lines of at most this width where that can be.
pub(crate) fn wrapped(words: &[String], room: usize) -> Vec<String> {
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
