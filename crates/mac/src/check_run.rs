//! The checker as a stage: consumes instants and computes an outcome.

use crate::error::{FormatError, InputErrors};
use crate::format::{GroupReader, ReadProgress};
use crate::recognise::Sink;
use invigil_lang::medl;
use invigil_monitor::mac::{
    Action, ActionId, CheckOutput, Checker, EventGroup, Interface, ScriptError, Truth,
};
use std::io::{ErrorKind, Read};

/// A checker with statistics of its results.
pub struct CheckRun<'a> {
    checker: Checker,
    outcome: CheckOutcome,
    listener: Option<&'a mut dyn FnMut(&CheckOutput)>,
}

/// The kinds of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequirementKind {
    /// A condition that must always hold.
    Property,
    /// An event that must never occur.
    Alarm,
}

impl RequirementKind {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            RequirementKind::Property => "property",
            RequirementKind::Alarm => "alarm",
        }
    }
}

/// The results for a property or an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The kind.
    pub kind: RequirementKind,
    /// The name.
    pub name: String,
    /// The number of violations or alarms.
    pub count: u64,
    /// The time of the first one, in milliseconds.
    pub first: Option<i64>,
    /// The time of the last one.
    pub last: Option<i64>,
    /// The final value of a property.
    pub truth: Option<Truth>,
    /// The time since which a property has this value.
    pub since: Option<i64>,
}

/// The results of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckOutcome {
    /// The properties, then the alarms, in the order of the script.
    pub requirements: Vec<Requirement>,
    /// The number of instants.
    pub instants: u64,
    /// The times of the first and of the last instant.
    pub span: Option<(i64, i64)>,
    /// The names of the actions, and how often each was invoked.
    pub invoked: Vec<(String, u64)>,
    /// The number of faults in definitions of the script: integer divisions by zero, and strings that are too long.
    pub faults: u64,
    /// The number of instants with a time before that of their predecessor.
    pub backwards: u64,
}

impl CheckOutcome {
    /// The number of violations and alarms.
    pub fn violation_count(&self) -> u64 {
        self.requirements.iter().map(|requirement| requirement.count).sum()
    }

    fn count_invocation(&mut self, action: ActionId) {
        if let Some((_, count)) = self.invoked.get_mut(action.0 as usize) {
            *count += 1;
        }
    }
}

impl<'a> CheckRun<'a> {
    /// Starts a checker in its initial state.
    pub fn new(requirements: medl::RequirementScript) -> Result<CheckRun<'a>, ScriptError> {
        let requirement = |kind, name: String, truth| Requirement {
            kind,
            name,
            count: 0,
            first: None,
            last: None,
            truth,
            since: None,
        };
        let medl::RequirementScript { parts, properties, alarms, actions, .. } = requirements;
        let properties = properties
            .into_iter()
            .map(|(name, _)| requirement(RequirementKind::Property, name, Some(Truth::Undefined)));
        let alarms = alarms.into_iter().map(|(name, _)| requirement(RequirementKind::Alarm, name, None));
        let requirements = properties.chain(alarms).collect();
        let invoked = actions.into_iter().map(|(name, _)| (name, 0)).collect();
        let outcome = CheckOutcome { requirements, invoked, ..CheckOutcome::default() };
        Ok(CheckRun { checker: Checker::new(parts)?, outcome, listener: None })
    }

    /// Sets whether an undefined property counts as violated.
    pub fn undefined_violates(mut self, undefined_violates: bool) -> CheckRun<'a> {
        self.checker = self.checker.undefined_violates(undefined_violates);
        self
    }

    /// Sets a listener for every instant with results.
    pub fn with_listener(mut self, listener: &'a mut dyn FnMut(&CheckOutput)) -> CheckRun<'a> {
        self.listener = Some(listener);
        self
    }

    /// The results so far.
    pub fn outcome(&self) -> &CheckOutcome {
        &self.outcome
    }

    /// The results.
    pub fn into_outcome(self) -> CheckOutcome {
        self.outcome
    }

    fn instant(&mut self, group: &EventGroup) {
        let output = self.checker.instant(group);
        let (outcome, time) = (&mut self.outcome, group.time());
        outcome.instants += 1;
        outcome.span = match outcome.span {
            None => Some((time, time)),
            Some((first, last)) => {
                outcome.backwards += u64::from(time < last);
                Some((first, time))
            }
        };
        for change in output.properties() {
            let requirement = &mut outcome.requirements[change.property as usize];
            (requirement.truth, requirement.since) = (Some(change.truth), Some(time));
            if change.violations > requirement.count {
                requirement.count = change.violations;
                requirement.first = requirement.first.or(Some(time));
                requirement.last = Some(time);
            }
        }
        let properties = outcome
            .requirements
            .iter()
            .filter(|requirement| requirement.kind == RequirementKind::Property)
            .count();
        for alarm in output.alarms() {
            let requirement = &mut outcome.requirements[properties + alarm.alarm as usize];
            requirement.count = alarm.count;
            requirement.first = requirement.first.or(Some(time));
            requirement.last = Some(time);
        }
        for action in output.actions() {
            if let Action::Invoke(id) = action {
                outcome.count_invocation(id);
            }
        }
        outcome.faults += output.faults().len() as u64;
        if let Some(listener) = &mut self.listener
            && !output.is_empty()
        {
            listener(output);
        }
    }
}

impl Sink for CheckRun<'_> {
    fn names(&mut self, names: &Interface) -> Result<(), FormatError> {
        self.checker.connect(names).map_err(|missing| {
            let exports: Vec<&str> =
                names.events.iter().chain(&names.conditions).map(String::as_str).collect();
            let exports = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
            FormatError(format!(
                "{missing}; the input is from a script that exports {exports}: \
                 export it there and record again, or do not import it"
            ))
        })
    }

    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError> {
        self.instant(group);
        Ok(())
    }
}

/// The result of reading instants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// Errors in the input.
    pub errors: InputErrors,
    /// Why reading ended early, if it did.
    pub failure: Option<String>,
}

impl CheckSummary {
    /// Whether everything was read.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty() && self.failure.is_none()
    }
}

/// Runs a checker over the output of a recogniser until its end. Input errors are counted and skipped; with `strict`,
/// the first one ends the check.
pub fn check(from: &mut dyn Read, reader: &mut GroupReader, to: &mut dyn Sink, strict: bool) -> CheckSummary {
    let mut summary = CheckSummary::default();
    let mut group = EventGroup::default();
    let mut block = vec![0; 64 << 10];
    let mut ended = false;
    while !ended {
        to.idle();
        match from.read(&mut block) {
            Ok(0) => {
                ended = true;
                reader.end();
            }
            Ok(count) => reader.feed(&block[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                summary.failure = Some(format!("the connection to the recogniser was lost: {error}"));
                return summary;
            }
        }
        loop {
            let result = match reader.next(&mut group) {
                Ok(None) => break,
                Ok(Some(ReadProgress::Names)) => match reader.interface() {
                    Some(names) => to.names(names),
                    None => Ok(()),
                },
                Ok(Some(ReadProgress::Instant)) => to.group(&group),
                Ok(Some(ReadProgress::End)) => Ok(()),
                Err(error) if error.is_fatal || strict => Err(FormatError(error.to_string())),
                Err(error) => {
                    summary.errors.add(error);
                    Ok(())
                }
            };
            if let Err(error) = result {
                summary.failure = Some(error.to_string());
                return summary;
            }
        }
    }
    summary
}
