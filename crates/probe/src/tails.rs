//! Calls that end when another function returns for them.
//!
//! A function may end by a jump to another one, which then returns to its caller. At the jump there is a site, where the call is
//! noted as [`Left`]; at the place it returns to there is another one, where its events happen if the thread comes there with its
//! stack pointer just above the return address. Such *return places* are made by the tool, when one is needed for the first time.

use crate::capture::{Capture, General, Moment};
use crate::{calls, guarded, system};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Acquire};
use invigil_expr::value::Value;
use invigil_monitor::event::SymbolId;
use serde::{Deserialize, Serialize};

/// In the number of a site that a trampoline gives: calls may be left there by a jump to another function.
pub const LEAVES: u32 = 1 << 30;
/// In the number of a site that a trampoline gives: functions return to it for others.
pub const RETURNS: u32 = 1 << 29;

/// The stack pointer, as debug information numbers it.
const STACK: usize = 7;

/// Where a jump goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leads {
    /// Out of the function.
    Out,
    /// To an address that is known when it is executed; out of the function if that is in none of its parts.
    There {
        /// The register that it is relative to.
        base: Option<u8>,
        /// Another one, and what that is multiplied by.
        index: Option<(u8, u8)>,
        /// What is added to them.
        by: u64,
        /// Whether the address lies in memory there.
        load: bool,
        /// The parts of the function, each from its begin to behind its end.
        inside: Vec<(u64, u64)>,
    },
}

impl Leads {
    /// Whether the function is left.
    fn is_out(&self, general: &General) -> bool {
        let Leads::There { base, index, by, load, inside } = self else { return true };
        let register = |number: u8| general[usize::from(number & 15)];
        let base = base.map_or(0, register);
        let index = index.map_or(0, |(number, scale)| register(number).wrapping_mul(scale.into()));
        let there = base.wrapping_add(index).wrapping_add(*by);
        let there = if *load { guarded::word(there) } else { Some(there) };
        there.is_some_and(|there| !inside.iter().any(|(start, end)| (*start..*end).contains(&there)))
    }
}

/// An event at the end of calls that may be left at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Which.
    pub symbol: SymbolId,
    /// Where the jump goes.
    pub leads: Leads,
    /// The site at which the calls begin, if that is noted.
    pub begin: Option<u32>,
    /// What is noted for each parameter: the first of these that is there.
    pub notes: Vec<Vec<Capture>>,
}

/// How a parameter is had at the end of a call for which another function returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Late {
    /// It is read then.
    Returned(Capture),
    /// It is read then, with the arguments in the registers in which they were passed.
    Passed(Capture),
    /// It was noted when the call was left.
    Noted,
}

/// An event at the end of calls for which other functions return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Which.
    pub symbol: SymbolId,
    /// Its parameters.
    pub params: Vec<Late>,
}

/// A call that was left by a jump to another function, which has not returned, as far as is known: one for each event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Left {
    /// The number of its thread.
    pub thread: u32,
    /// The event at its end.
    pub symbol: SymbolId,
    /// The stack pointer when it was left: there is the return address.
    pub sp: u64,
    /// The site at the place that is returned to.
    pub back: u32,
    /// What was passed to it, if its begin was noted.
    pub passed: Option<[u64; 6]>,
    /// What was noted of each parameter, if anything was.
    pub values: Vec<Value>,
}

/// What is known of such calls in general. It changes only when the program stands still and no thread is in here.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());

/// What the tool tells of them.
#[derive(Clone, Debug, Default)]
struct Table {
    /// By symbol.
    endings: Vec<Ending>,
    /// By site.
    leaving: Vec<(u32, Vec<Leaving>)>,
    /// The places that functions return to, by address, each with its site.
    returns: Vec<(u64, u32)>,
}

fn table() -> Option<&'static Table> {
    // SAFETY: it came out of a box, and is there while threads are in here.
    unsafe { TABLE.load(Acquire).as_ref() }
}

/// Changes what is known. The program stands still, and no thread is in here.
fn change(change: impl FnOnce(&mut Table)) {
    let mut changed = table().cloned().unwrap_or_default();
    change(&mut changed);
    let before = TABLE.swap(Box::into_raw(Box::new(changed)), AcqRel);
    if !before.is_null() {
        // SAFETY: it came out of a box, and nobody has it any more.
        drop(unsafe { Box::from_raw(before) });
    }
}

/// These are the events, and the sites where calls may be left. The program stands still, and no thread is in here.
pub(crate) fn tell(mut endings: Vec<Ending>, mut leaving: Vec<(u32, Vec<Leaving>)>) {
    endings.sort_by_key(|ending| ending.symbol);
    leaving.sort_by_key(|(site, _)| *site);
    change(|table| (table.endings, table.leaving) = (endings, leaving));
}

/// These are the return places. The program stands still, and no thread is in here.
pub(crate) fn tell_returns(mut returns: Vec<(u64, u32)>) {
    returns.sort_unstable();
    change(|table| table.returns = returns);
}

