//! Expressions of the user about a remote subject, in the syntax of its language.

use super::reporting_remote::ReportingRemote;
use invigil_cockpit::multiverse::{StepEvaluator, SubjectSyntax};
use invigil_remote::Remote;
use invigil_semantics::{Describe, Semantics, StepRef};

/// The syntax of a remote language.
pub(super) struct RemoteSyntax<'a>(pub(super) &'a Remote);

impl<'a> SubjectSyntax<ReportingRemote<'a>> for RemoteSyntax<'_> {
    fn predicate(&self, text: &str) -> Result<String, String> {
        match self.0.supports("evaluate") {
            true => Ok(text.to_owned()),
            false => Err(format!("the language `{}` cannot evaluate expressions", self.0.name())),
        }
    }

    fn named(&self, name: &str) -> Result<String, String> {
        Err(format!(
            "breakpoints on action names such as `{name}` are not supported for the language `{}`; use a \
             condition of the language",
            self.0.name()
        ))
    }

    fn value<'d>(&'d self, text: &str) -> Result<StepEvaluator<'d, ReportingRemote<'a>>, String>
    where
        ReportingRemote<'a>: 'd,
    {
        let (remote, text) = (self.0, text.to_owned());
        Ok(Box::new(move |step: StepRef<'_, ReportingRemote<'a>>| {
            // The name of a field yields the field itself.
            if let Some(value) = remote.describe_config(step.target).get(&text) {
                return Ok(value.to_owned());
            }
            let value = remote.values_of(&text, &[step]).pop();
            value
                .unwrap_or_else(|| Err("no answer from the remote language".to_owned()))
                .map(|value| value.to_string())
        }))
    }

    fn names(&self) -> Vec<String> {
        let start = self.0.initial().into_iter().next();
        let fields = start.map(|start| self.0.describe_config(&start)).unwrap_or_default();
        fields.iter().map(|field| field.name.clone()).collect()
    }
}
