//! Tail calls: functions that end with a jump to another function, which returns in their place.
//!
//! At the jump there is a site that records the call as [`PendingTailCall`]. At the address that the other function
//! returns to there is a *return site*: the events of the call occur there if a thread arrives with its stack pointer
//! just above the return address. The debugger makes a return site when it is needed for the first time.

use crate::capture::{Capture, EventRegisters, GeneralRegisters};
use crate::{pending_calls, safe_read, system};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Acquire};
use invigil_expr::value::Value;
use invigil_monitor::event::EventId;
use serde::{Deserialize, Serialize};

/// Flag in the site number that a trampoline passes: tail calls may be made there.
pub const TAIL_CALL_MARK: u32 = 1 << 30;
/// Flag in the site number that a trampoline passes: it is a return site.
pub const RETURN_MARK: u32 = 1 << 29;

/// The stack pointer's DWARF number.
const STACK_POINTER: usize = 7;

/// Target of a jump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TailTarget {
    /// Outside of the function.
    Outside,
    /// An address that is computed when the jump executes. It leaves the function if it is in none of the function's
    /// parts.
    Computed {
        /// Base register.
        base: Option<u8>,
        /// Index register and its scale.
        index: Option<(u8, u8)>,
        /// Displacement.
        offset: u64,
        /// Whether the target is loaded from memory at that address.
        load: bool,
        /// The parts of the function: start and end.
        body: Vec<(u64, u64)>,
    },
}

impl TailTarget {
    /// Whether the jump leaves the function.
    fn is_outside(&self, general: &GeneralRegisters) -> bool {
        let TailTarget::Computed { base, index, offset, load, body } = self else { return true };
        let register = |number: u8| general[usize::from(number & 15)];
        let base = base.map_or(0, register);
        let index = index.map_or(0, |(number, scale)| register(number).wrapping_mul(scale.into()));
        let target = base.wrapping_add(index).wrapping_add(*offset);
        let target = if *load { safe_read::word(target) } else { Some(target) };
        target.is_some_and(|target| !body.iter().any(|(start, end)| (*start..*end).contains(&target)))
    }
}

/// An event at the exit of a function that may end with a tail call at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TailCallEvent {
    /// Its id.
    pub event: EventId,
    /// Target of the jump.
    pub target: TailTarget,
    /// Site of the function's entry, if calls are tracked there.
    pub entry_site: Option<u32>,
    /// For each parameter, what to save: the first of these captures that is available.
    pub saved: Vec<Vec<Capture>>,
}

/// How a parameter of a call that ended with a tail call is obtained when the other function returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeferredParam {
    /// Read at the return.
    AtReturn(Capture),
    /// Read at the return, with the argument registers as they were at the entry.
    ByArgument(Capture),
    /// Saved at the tail call.
    Saved,
}

/// The event of a call that ended with a tail call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TailReturnEvent {
    /// Its id.
    pub event: EventId,
    /// Its parameters.
    pub params: Vec<DeferredParam>,
}

/// A tail call whose target has not returned, as far as is known. There is one entry per event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PendingTailCall {
    /// Id of its thread.
    pub thread: u32,
    /// The event at its exit.
    pub event: EventId,
    /// Stack pointer at the jump; the return address is there.
    pub sp: u64,
    /// The return site.
    pub return_site: u32,
    /// The arguments, if the entry was observed.
    pub arguments: Option<[u64; 6]>,
    /// Saved parameters; empty if there are none.
    pub values: Vec<Value>,
}

/// All tail-call events. The table changes only while the target is stopped and no thread is in the library.
static TAIL_CALLS: AtomicPtr<TailCallTable> = AtomicPtr::new(ptr::null_mut());

/// Tail-call events, as the debugger has sent them.
#[derive(Clone, Debug, Default)]
struct TailCallTable {
    /// Sorted by event.
    return_events: Vec<TailReturnEvent>,
    /// Sorted by site.
    tail_calls: Vec<(u32, Vec<TailCallEvent>)>,
    /// Return address and site number of each return site, sorted by address.
    return_sites: Vec<(u64, u32)>,
}

fn table() -> Option<&'static TailCallTable> {
    // SAFETY: the pointer came from a box that is not freed while threads are in the library.
    unsafe { TAIL_CALLS.load(Acquire).as_ref() }
}

/// Replaces the table. The target is stopped, and no thread is in the library.
fn change(change: impl FnOnce(&mut TailCallTable)) {
    let mut changed = table().cloned().unwrap_or_default();
    change(&mut changed);
    let before = TAIL_CALLS.swap(Box::into_raw(Box::new(changed)), AcqRel);
    if !before.is_null() {
        // SAFETY: the pointer came from a box and is no longer reachable.
        drop(unsafe { Box::from_raw(before) });
    }
}

/// Sets the events and the sites of tail calls. The target is stopped, and no thread is in the library.
pub(crate) fn set_events(
    mut return_events: Vec<TailReturnEvent>,
    mut tail_calls: Vec<(u32, Vec<TailCallEvent>)>,
) {
    return_events.sort_by_key(|return_event| return_event.event);
    tail_calls.sort_by_key(|(site, _)| *site);
    change(|table| (table.return_events, table.tail_calls) = (return_events, tail_calls));
}

/// Sets the return sites. The target is stopped, and no thread is in the library.
pub(crate) fn set_return_sites(mut return_sites: Vec<(u64, u32)>) {
    return_sites.sort_unstable();
    change(|table| table.return_sites = return_sites);
}

/// How a thread at the site of a possible tail call continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailExit {
    /// It stays in the function, or the return address cannot be read.
    Stays,
    /// It makes a tail call, and the function returns to this site.
    To(u32),
    /// It makes a tail call, and there is no return site yet.
    Unknown,
}

