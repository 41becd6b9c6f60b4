//! What a checker says of one instant.

use super::ids::ActionId;
use super::machine::Fault;
use super::show;
use super::value::{Truth, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// What the checker found at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    time: i64,
    properties: Vec<Judged>,
    alarms: Vec<Raised>,
    deeds: Vec<Deed>,
    text: String,
    pub(super) faults: Vec<Fault>,
}

/// A property whose value changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Judged {
    /// The number of the property.
    pub property: u32,
    /// Its value from now on.
    pub truth: Truth,
    /// How often it has been violated so far, this time included.
    pub violations: u64,
}

/// An alarm that was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Raised {
    /// The number of the alarm.
    pub alarm: u32,
    /// How often it has been raised so far, this time included.
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// Up to where its text goes; it begins where the one before ends.
    Print(u32),
    Invoke(ActionId),
}

/// What a guard had done besides setting variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done<'a> {
    /// It printed this.
    Print(&'a str),
    /// It invoked this action.
    Invoke(ActionId),
}

impl Findings {
    pub(super) fn begin(&mut self, time: i64) {
        self.time = time;
        self.properties.clear();
        self.alarms.clear();
        self.deeds.clear();
        self.text.clear();
        self.faults.clear();
    }

    pub(super) fn property(&mut self, judged: Judged) {
        self.properties.push(judged);
    }

    pub(super) fn alarm(&mut self, raised: Raised) {
        self.alarms.push(raised);
    }

    pub(super) fn print(&mut self, value: Value<'_>) {
        show::show(&mut self.text, value);
        self.deeds.push(Deed::Print(self.text.len() as u32));
    }

    pub(super) fn invoke(&mut self, action: ActionId) {
        self.deeds.push(Deed::Invoke(action));
    }

    /// When it is.
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The properties that changed: violated if the new value is false, or undefined where that was asked for.
    pub fn properties(&self) -> &[Judged] {
        &self.properties
    }

    /// The alarms that were raised.
    pub fn alarms(&self) -> &[Raised] {
        &self.alarms
    }

    /// What guards printed and invoked, as the script orders it.
    pub fn done(&self) -> impl Iterator<Item = Done<'_>> {
        let mut from = 0;
        self.deeds.iter().map(move |deed| match *deed {
            Deed::Invoke(action) => Done::Invoke(action),
            Deed::Print(end) => {
                let text = self.text.get(from..end as usize).unwrap_or("");
                from = end as usize;
                Done::Print(text)
            }
        })
    }

    /// What went wrong.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.properties.is_empty()
            && self.alarms.is_empty()
            && self.deeds.is_empty()
            && self.faults.is_empty()
    }
}
