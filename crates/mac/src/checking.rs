//! The checker as a stage: instants in, an outcome out.

use crate::format::{GroupReader, Said};
use crate::problem::{Limit, Problems};
use crate::recognise::Sink;
use invigil_lang::medl;
use invigil_monitor::mac::{ActionId, Checker, Done, Findings, Group, Interface, Truth, Unfit};
use std::io::{ErrorKind, Read};

/// A checker that keeps account of what it finds.
pub struct Checking<'a> {
    checker: Checker,
    outcome: Outcome,
    tell: Option<&'a mut dyn FnMut(&Findings)>,
}

/// What a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A condition that must always hold.
    Property,
    /// An event that must never happen.
    Alarm,
}

impl Sort {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Sort::Property => "property",
            Sort::Alarm => "alarm",
        }
    }
}

/// How a property or an alarm fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What it is.
    pub sort: Sort,
    /// Its name.
    pub name: String,
    /// How often it was violated, or raised.
    pub count: u64,
    /// When it was first, in milliseconds.
    pub first: Option<i64>,
    /// When it was last.
    pub last: Option<i64>,
    /// The value of a property at the end.
    pub truth: Option<Truth>,
    /// When a property got this value.
    pub since: Option<i64>,
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The properties, then the alarms, in the order of the script.
    pub requirements: Vec<Requirement>,
    /// How many instants there were.
    pub instants: u64,
    /// The time of the first and the last.
    pub span: Option<(i64, i64)>,
    /// The names of the actions, and how often each was invoked.
    pub invoked: Vec<(String, u64)>,
    /// How often a definition of the script failed: a whole number was divided by zero.
    pub faults: u64,
    /// How many instants were earlier than the one before.
    pub backwards: u64,
}

impl Outcome {
    /// How many violations and alarms there were.
    pub fn violations(&self) -> u64 {
        self.requirements.iter().map(|one| one.count).sum()
    }

    fn action(&mut self, action: ActionId) {
        if let Some((_, count)) = self.invoked.get_mut(action.0 as usize) {
            *count += 1;
        }
    }
}

impl<'a> Checking<'a> {
    /// Begins with a checker that has seen nothing.
    pub fn new(requirements: medl::Lowered) -> Result<Checking<'a>, Unfit> {
        let one = |sort, name: String, truth| Requirement {
            sort,
            name,
            count: 0,
            first: None,
            last: None,
            truth,
            since: None,
        };
        let medl::Lowered { parts, properties, alarms, actions, .. } = requirements;
        let properties =
            properties.into_iter().map(|(name, _)| one(Sort::Property, name, Some(Truth::Undefined)));
        let alarms = alarms.into_iter().map(|(name, _)| one(Sort::Alarm, name, None));
        let requirements = properties.chain(alarms).collect();
        let invoked = actions.into_iter().map(|(name, _)| (name, 0)).collect();
        let outcome = Outcome { requirements, invoked, ..Outcome::default() };
        Ok(Checking { checker: Checker::new(parts)?, outcome, tell: None })
    }

    /// Has a property that is undefined count as violated.
    pub fn strict(mut self, strict: bool) -> Checking<'a> {
        self.checker = self.checker.strict(strict);
        self
    }

    /// Has someone told of every instant at which there is something to tell.
    pub fn telling(mut self, tell: &'a mut dyn FnMut(&Findings)) -> Checking<'a> {
        self.tell = Some(tell);
        self
    }

    /// What has been found so far.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// What has been found.
    pub fn into_outcome(self) -> Outcome {
        self.outcome
    }

    fn instant(&mut self, group: &Group) {
        let findings = self.checker.instant(group);
        let (outcome, time) = (&mut self.outcome, group.time());
        outcome.instants += 1;
        outcome.span = match outcome.span {
            None => Some((time, time)),
            Some((first, last)) => {
                outcome.backwards += u64::from(time < last);
                Some((first, time))
            }
        };
        for judged in findings.properties() {
            let one = &mut outcome.requirements[judged.property as usize];
            (one.truth, one.since) = (Some(judged.truth), Some(time));
            if judged.violations > one.count {
                one.count = judged.violations;
                one.first = one.first.or(Some(time));
                one.last = Some(time);
            }
        }
        let properties = outcome.requirements.iter().filter(|one| one.sort == Sort::Property).count();
        for raised in findings.alarms() {
            let one = &mut outcome.requirements[properties + raised.alarm as usize];
            one.count = raised.count;
            one.first = one.first.or(Some(time));
            one.last = Some(time);
        }
        for done in findings.done() {
            if let Done::Invoke(action) = done {
                outcome.action(action);
            }
        }
        outcome.faults += findings.faults().len() as u64;
        if let Some(tell) = &mut self.tell
            && !findings.is_empty()
        {
            tell(findings);
        }
    }
}

impl Sink for Checking<'_> {
    fn names(&mut self, names: &Interface) -> Result<(), Limit> {
        self.checker.connect(names).map_err(|missing| {
            let known: Vec<&str> = names.events.iter().chain(&names.conditions).map(String::as_str).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            Limit(format!(
                "{missing}; what came is from a script that exports {known}: \
                 export it there and record again, or do not import it"
            ))
        })
    }

    fn group(&mut self, group: &Group) -> Result<(), Limit> {
        self.instant(group);
        Ok(())
    }
}

/// How the reading of instants went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What could not be read.
    pub problems: Problems,
    /// Why it ended before the end.
    pub failure: Option<String>,
}

impl Checked {
    /// Whether everything was read.
    pub fn is_complete(&self) -> bool {
        self.problems.is_empty() && self.failure.is_none()
    }
}

/// Runs a checker over what a recogniser sends or has sent, until it ends. What cannot be read is counted and left aside;
/// with `strict` it is the end.
pub fn check(from: &mut dyn Read, reader: &mut GroupReader, to: &mut dyn Sink, strict: bool) -> Checked {
    let mut done = Checked::default();
    let mut group = Group::default();
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
                done.failure = Some(format!("the connection to the recogniser was lost: {error}"));
                return done;
            }
        }
        loop {
            let told = match reader.next(&mut group) {
                Ok(None) => break,
                Ok(Some(Said::Names)) => match reader.interface() {
                    Some(names) => to.names(names),
                    None => Ok(()),
                },
                Ok(Some(Said::Instant)) => to.group(&group),
                Ok(Some(Said::End)) => Ok(()),
                Err(problem) if problem.is_fatal || strict => Err(Limit(problem.to_string())),
                Err(problem) => {
                    done.problems.add(problem);
                    Ok(())
                }
            };
            if let Err(words) = told {
                done.failure = Some(words.to_string());
                return done;
            }
        }
    }
    done
}
