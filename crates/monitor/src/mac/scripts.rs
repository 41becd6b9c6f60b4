//! Several pairs of scripts that follow one subject.

use super::derive::{Deriver, Plan, Remembered};
use crate::event::{Batch, Event, EventSet, Stamp, SymbolId};
use alloc::string::String;
use alloc::vec::Vec;

/// Pairs of scripts that follow one subject, one after the other.
///
/// ```
/// use invigil_monitor::event::{Batch, Event, Stamp, SymbolId};
/// use invigil_monitor::mac::{Input, Outputs, Parts, Plan, Scripts};
/// // Each call of a method is an alarm.
/// let mut recogniser = Parts::default();
/// let method = recogniser.method("push", &[], None);
/// let begins = recogniser.start_of(method)?;
/// let pushed = recogniser.define_event("pushed", begins)?;
/// recogniser.export_event(pushed)?;
/// let mut checker = Parts::default();
/// let pushed = checker.import_event("pushed", &[]);
/// let pushed = checker.event(pushed)?;
/// checker.alarm("push", pushed)?;
///
/// let (call, raised, over) = (SymbolId(0), SymbolId(1), SymbolId(2));
/// let plan = Plan {
///     recogniser,
///     checker,
///     inputs: vec![(call, Input::Start { method, arguments: vec![] })],
///     outputs: Outputs { alarms: vec![[raised, over]], ..Outputs::default() },
///     strict: false,
///     abstracts: false,
///     tick: None,
///     calls: vec![],
/// };
/// let mut scripts = Scripts::new(&[plan])?;
/// assert!(scripts.follow(call) && !scripts.follow(raised));
/// let mut found = Batch::default();
/// let event = Event { symbol: call, params: &[], text: "" };
/// scripts.derive(&event, Stamp { time: 0.0, line: 0 }, &mut found);
/// assert_eq!(found.event(0).symbol, raised);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    derivers: Vec<Deriver>,
    /// The events that they must be told.
    followed: EventSet,
    asks_time: bool,
}

impl Scripts {
    /// Nothing has happened yet.
    ///
    /// # Errors
    /// In words, if a script cannot be run.
    pub fn new(plans: &[Plan]) -> Result<Scripts, String> {
        let derivers: Vec<Deriver> = plans.iter().map(Deriver::new).collect::<Result<_, _>>()?;
        let mut followed = EventSet::default();
        derivers.iter().flat_map(Deriver::needs).for_each(|symbol| followed.insert(symbol));
        Ok(Scripts { derivers, followed, asks_time: plans.iter().any(Plan::asks_time) })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.derivers.is_empty()
    }

    /// Whether some definition asks for the time: then each event must have one.
    pub fn asks_time(&self) -> bool {
        self.asks_time
    }

    /// The events that they must be told.
    pub fn needs(&self) -> &EventSet {
        &self.followed
    }

    /// Whether they must be told this event.
    #[inline]
    pub fn follow(&self, symbol: SymbolId) -> bool {
        self.followed.contains(symbol)
    }

    /// The events that they make.
    pub fn gives(&self) -> impl Iterator<Item = SymbolId> {
        self.derivers.iter().flat_map(Deriver::gives)
    }

    /// It is as late as this; see [`Deriver::pass`].
    pub fn pass(&mut self, milliseconds: i64) {
        self.derivers.iter_mut().for_each(|deriver| deriver.pass(milliseconds));
    }

    /// Follows an event, and appends the events that it leads to.
    #[inline]
    pub fn derive(&mut self, event: &Event<'_>, stamp: Stamp, out: &mut Batch) {
        self.derivers.iter_mut().for_each(|deriver| deriver.derive(event, stamp, out));
    }

    /// What they remember.
    pub fn remembered(&self) -> Vec<Remembered> {
        self.derivers.iter().map(Deriver::remembered).collect()
    }

    /// Go back to what they remembered once. False if that was others'; then some may have gone back.
    #[must_use]
    pub fn restore(&mut self, remembered: &[Remembered]) -> bool {
        self.derivers.len() == remembered.len()
            && self
                .derivers
                .iter_mut()
                .zip(remembered)
                .all(|(deriver, remembered)| deriver.restore(remembered))
    }
}
