//! The commands `state`, `print`, `expect`, `watch`, `unwatch`, `path` and `info`.

use super::model_debugger::{DisplayExpr, ModelDebugger};
use super::subject_syntax::SubjectSyntax;
use invigil_semantics::{Describe, Evaluate, Semantics};

type CommandResult = Result<String, String>;

impl<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    /// The current node, or an error if an outcome must be selected first.
    fn require_current_node(&self) -> Result<usize, String> {
        self.current_node().ok_or_else(|| "there are several outcomes: `select` one, or go `back`".to_owned())
    }

    /// Shows the variables whose names start with `rest`.
    pub(super) fn state_command(&mut self, rest: &str) -> CommandResult {
        let node = self.require_current_node()?;
        let mut out = String::new();
        if let Some(step) = self.step(node) {
            self.state_lines(step.target, rest, &mut out);
        }
        if out.is_empty() { Err(format!("no variable starts with `{rest}`")) } else { Ok(out) }
    }

    /// Evaluates an expression on the last step.
    pub(super) fn print_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            return Err("missing expression".to_owned());
        }
        let node = self.require_current_node()?;
        let value = self.syntax.value(rest)?;
        let step = self.step(node).ok_or("no configuration has been visited yet")?;
        Ok(format!("{rest} = {}\n", value(step)?))
    }

    /// Fails unless a predicate holds for the last step.
    pub(super) fn expect_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            return Err("missing predicate".to_owned());
        }
        let node = self.require_current_node()?;
        let predicate = self.syntax.predicate(rest)?;
        let step = self.step(node).ok_or("no configuration has been visited yet")?;
        match self.subject.evaluate(&predicate, step) {
            Ok(true) => Ok("as expected\n".to_owned()),
            Ok(false) => Err(format!("expectation failed: `{rest}` is false here")),
            Err(error) => Err(format!("`{rest}` cannot be evaluated here: {error}")),
        }
    }

    /// Displays an expression whenever its value changes, or lists the displayed expressions.
    pub(super) fn watch_command(&mut self, rest: &str) -> CommandResult {
        if rest.is_empty() {
            if self.watches.is_empty() {
                return Ok("no displayed expressions; `watch EXPRESSION` adds one\n".to_owned());
            }
            let line = |(number, watch): (usize, &DisplayExpr<'_, S>)| {
                format!("{number:>4}  {} = {}\n", watch.text, watch.last.as_deref().unwrap_or("?"))
            };
            return Ok((1..).zip(&self.watches).map(line).collect());
        }
        let value = self.syntax.value(rest)?;
        self.watches.push(DisplayExpr { text: rest.to_owned(), value, last: None });
        let mut out = String::new();
        self.render_changed_watches(&mut out);
        Ok(out)
    }

    /// Removes a displayed expression.
    pub(super) fn unwatch_command(&mut self, rest: &str) -> CommandResult {
        if rest == "all" {
            self.watches.clear();
            return Ok(String::new());
        }
        let number = rest.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match number.filter(|at| *at < self.watches.len()) {
            Some(at) => {
                self.watches.remove(at);
                Ok(String::new())
            }
            None => Err("expected a number or `all`; `watch` lists the displayed expressions".to_owned()),
        }
    }

    /// Shows the steps from the start to the current node.
    pub(super) fn path_command(&mut self, rest: &str) -> CommandResult {
        let Some(node) = self.at.history.at() else {
            return Err("no configuration has been visited yet".to_owned());
        };
        let (path, mut out) = (self.at.history.path(node), String::new());
        match rest {
            "" => self.render_steps(&path, &mut out),
            "all" => path.iter().for_each(|node| self.step_lines(*node, &mut out)),
            word => return Err(format!("unknown argument `{word}`; usage: `path` or `path all`")),
        }
        Ok(out)
    }

    /// Shows breakpoints, displayed expressions and settings.
    pub(super) fn info_command(&mut self) -> CommandResult {
        let history = &self.at.history;
        let universes = (0..history.len()).filter(|node| history.children(Some(*node)).is_empty()).count();
        let here = match self.current_node() {
            Some(node) => format!("#{node}, {} steps from its start", history.path(node).len() - 1),
            None => format!("selection of one of {} configurations", self.at.options.len()),
        };
        let displayed: Vec<&str> = self.watches.iter().map(|watch| watch.text.as_str()).collect();
        let mut out = format!("subject      {}\n", self.name);
        out.push_str(&format!("here         {here}\n"));
        out.push_str(&format!("tree         {} nodes in {universes} universes\n", history.len()));
        out.push_str(&format!("displayed    {}\n", or_none(&displayed.join(", "))));
        out.push_str(&format!("reduction    {}\n", or_none(self.reduction.as_deref().unwrap_or_default())));
        out.push_str(&format!("limits       {}\n", self.describe_limits()));
        Ok(out + "breakpoints\n" + &self.list_breakpoints())
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}
