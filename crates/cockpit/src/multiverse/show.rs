//! What a person sees: configurations, what changed in them, what can happen next.

use super::dialect::Dialect;
use super::journey::Journey;
use invigil_check::report::Paint;
use invigil_semantics::{Describe, Evaluate, Fields, Semantics};

/// How many actions are listed after a step.
const FEW: usize = 12;

/// What is different, by name: before and after.
fn changes(before: &Fields, after: &Fields) -> Vec<(String, String, String)> {
    let mut changes = Vec::new();
    for field in after {
        let was = before.get(&field.name).unwrap_or("");
        if was == field.value {
            continue;
        }
        // Of an array only the elements that changed.
        match (elements(was), elements(&field.value)) {
            (Some(was), Some(is)) if was.len() == is.len() => {
                for (index, (was, is)) in was.iter().zip(&is).enumerate().filter(|(_, (was, is))| was != is) {
                    changes.push((format!("{}[{index}]", field.name), (*was).to_owned(), (*is).to_owned()));
                }
            }
            _ => changes.push((field.name.clone(), was.to_owned(), field.value.clone())),
        }
    }
    changes
}

/// The elements of a list of plain values, as it is shown.
fn elements(value: &str) -> Option<Vec<&str>> {
    let inside = value.strip_prefix('[')?.strip_suffix(']')?;
    (!inside.contains(['[', ']', '(', '"'])).then(|| inside.split(", ").collect())
}

impl<S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'_, S, D> {
    /// An action with who performs it.
    pub(super) fn action(&self, action: &S::Action) -> String {
        let name = self.subject.describe_action(action);
        match self.dialect.actor(action) {
            Some(actor) if !name.starts_with(&actor) => format!("{actor}: {name}"),
            _ => name,
        }
    }

    /// What changed from one configuration to the next, a line for each.
    pub(super) fn diff(&self, before: &S::Config, after: &S::Config) -> Vec<String> {
        let (before, after) = (self.subject.describe_config(before), self.subject.describe_config(after));
        let line = |(name, was, is): (String, String, String)| {
            let is = self.style.paint(Paint::Changed, &is);
            if was.is_empty() { format!("{name}: {is}") } else { format!("{name}: {was} → {is}") }
        };
        changes(&before, &after).into_iter().map(line).collect()
    }

    /// The step to a place: its number, what happened, what changed.
    pub(super) fn step_lines(&self, place: usize, out: &mut String) {
        let Some(step) = self.step(place) else { return };
        let number = self.style.paint(Paint::Title, &format!("#{place}"));
        let what = step.action.map_or_else(|| "start".to_owned(), |action| self.action(action));
        let names: Vec<String> = self.names_of(place).map(|name| format!("  \"{name}\"")).collect();
        out.push_str(&format!("{number}  {what}{}\n", names.concat()));
        match step.source {
            Some(source) => {
                let changed = self.diff(source, step.target);
                if changed.is_empty() {
                    out.push_str(&format!("      {}\n", self.style.paint(Paint::Faint, "nothing changed")));
                }
                for line in changed {
                    out.push_str(&format!("      {line}\n"));
                }
            }
            None => self.state_lines(step.target, "", out),
        }
    }

    /// All parts of a configuration whose names begin so.
    pub(super) fn state_lines(&self, config: &S::Config, beginning: &str, out: &mut String) {
        let fields = self.subject.describe_config(config);
        let shown: Vec<_> = fields.iter().filter(|field| field.name.starts_with(beginning)).collect();
        let width = shown.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
        for field in shown {
            out.push_str(&format!("      {:width$} = {}\n", field.name, field.value));
        }
    }

    /// Where one is, as after a step: the step, what is watched, and what can happen.
    pub(super) fn here(&mut self) -> String {
        let mut out = String::new();
        if let Some(place) = self.place() {
            self.step_lines(place, &mut out);
        }
        self.watched(&mut out);
        out.push_str(&self.next(FEW));
        out
    }

    /// The values of what is watched that changed.
    pub(super) fn watched(&mut self, out: &mut String) {
        let Some(place) = self.place() else { return };
        let value = |journey: &Self, at: usize| {
            let step = journey.step(place)?;
            Some((journey.watches[at].value)(step).unwrap_or_else(|error| format!("none: {error}")))
        };
        for at in 0..self.watches.len() {
            let now = value(self, at);
            let watch = &mut self.watches[at];
            if now == watch.last {
                continue;
            }
            let shown = self.style.paint(Paint::Changed, now.as_deref().unwrap_or(""));
            let was = watch.last.take().map_or_else(String::new, |was| format!("{was} → "));
            out.push_str(&format!("      {}: {was}{shown}\n", watch.text));
            watch.last = now;
        }
    }

    /// What can be done next: actions, or options to select from; at most so many lines of them.
    pub(super) fn next(&self, most: usize) -> String {
        match &self.at.current {
            Some(current) => self.enabled(current, most),
            None => self.options(most),
        }
    }

    fn enabled(&self, current: &S::Config, most: usize) -> String {
        let actions: Vec<S::Action> = self.subject.actions(current).into_iter().collect();
        if actions.is_empty() {
            return format!("  {}\n", self.style.paint(Paint::Open, "nothing can happen here"));
        }
        let mut out = String::new();
        for (number, action) in (1..).zip(&actions).take(most) {
            let outcomes = self.subject.execute(current, action).into_iter().count();
            let outcomes = match outcomes {
                0 => "  (blocks)".to_owned(),
                1 => String::new(),
                several => format!("  ({several} outcomes)"),
            };
            let outcomes = self.style.paint(Paint::Faint, &outcomes);
            out.push_str(&format!("{number:>4}  {}{outcomes}\n", self.action(action)));
        }
        if actions.len() > most {
            out.push_str(&format!("      … {} more: `actions` lists all\n", actions.len() - most));
        }
        out
    }

    fn options(&self, most: usize) -> String {
        let options = &self.at.options;
        let (mut out, lines): (String, Vec<Vec<String>>) = match &self.at.from {
            Some((source, action)) => {
                let title = format!("{} outcomes of {}:\n", options.len(), self.action(action));
                (title, options.iter().map(|option| self.diff(source, option)).collect())
            }
            None if options.is_empty() => return "there is no configuration to start in\n".to_owned(),
            None => {
                let title = format!("{} configurations to start in:\n", options.len());
                (title, self.distinctions())
            }
        };
        for (number, line) in (1..).zip(&lines).take(most) {
            let line = if line.is_empty() { "nothing changes".to_owned() } else { line.join(", ") };
            out.push_str(&format!("{number:>4}  {line}\n"));
        }
        if lines.len() > most {
            out.push_str(&format!("      … {} more: `actions` lists all\n", lines.len() - most));
        }
        out + "  `select N` chooses one\n"
    }

    /// Each option by those of its parts that are not the same in all of them.
    fn distinctions(&self) -> Vec<Vec<String>> {
        let all: Vec<Fields> =
            self.at.options.iter().map(|option| self.subject.describe_config(option)).collect();
        let differs = |name: &str| all.iter().any(|fields| fields.get(name) != all[0].get(name));
        let of = |fields: &Fields| {
            let different = fields.iter().filter(|field| differs(&field.name));
            different.map(|field| format!("{} = {}", field.name, field.value)).collect()
        };
        all.iter().map(of).collect()
    }
}