/// Where a thread goes that may leave a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It stays in the function, or nobody knows where to.
    On,
    /// To a function that returns to this site.
    To(u32),
    /// To a function that returns to where there is no site.
    Unknown,
}

/// Where a thread at a site goes.
pub(crate) fn way(general: &General, site: u32) -> Way {
    let Some(table) = table() else { return Way::On };
    if !table.leaving(site).iter().any(|leaving| leaving.leads.is_out(general)) {
        return Way::On;
    }
    let Some(back) = guarded::word(general[STACK]) else { return Way::On };
    match table.returns.binary_search_by_key(&back, |(address, _)| *address) {
        Ok(at) => Way::To(table.returns[at].1),
        Err(_) => Way::Unknown,
    }
}

/// A thread leaves calls at a site, for functions that return to another one.
pub(crate) fn leave(moment: &Moment<'_>, site: u32, back: u32) {
    let Some(table) = table() else { return };
    let sp = moment.general[STACK];
    let all = table.leaving(site);
    for leaving in all.iter().filter(|leaving| leaving.leads.is_out(moment.general)) {
        let passed = leaving.begin.and_then(|begin| calls::passed(moment.thread, begin, sp));
        let values = leaving.values(moment);
        calls::leave(Left { thread: moment.thread, symbol: leaving.symbol, sp, back, passed, values });
    }
    for begin in all.iter().filter_map(|leaving| leaving.begin) {
        calls::forget(moment.thread, begin, sp);
    }
}

/// The call, of those that end where a thread is, that was left last; it is forgotten.
pub(crate) fn ended(moment: &Moment<'_>, site: u32) -> Option<(Left, &'static Ending)> {
    let left = calls::ended(moment.thread, site, moment.general[STACK].wrapping_sub(8))?;
    let endings = &table()?.endings;
    let at = endings.binary_search_by_key(&left.symbol, |ending| ending.symbol).ok()?;
    Some((left, &endings[at]))
}

impl Table {
    fn leaving(&self, site: u32) -> &[Leaving] {
        match self.leaving.binary_search_by_key(&site, |(site, _)| *site) {
            Ok(at) => &self.leaving[at].1,
            Err(_) => &[],
        }
    }
}

impl Leaving {
    /// What is noted of each parameter; nothing if there is nothing to note.
    fn values(&self, moment: &Moment<'_>) -> Vec<Value> {
        if self.notes.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        // Texts are not noted.
        let mut unused = String::new();
        let mut first = |captures: &Vec<Capture>| {
            let mut values = captures.iter().map(|capture| capture.value(moment, system::now, &mut unused));
            values.find(|value| !value.is_unset()).unwrap_or(Value::UNSET)
        };
        self.notes.iter().map(&mut first).collect()
    }
}

impl Ending {
    /// Whether all that it carries may be whole numbers.
    fn is_plain(&self) -> bool {
        let is_integer = |late: &Late| match late {
            Late::Returned(capture) | Late::Passed(capture) => capture.is_integer(),
            Late::Noted => true,
        };
        self.params.iter().all(is_integer)
    }

    /// Reads all that it carries as whole numbers, if they are all there and there is room for them.
    pub(crate) fn integers(&self, moment: &Moment<'_>, left: &Left, numbers: &mut [i64]) -> bool {
        if self.params.len() > numbers.len() || !self.is_plain() {
            return false;
        }
        let began = left.registers(moment.general);
        numbers.iter_mut().zip(&self.params).enumerate().all(|(at, (number, late))| {
            let read = match late {
                Late::Returned(capture) => capture.integer(moment),
                Late::Passed(capture) => {
                    began.as_ref().and_then(|general| capture.integer(&Moment { general, ..*moment }))
                }
                Late::Noted => left.values.get(at).and_then(|value| value.as_int()),
            };
            read.map(|read| *number = read).is_some()
        })
    }

    /// All that it carries. Texts go to `text`, of which the values tell the parts.
    pub(crate) fn values(&self, moment: &Moment<'_>, left: &Left, text: &mut String, into: &mut Vec<Value>) {
        let began = left.registers(moment.general);
        for (at, late) in self.params.iter().enumerate() {
            let value = match (late, &began) {
                (Late::Returned(capture), _) => Some(capture.value(moment, system::now, text)),
                (Late::Passed(capture), Some(general)) => {
                    Some(capture.value(&Moment { general, ..*moment }, system::now, text))
                }
                (Late::Passed(_), None) => None,
                (Late::Noted, _) => left.values.get(at).copied(),
            };
            into.push(value.unwrap_or(Value::UNSET));
        }
    }
}

impl Left {
    /// The registers with the arguments where they were passed, if that was noted.
    fn registers(&self, general: &General) -> Option<General> {
        let passed = self.passed?;
        let mut began = *general;
        for (register, value) in calls::ARGUMENTS.into_iter().zip(passed) {
            began[usize::from(register)] = value;
        }
        Some(began)
    }
}