/// Determines how a thread at a site continues.
pub(crate) fn tail_exit(general: &GeneralRegisters, site: u32) -> TailExit {
    let Some(table) = table() else { return TailExit::Stays };
    if !table.events_at(site).iter().any(|tail_call| tail_call.target.is_outside(general)) {
        return TailExit::Stays;
    }
    let Some(return_address) = safe_read::word(general[STACK_POINTER]) else { return TailExit::Stays };
    match table.return_sites.binary_search_by_key(&return_address, |(address, _)| *address) {
        Ok(at) => TailExit::To(table.return_sites[at].1),
        Err(_) => TailExit::Unknown,
    }
}

/// Adds the tail calls that a thread makes at a site, with their return site.
pub(crate) fn add_tail_calls(registers: &EventRegisters<'_>, site: u32, return_site: u32) {
    let Some(table) = table() else { return };
    let sp = registers.general[STACK_POINTER];
    let all = table.events_at(site);
    for tail_call in all.iter().filter(|tail_call| tail_call.target.is_outside(registers.general)) {
        let arguments = tail_call
            .entry_site
            .and_then(|entry_site| pending_calls::arguments_of(registers.thread, entry_site, sp));
        let values = tail_call.values(registers);
        pending_calls::push_tail_call(PendingTailCall {
            thread: registers.thread,
            event: tail_call.event,
            sp,
            return_site,
            arguments,
            values,
        });
    }
    for entry_site in all.iter().filter_map(|tail_call| tail_call.entry_site) {
        pending_calls::forget(registers.thread, entry_site, sp);
    }
}

/// Removes and returns the latest tail call that ends where a thread is, and its event.
pub(crate) fn take_ended(
    registers: &EventRegisters<'_>,
    site: u32,
) -> Option<(PendingTailCall, &'static TailReturnEvent)> {
    let call =
        pending_calls::take_ended(registers.thread, site, registers.general[STACK_POINTER].wrapping_sub(8))?;
    let return_events = &table()?.return_events;
    let at = return_events.binary_search_by_key(&call.event, |return_event| return_event.event).ok()?;
    Some((call, &return_events[at]))
}

impl TailCallTable {
    fn events_at(&self, site: u32) -> &[TailCallEvent] {
        match self.tail_calls.binary_search_by_key(&site, |(site, _)| *site) {
            Ok(at) => &self.tail_calls[at].1,
            Err(_) => &[],
        }
    }
}

impl TailCallEvent {
    /// Saves the parameters; empty if there is nothing to save.
    fn values(&self, registers: &EventRegisters<'_>) -> Vec<Value> {
        if self.saved.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        // Texts are never saved.
        let mut unused = String::new();
        let mut first = |captures: &Vec<Capture>| {
            let mut values =
                captures.iter().map(|capture| capture.value(registers, system::now, &mut unused));
            values.find(|value| !value.is_unset()).unwrap_or(Value::UNSET)
        };
        self.saved.iter().map(&mut first).collect()
    }
}

impl TailReturnEvent {
    /// Whether all parameters may be integers.
    fn is_int_only(&self) -> bool {
        let is_integer = |param: &DeferredParam| match param {
            DeferredParam::AtReturn(capture) | DeferredParam::ByArgument(capture) => capture.is_integer(),
            DeferredParam::Saved => true,
        };
        self.params.iter().all(is_integer)
    }

    /// Reads all parameters as integers. Returns false if one is unavailable or there are too many.
    pub(crate) fn integers(
        &self,
        registers: &EventRegisters<'_>,
        call: &PendingTailCall,
        numbers: &mut [i64],
    ) -> bool {
        if self.params.len() > numbers.len() || !self.is_int_only() {
            return false;
        }
        let at_entry = call.registers(registers.general);
        numbers.iter_mut().zip(&self.params).enumerate().all(|(at, (number, param))| {
            let read = match param {
                DeferredParam::AtReturn(capture) => capture.integer(registers),
                DeferredParam::ByArgument(capture) => at_entry
                    .as_ref()
                    .and_then(|general| capture.integer(&EventRegisters { general, ..*registers })),
                DeferredParam::Saved => call.values.get(at).and_then(|value| value.as_int()),
            };
            read.map(|read| *number = read).is_some()
        })
    }

    /// Appends the values of all parameters. Long texts are appended to `text`, which the values refer to.
    pub(crate) fn values(
        &self,
        registers: &EventRegisters<'_>,
        call: &PendingTailCall,
        text: &mut String,
        into: &mut Vec<Value>,
    ) {
        let at_entry = call.registers(registers.general);
        for (at, param) in self.params.iter().enumerate() {
            let value = match (param, &at_entry) {
                (DeferredParam::AtReturn(capture), _) => Some(capture.value(registers, system::now, text)),
                (DeferredParam::ByArgument(capture), Some(general)) => {
                    Some(capture.value(&EventRegisters { general, ..*registers }, system::now, text))
                }
                (DeferredParam::ByArgument(_), None) => None,
                (DeferredParam::Saved, _) => call.values.get(at).copied(),
            };
            into.push(value.unwrap_or(Value::UNSET));
        }
    }
}

impl PendingTailCall {
    /// The registers with the arguments of the call in their places, if its entry was observed.
    fn registers(&self, general: &GeneralRegisters) -> Option<GeneralRegisters> {
        let arguments = self.arguments?;
        let mut at_entry = *general;
        for (register, value) in pending_calls::ARGUMENT_REGISTERS.into_iter().zip(arguments) {
            at_entry[usize::from(register)] = value;
        }
        Some(at_entry)
    }
}
