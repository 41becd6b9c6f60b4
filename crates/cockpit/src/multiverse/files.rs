//! The commands `save` and `open`: the tree as lines of JSON.
//!
//! A line is a node of the tree: its number (`id`), the number of its `parent` (default: the line before), the
//! `action` and the index of its `outcome`, counted from 0, and the `state`, which is checked when the file is opened.
//! A node without an action is an initial configuration. All fields except the action are optional.

use super::model_debugger::ModelDebugger;
use super::subject_syntax::SubjectSyntax;
use invigil_explore::breakpoint_search::Execution;
use invigil_explore::debugger::{DebugAction, DebugConfig};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs;

type CommandResult = Result<String, String>;

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Writes all universes to a file.
    pub(super) fn save_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            return Err("missing file".to_owned());
        }
        let count = self.at.history.len();
        let text: String = (0..count).map(|node| self.json_line(node) + "\n").collect();
        fs::write(rest, text).map_err(|error| format!("cannot write {rest}: {error}"))?;
        Ok(format!("wrote {count} nodes to {rest}\n"))
    }

    fn json_line(&self, node: usize) -> String {
        let mut fields = vec![format!("\"id\":{node}")];
        let Some(step) = self.step(node) else { return String::new() };
        let outcomes: Vec<S::Config> = match (step.source, step.action) {
            (Some(source), Some(action)) => {
                let parent = self.at.history.parent(node).unwrap_or_default();
                fields.push(format!("\"parent\":{parent}"));
                fields.push(format!("\"action\":{}", json!(self.subject.describe_action(action))));
                self.subject.execute(source, action).into_iter().collect()
            }
            _ => self.subject.initial().into_iter().collect(),
        };
        if let Some(outcome) = outcomes.iter().position(|outcome| outcome == step.target) {
            fields.push(format!("\"outcome\":{outcome}"));
        }
        let names: Vec<&str> = self.names_of(node).collect();
        if !names.is_empty() {
            fields.push(format!("\"names\":{}", json!(names)));
        }
        if self.at.history.at() == Some(node) {
            fields.push("\"here\":true".to_owned());
        }
        // In the order of the subject, which `Map` would not keep.
        let state: Vec<String> = self
            .subject
            .describe_config(step.target)
            .iter()
            .map(|field| format!("{}:{}", json!(field.name), json!(field.value)))
            .collect();
        fields.push(format!("\"state\":{{{}}}", state.join(",")));
        format!("{{{}}}", fields.join(","))
    }

    /// Adds the executions of a file to the tree, and goes to the node marked `here`, or to the last one.
    pub(super) fn open_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            return Err("missing file".to_owned());
        }
        let text = fs::read_to_string(rest).map_err(|error| format!("cannot read {rest}: {error}"))?;
        let before = (self.at.clone(), self.names.clone());
        match self.replay(&text) {
            Ok(()) => Ok(self.render_current()),
            Err((line, error)) => {
                (self.at, self.names) = before;
                Err(format!("{rest}:{line}: {error}"))
            }
        }
    }

    fn replay(&mut self, text: &str) -> Result<(), (usize, String)> {
        let mut nodes: HashMap<u64, usize> = HashMap::new();
        let (mut previous, mut marked) = (None, None);
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let failed = |error: String| (number, error);
            let entry: Map<String, Value> =
                serde_json::from_str(line).map_err(|error| failed(format!("not a JSON object: {error}")))?;
            let action = ["action", "event"].into_iter().find_map(|key| entry.get(key)?.as_str());
            let parent = entry.get("parent").and_then(Value::as_u64);
            let from = match parent {
                Some(parent) => Some(
                    *nodes
                        .get(&parent)
                        .ok_or_else(|| failed(format!("parent {parent} is not defined before this line")))?,
                ),
                None => previous,
            };
            self.replay_step(from, action, &entry).map_err(failed)?;
            previous = self.current_node();
            if let (Some(id), Some(node)) = (entry.get("id").and_then(Value::as_u64), previous) {
                nodes.insert(id, node);
            }
            if entry.get("here") == Some(&Value::Bool(true)) {
                marked = previous;
            }
            let names = entry.get("names").and_then(Value::as_array).into_iter().flatten();
            for (name, node) in names.filter_map(Value::as_str).zip(std::iter::repeat(previous)) {
                self.names.extend(node.map(|node| (name.to_owned(), node)));
            }
        }
        if previous.is_none() {
            return Err((1, "the file is empty".to_owned()));
        }
        if let Some(node) = marked {
            self.act(&DebugAction::Jump(node));
        }
        Ok(())
    }

    /// Replays the step of a line.
    fn replay_step(
        &mut self,
        from: Option<usize>,
        action: Option<&str>,
        entry: &Map<String, Value>,
    ) -> Result<(), String> {
        let outcome = entry.get("outcome").and_then(Value::as_u64).map(|at| at as usize);
        let matches_state = |model_debugger: &Self, config: &S::Config| {
            let fields = model_debugger.subject.describe_config(config);
            let expected = entry.get("state").and_then(Value::as_object);
            expected.is_none_or(|expected| {
                expected.iter().all(|(name, value)| is_shown_as(fields.get(name), value))
            })
        };
        // A trace may contain the values of only some variables besides those of the event. The configuration with most
        // matching values is therefore chosen.
        let matching_values = |model_debugger: &Self, config: &S::Config| {
            let fields = model_debugger.subject.describe_config(config);
            entry.iter().filter(|(name, value)| is_shown_as(fields.get(name), value)).count()
        };
        let is_start = from.is_none() || action.is_none();
        if is_start {
            let initial = self.debugger.initial_config();
            self.at = DebugConfig { history: self.at.history.clone(), ..initial };
            let is_candidate = |(at, config): &(usize, &S::Config)| match action {
                // The state of the line is the one after its action.
                Some(_) => true,
                None => outcome.is_none_or(|outcome| outcome == *at) && matches_state(self, config),
            };
            let starts = self.at.options.iter().enumerate().filter(is_candidate).rev();
            let start = starts
                .max_by_key(|(_, config)| matching_values(self, config))
                .map(|(_, config)| config.clone());
            let start = start.ok_or("no initial configuration matches this line")?;
            self.act(&DebugAction::Select(start));
        } else if let Some(from) = from {
            self.act(&DebugAction::Jump(from));
        }
        let (Some(name), Some(current)) = (action, self.at.current.clone()) else { return Ok(()) };
        let (mut is_enabled, mut best) = (false, None);
        for action in self.subject.actions(&current) {
            let outcomes: Vec<S::Config> = self.subject.execute(&current, &action).into_iter().collect();
            for (at, target) in outcomes.into_iter().enumerate() {
                let is_named = self.subject.describe_action(&action) == name
                    || self.syntax.named(name).is_ok_and(|named| {
                        let step = Step::by_action(&current, &action, &target);
                        self.subject.evaluate(&named, step).unwrap_or(false)
                    });
                is_enabled |= is_named;
                if is_named && outcome.is_none_or(|outcome| outcome == at) && matches_state(self, &target) {
                    let matching_values = matching_values(self, &target);
                    if best.as_ref().is_none_or(|(most, _)| matching_values > *most) {
                        best = Some((matching_values, (action.clone(), target)));
                    }
                }
            }
        }
        if let Some((_, step)) = best {
            self.follow(&Execution { start: current, steps: vec![step], loop_back: None });
            return Ok(());
        }
        Err(match is_enabled {
            true => format!("`{name}` is enabled but does not lead to this state"),
            false => format!("`{name}` is not enabled at this point"),
        })
    }
}

/// Whether a JSON value matches a rendered field.
fn is_shown_as(shown: Option<&str>, value: &Value) -> bool {
    match value {
        Value::String(text) => shown == Some(text),
        // Lists are rendered in this form.
        Value::Array(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect();
            shown == Some(format!("[{}]", items.join(", ")).as_str())
        }
        other => shown == Some(other.to_string().as_str()),
    }
}
