//! Results of a checker at one instant.

use super::ids::ActionId;
use super::machine::Fault;
use super::show;
use super::value::{Truth, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// Results of the checker at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckOutput {
    time: i64,
    properties: Vec<PropertyChange>,
    alarms: Vec<Alarm>,
    stored_actions: Vec<StoredAction>,
    text: String,
    pub(super) faults: Vec<Fault>,
}

/// A property whose value changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PropertyChange {
    /// The number of the property.
    pub property: u32,
    /// The new value.
    pub truth: Truth,
    /// The number of violations so far, including this one.
    pub violations: u64,
}

/// An alarm that was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alarm {
    /// The number of the alarm.
    pub alarm: u32,
    /// How often it has been raised so far, including this time.
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredAction {
    /// The end of its text; it starts at the end of the previous one.
    Print(u32),
    Invoke(ActionId),
}

/// An action of a guard other than an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// It printed this text.
    Print(&'a str),
    /// It invoked this action.
    Invoke(ActionId),
}

impl CheckOutput {
    pub(super) fn begin(&mut self, time: i64) {
        self.time = time;
        self.properties.clear();
        self.alarms.clear();
        self.stored_actions.clear();
        self.text.clear();
        self.faults.clear();
    }

    pub(super) fn property(&mut self, change: PropertyChange) {
        self.properties.push(change);
    }

    pub(super) fn alarm(&mut self, alarm: Alarm) {
        self.alarms.push(alarm);
    }

    pub(super) fn print(&mut self, value: Value<'_>) {
        show::show(&mut self.text, value);
        self.stored_actions.push(StoredAction::Print(self.text.len() as u32));
    }

    pub(super) fn invoke(&mut self, action: ActionId) {
        self.stored_actions.push(StoredAction::Invoke(action));
    }

    /// The time of the instant.
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The properties that changed. One is violated if its new value is false, or, with `undefined_violates`,
    /// undefined.
    pub fn properties(&self) -> &[PropertyChange] {
        &self.properties
    }

    /// The alarms that were raised.
    pub fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    /// What guards printed and invoked, in the order of the script.
    pub fn actions(&self) -> impl Iterator<Item = Action<'_>> {
        let mut from = 0;
        self.stored_actions.iter().map(move |action| match *action {
            StoredAction::Invoke(action) => Action::Invoke(action),
            StoredAction::Print(end) => {
                let text = self.text.get(from..end as usize).unwrap_or("");
                from = end as usize;
                Action::Print(text)
            }
        })
    }

    /// The faults.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Whether there are no results.
    pub fn is_empty(&self) -> bool {
        self.properties.is_empty()
            && self.alarms.is_empty()
            && self.stored_actions.is_empty()
            && self.faults.is_empty()
    }
}
