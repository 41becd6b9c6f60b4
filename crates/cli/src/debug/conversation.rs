//! What a person writes about a program of a remote language: expressions in that language's own syntax.

use super::attended::Attended;
use invigil_cockpit::multiverse::{Dialect, Value};
use invigil_remote::Remote;
use invigil_semantics::{Describe, Semantics, StepRef};

/// The dialect of a language of another program.
pub(super) struct Spoken<'a>(pub(super) &'a Remote);

impl<'a> Dialect<Attended<'a>> for Spoken<'_> {
    fn predicate(&self, text: &str) -> Result<String, String> {
        match self.0.can("evaluate") {
            true => Ok(text.to_owned()),
            false => Err(format!("the language `{}` evaluates no expressions", self.0.name())),
        }
    }

    fn named(&self, name: &str) -> Result<String, String> {
        Err(format!(
            "actions of the language `{}` cannot be looked for by their names, such as `{name}`; write a condition of \
             the language",
            self.0.name()
        ))
    }

    fn value<'d>(&'d self, text: &str) -> Result<Value<'d, Attended<'a>>, String>
    where
        Attended<'a>: 'd,
    {
        let (remote, text) = (self.0, text.to_owned());
        Ok(Box::new(move |step: StepRef<'_, Attended<'a>>| {
            // A part of the configuration is shown as it is.
            if let Some(value) = remote.describe_config(step.target).get(&text) {
                return Ok(value.to_owned());
            }
            let value = remote.values_of(&text, &[step]).pop();
            value.unwrap_or_else(|| Err("there is no answer".to_owned())).map(|value| value.to_string())
        }))
    }

    fn words(&self) -> Vec<String> {
        let start = self.0.initial().into_iter().next();
        let fields = start.map(|start| self.0.describe_config(&start)).unwrap_or_default();
        fields.iter().map(|field| field.name.clone()).collect()
    }
}
