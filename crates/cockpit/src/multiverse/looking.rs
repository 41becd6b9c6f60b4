//! `where`, `actions`, `state`, `print`, `expect`, `watch`, `unwatch`, `path`, `info`.

use super::dialect::Dialect;
use super::journey::{Journey, Watch};
use invigil_semantics::{Describe, Evaluate, Semantics};

type Said = Result<String, String>;

impl<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    /// The place at which one is, or the reason why there is none.
    fn stand(&self) -> Result<usize, String> {
        self.place().ok_or_else(|| "there are several outcomes: `select` one first, or go `back`".to_owned())
    }

    /// All of the configuration.
    pub(super) fn state_command(&mut self, rest: &str) -> Said {
        let place = self.stand()?;
        let mut out = String::new();
        if let Some(step) = self.step(place) {
            self.state_lines(step.target, rest, &mut out);
        }
        if out.is_empty() { Err(format!("nothing has a name that begins with `{rest}`")) } else { Ok(out) }
    }

    /// What an expression is worth here.
    pub(super) fn print_command(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return Err("say what to print: a variable, or an expression".to_owned());
        }
        let place = self.stand()?;
        let value = self.dialect.value(rest)?;
        let step = self.step(place).ok_or("nothing was seen yet")?;
        Ok(format!("{rest} = {}\n", value(step)?))
    }

    /// Fails unless a predicate is true of the last step.
    pub(super) fn expect_command(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return Err("say what to expect: a predicate".to_owned());
        }
        let place = self.stand()?;
        let predicate = self.dialect.predicate(rest)?;
        let step = self.step(place).ok_or("nothing was seen yet")?;
        match self.subject.evaluate(&predicate, step) {
            Ok(true) => Ok("as expected\n".to_owned()),
            Ok(false) => Err(format!("not as expected: `{rest}` is false here")),
            Err(error) => Err(format!("`{rest}` cannot be evaluated here: {error}")),
        }
    }

    /// Shows an expression whenever it changes, or lists what is shown.
    pub(super) fn watch_command(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            if self.watches.is_empty() {
                return Ok("nothing is watched: `watch EXPRESSION`\n".to_owned());
            }
            let line = |(number, watch): (usize, &Watch<'_, S>)| {
                format!("{number:>4}  {} = {}\n", watch.text, watch.last.as_deref().unwrap_or("?"))
            };
            return Ok((1..).zip(&self.watches).map(line).collect());
        }
        let value = self.dialect.value(rest)?;
        self.watches.push(Watch { text: rest.to_owned(), value, last: None });
        let mut out = String::new();
        self.watched(&mut out);
        Ok(out)
    }

    /// Stops showing an expression.
    pub(super) fn unwatch_command(&mut self, rest: &str) -> Said {
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
            None => Err("say which number, or `all`: `watch` lists them".to_owned()),
        }
    }

    /// The steps from the start to here.
    pub(super) fn path_command(&mut self, rest: &str) -> Said {
        let Some(place) = self.at.history.at() else { return Err("nothing was seen yet".to_owned()) };
        let (path, mut out) = (self.at.history.path(place), String::new());
        match rest {
            "" => self.steps_told(&path, &mut out),
            "all" => path.iter().for_each(|place| self.step_lines(*place, &mut out)),
            word => return Err(format!("`path` or `path all`, not `path {word}`")),
        }
        Ok(out)
    }

    /// What there is to know of this session.
    pub(super) fn info_command(&mut self) -> Said {
        let history = &self.at.history;
        let universes = (0..history.len()).filter(|place| history.children(Some(*place)).is_empty()).count();
        let here = match self.place() {
            Some(place) => format!("#{place}, {} steps from its start", history.path(place).len() - 1),
            None => format!("one of {} configurations is to be selected", self.at.options.len()),
        };
        let watched: Vec<&str> = self.watches.iter().map(|watch| watch.text.as_str()).collect();
        let mut out = format!("subject      {}\n", self.name);
        out.push_str(&format!("here         {here}\n"));
        out.push_str(&format!("history      {} places in {universes} universes\n", history.len()));
        out.push_str(&format!("watched      {}\n", or_nothing(&watched.join(", "))));
        out.push_str(&format!(
            "reduction    {}\n",
            or_nothing(self.reduction.as_deref().unwrap_or_default())
        ));
        out.push_str(&format!("runs         {}\n", self.limits_told()));
        Ok(out + "breakpoints\n" + &self.breaks_listed())
    }
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}
