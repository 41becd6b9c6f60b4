//! Rendering of configurations, changes and enabled actions.

use super::model_debugger::ModelDebugger;
use super::subject_syntax::SubjectSyntax;
use invigil_check::report::Paint;
use invigil_semantics::{Describe, Evaluate, Fields, Semantics};

/// Number of actions listed after a step.
pub(super) const SHORT_LIST: usize = 12;

/// The fields that differ: name, old value, new value.
fn changes(before: &Fields, after: &Fields) -> Vec<(String, String, String)> {
    let mut changes = Vec::new();
    for field in after {
        let old = before.get(&field.name).unwrap_or("");
        if old == field.value {
            continue;
        }
        // For an array, list only the changed elements.
        match (elements(old), elements(&field.value)) {
            (Some(old), Some(new)) if old.len() == new.len() => {
                for (index, (old, new)) in
                    old.iter().zip(&new).enumerate().filter(|(_, (old, new))| old != new)
                {
                    changes.push((format!("{}[{index}]", field.name), (*old).to_owned(), (*new).to_owned()));
                }
            }
            _ => changes.push((field.name.clone(), old.to_owned(), field.value.clone())),
        }
    }
    changes
}

/// Splits a rendered list of plain values into its elements.
fn elements(value: &str) -> Option<Vec<&str>> {
    let inside = value.strip_prefix('[')?.strip_suffix(']')?;
    (!inside.contains(['[', ']', '(', '"'])).then(|| inside.split(", ").collect())
}

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Renders an action, prefixed with its process.
    pub(super) fn action(&self, action: &S::Action) -> String {
        let name = self.subject.describe_action(action);
        match self.syntax.actor(action) {
            Some(actor) if !name.starts_with(&actor) => format!("{actor}: {name}"),
            _ => name,
        }
    }

    /// Renders the changes between two configurations, one line each.
    pub(super) fn diff(&self, before: &S::Config, after: &S::Config) -> Vec<String> {
        let (before, after) = (self.subject.describe_config(before), self.subject.describe_config(after));
        let line = |(name, old, new): (String, String, String)| {
            let new = self.style.paint(Paint::Changed, &new);
            if old.is_empty() { format!("{name}: {new}") } else { format!("{name}: {old} → {new}") }
        };
        changes(&before, &after).into_iter().map(line).collect()
    }

    /// Renders the step to a node: its number, the action, the changes.
    pub(super) fn step_lines(&self, node: usize, out: &mut String) {
        let Some(step) = self.step(node) else { return };
        let number = self.style.paint(Paint::Title, &format!("#{node}"));
        let label = step.action.map_or_else(|| "start".to_owned(), |action| self.action(action));
        let names: Vec<String> = self.names_of(node).map(|name| format!("  \"{name}\"")).collect();
        out.push_str(&format!("{number}  {label}{}\n", names.concat()));
        match step.source {
            Some(source) => {
                let changed = self.diff(source, step.target);
                if changed.is_empty() {
                    out.push_str(&format!("      {}\n", self.style.paint(Paint::Faint, "no change")));
                }
                for line in changed {
                    out.push_str(&format!("      {line}\n"));
                }
            }
            None => self.state_lines(step.target, "", out),
        }
    }

    /// Renders the fields of a configuration whose names start with `prefix`.
    pub(super) fn state_lines(&self, config: &S::Config, prefix: &str, out: &mut String) {
        let fields = self.subject.describe_config(config);
        let shown: Vec<_> = fields.iter().filter(|field| field.name.starts_with(prefix)).collect();
        let width = shown.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
        for field in shown {
            out.push_str(&format!("      {:width$} = {}\n", field.name, field.value));
        }
    }

    /// Renders the current node: the step, displayed expressions and enabled actions.
    pub(super) fn render_current(&mut self) -> String {
        let mut out = String::new();
        if let Some(node) = self.current_node() {
            self.step_lines(node, &mut out);
        }
        self.render_changed_watches(&mut out);
        out.push_str(&self.render_choices(SHORT_LIST));
        out
    }

    /// Renders the displayed expressions whose values changed.
    pub(super) fn render_changed_watches(&mut self, out: &mut String) {
        let Some(node) = self.current_node() else { return };
        let value = |model_debugger: &Self, at: usize| {
            let step = model_debugger.step(node)?;
            Some((model_debugger.watches[at].value)(step).unwrap_or_else(|error| format!("error: {error}")))
        };
        for at in 0..self.watches.len() {
            let now = value(self, at);
            let watch = &mut self.watches[at];
            if now == watch.last {
                continue;
            }
            let shown = self.style.paint(Paint::Changed, now.as_deref().unwrap_or(""));
            let old = watch.last.take().map_or_else(String::new, |old| format!("{old} → "));
            out.push_str(&format!("      {}: {old}{shown}\n", watch.text));
            watch.last = now;
        }
    }

    /// Renders the enabled actions or the outcomes to select from, in at most `max_lines` lines.
    pub(super) fn render_choices(&self, max_lines: usize) -> String {
        match &self.at.current {
            Some(current) => self.render_enabled(current, max_lines),
            None => self.render_options(max_lines),
        }
    }

    fn render_enabled(&self, current: &S::Config, max_lines: usize) -> String {
        let actions: Vec<S::Action> = self.subject.actions(current).into_iter().collect();
        if actions.is_empty() {
            return format!("  {}\n", self.style.paint(Paint::Undecided, "deadlock: no action is enabled"));
        }
        let mut out = String::new();
        for (number, action) in (1..).zip(&actions).take(max_lines) {
            let outcomes = self.subject.execute(current, action).into_iter().count();
            let outcomes = match outcomes {
                0 => "  (no outcome)".to_owned(),
                1 => String::new(),
                several => format!("  ({several} outcomes)"),
            };
            let outcomes = self.style.paint(Paint::Faint, &outcomes);
            out.push_str(&format!("{number:>4}  {}{outcomes}\n", self.action(action)));
        }
        if actions.len() > max_lines {
            out.push_str(&format!("      … {} more; `actions` lists all\n", actions.len() - max_lines));
        }
        out
    }

    fn render_options(&self, max_lines: usize) -> String {
        let options = &self.at.options;
        let (mut out, lines): (String, Vec<Vec<String>>) = match &self.at.from {
            Some((source, action)) => {
                let title = format!("{} outcomes of {}:\n", options.len(), self.action(action));
                (title, options.iter().map(|option| self.diff(source, option)).collect())
            }
            None if options.is_empty() => return "no initial configuration\n".to_owned(),
            None => {
                let title = format!("{} initial configurations:\n", options.len());
                (title, self.differing_fields())
            }
        };
        for (number, line) in (1..).zip(&lines).take(max_lines) {
            let line = if line.is_empty() { "no change".to_owned() } else { line.join(", ") };
            out.push_str(&format!("{number:>4}  {line}\n"));
        }
        if lines.len() > max_lines {
            out.push_str(&format!("      … {} more; `actions` lists all\n", lines.len() - max_lines));
        }
        out + "  `select N` selects one\n"
    }

    /// Describes each option by the fields in which the options differ.
    fn differing_fields(&self) -> Vec<Vec<String>> {
        let all: Vec<Fields> =
            self.at.options.iter().map(|option| self.subject.describe_config(option)).collect();
        let differs = |name: &str| all.iter().any(|fields| fields.get(name) != all[0].get(name));
        let describe = |fields: &Fields| {
            let different = fields.iter().filter(|field| differs(&field.name));
            different.map(|field| format!("{} = {}", field.name, field.value)).collect()
        };
        all.iter().map(describe).collect()
    }
}
