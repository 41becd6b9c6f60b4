//! Functions that end by a jump to another function, which returns for them.
//!
//! At the jump there is a probe like any other, and one at the place that is returned to: a *return place*. Which these are shows
//! only when the program is there: the library refuses to go on where it knows of none, and the thread is served as if it had run
//! into a trap ([`Engine::asks_tool`]). Then the tool makes a return place, once for each. Where no jump fits, or somebody else has
//! a point, or a call was noted that the library cannot note, the calls that return there are noted by the tool, as with
//! traps.
//!
//! So of one return place all open calls are inside, or none. While there are no jumps, all are with the tool.

use super::capture::{capture, passed};
use super::entered::Looked;
use super::room::garbled;
use crate::engine::Engine;
use crate::events::params::{form, is_behind_argument};
use crate::events::{Place, Plan, Role};
use crate::maps;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::Target;
use crate::task::OpenCall;
use crate::uses::Use;
use iced_x86::{Instruction, OpKind, Register};
use invigil_debuginfo::value::Plain;
use invigil_expr::value::Value;
use invigil_monitor::event::Source;
use invigil_probe::calls::ARGUMENTS;
use invigil_probe::capture::{Base, Capture, Known, Path, Sort};
use invigil_probe::message::{Answer, Request};
use invigil_probe::tails::{Ending, LEAVES, Late, Leads, Leaving, Left};
use invigil_session::subject::Done;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the tool knows of such functions.
#[derive(Default)]
pub(crate) struct Tails {
    /// Whether calls that are left are noted inside.
    pub(super) used: bool,
    /// The return places that were ever needed, and whether calls that return there may be noted inside.
    pub(super) places: BTreeMap<SiteId, bool>,
    /// Whether the tool has all open calls that were left.
    taken: bool,
    /// Whether the library may know of return places that are none any more.
    pub(super) is_outdated: bool,
}

/// So much of a stack is looked through for what a signal interrupted.
const DEEPEST: u64 = 1 << 20;

/// No value: it is never there.
const NOTHING: Late = Late::Returned(Capture::Known(Known::Nothing));

impl Target {
    /// What happens when another function has returned for one; `None` if the tool must look itself.
    pub(super) fn ending(&self, plan: &Plan) -> Option<Ending> {
        let begin = only_begin(plan)?;
        let params = plan.params.iter().enumerate().map(|(position, param)| {
            let captured = |read| capture(param, read, self.engine.process, self.began_at);
            Some(match &param.source {
                // Read as at one of the function's own places.
                Source::Ret => {
                    let mut reads =
                        plan.places.iter().filter_map(|place| place.reads.get(position)?.as_ref());
                    Late::Returned(captured(Some(reads.next()?))?)
                }
                source if is_behind_argument(source) => {
                    match begin.and_then(|begin| begin.reads.get(position)?.as_ref()) {
                        Some(read) => Late::Passed(captured(Some(read)).filter(is_by_argument)?),
                        None => NOTHING,
                    }
                }
                source if form(source).is_none() => Late::Returned(captured(None)?),
                _ => Late::Noted,
            })
        });
        Some(Ending { symbol: plan.symbol, params: params.collect::<Option<_>>()? })
    }

    /// What is noted where a call may be left; `None` if the tool must look itself.
    pub(super) fn leaving(&self, plan: &Plan, place: &Place) -> Option<Leaving> {
        let ending = self.ending(plan)?;
        let (jump, inside) = place.jump.as_ref()?;
        let begin = only_begin(plan)?;
        if begin.is_some() && !self.is_noted_inside(plan) {
            return None;
        }
        let mut notes = Vec::new();
        for (position, (param, late)) in plan.params.iter().zip(&ending.params).enumerate() {
            let mut captures = Vec::new();
            if *late == Late::Noted {
                let read = place.reads.get(position)?.as_ref().filter(|read| read.is_available());
                if let Some(read) = read {
                    captures.push(capture(param, Some(read), self.engine.process, self.began_at)?);
                }
                let is_certain =
                    matches!(captures[..], [Capture::Read(Path::General(..) | Path::Vector(..), _)]);
                let then = begin.and_then(|begin| Some((begin.site.0, begin.reads.get(position)?.as_ref()?)));
                if let Some((site, read)) = then.filter(|(_, read)| read.is_available()) {
                    match passed(site, read, false) {
                        Some(capture) => captures.push(capture),
                        None if is_certain => {}
                        None => return None,
                    }
                }
            }
            if captures.iter().any(is_text) {
                return None;
            }
            notes.push(captures);
        }
        let begin = begin.map(|begin| begin.site.0);
        Some(Leaving { symbol: plan.symbol, leads: leads(jump, inside)?, begin, notes })
    }

    /// What the library is to know of calls that are left at a site.
    fn leaving_at(&self, id: SiteId) -> Vec<Leaving> {
        let places = self.uses.at(id).iter().filter_map(|reason| match reason {
            Use::Event { plan, place } => {
                let plan = self.plans.get(*plan);
                Some((plan, plan.places.get(*place as usize)?))
            }
            _ => None,
        });
        let tails = places.filter(|(_, place)| place.role == Role::Tail);
        tails.filter_map(|(plan, place)| self.leaving(plan, place)).collect()
    }

    /// Tells the library of all such functions. All threads stand still.
    pub(super) fn tell_tails(&mut self) -> Done {
        let endings: Vec<Ending> = self.plans.iter().filter_map(|plan| self.ending(plan)).collect();
        let ids =
            (0..self.engine.sites.all.len() as u32).map(|number| (number, self.leaving_at(SiteId(number))));
        let leaving: Vec<_> = ids.filter(|(_, leaving)| !leaving.is_empty()).collect();
        self.inline.tails.used |= !leaving.is_empty();
        self.ask(&Request::Tails { endings, leaving }).map(drop)
    }

    /// The place that a call returns to which is left at a place of a plan. If it may be noted inside, that is made a return place.
    pub(crate) fn return_place(&mut self, back: u64, is_noted_inside: bool) -> Done<Option<SiteId>> {
        let placed = self.engine.sites.returns.get(&back).copied();
        if !self.notes_inside() || !self.inline.tails.used {
            return Ok(self.site(back).ok());
        }
        match (placed, is_noted_inside) {
            (Some(site), true) => return Ok(Some(site)),
            (None, true) => {}
            (Some(site), false) => {
                // From now on the tool notes all calls that return there.
                self.engine.hold()?;
                self.take_left()?;
                self.inline.tails.places.insert(site, false);
                return Ok(Some(site));
            }
            (None, false) => {
                let site = self.site(back).ok();
                self.inline.tails.places.extend(site.map(|site| (site, false)));
                return Ok(site);
            }
        }
        let Ok(site) = self.site(back) else { return Ok(None) };
        if !self.inline.tails.places.contains_key(&site) {
            self.engine.hold()?;
            self.inline.tails.places.insert(site, true);
            self.make_probe(site, &mut Looked::default())?;
            self.tell_new_sites()?;
        }
        Ok(Some(site))
    }

    /// Whether a thread may be in a handler that returns into the middle of a range, because the signal came there: such a place
    /// is not known before, and so the thread was not put elsewhere when it was given the signal.
    pub(super) fn is_interrupted_in(&mut self, range: &Range<u64>) -> bool {
        let signalled = self.engine.tasks.values_mut().filter(|task| task.signalled && !task.over);
        let stacks: Vec<u64> =
            signalled.filter_map(|task| task.registers().ok()).map(|regs| regs.rsp / 8 * 8).collect();
        let maps =
            if stacks.is_empty() { Vec::new() } else { maps::read(self.engine.process).unwrap_or_default() };
        stacks.into_iter().any(|stack| {
            let Some(map) = maps.iter().find(|map| map.range.contains(&stack)) else { return true };
            let mut bytes = vec![0; (map.range.end - stack).min(DEEPEST) as usize];
            let read = self.engine.memory.read_some(stack, &mut bytes);
            let (words, _) = bytes[..read].as_chunks::<8>();
            words.iter().any(|word| (range.start + 1..range.end).contains(&u64::from_le_bytes(*word)))
        })
    }

    /// Whether the library can note a call that the tool has noted when it was left.
    pub(crate) fn can_be_left(&self, plan: u32, call: &OpenCall) -> bool {
        self.left_values(plan, call).is_some()
    }

    /// What the library is to note of the parameters of such a call; `None` if it cannot.
    fn left_values(&self, plan: u32, call: &OpenCall) -> Option<Vec<Value>> {
        let ending = self.ending(self.plans.get(plan))?;
        let values = ending.params.iter().enumerate().map(|(position, late)| {
            let saved = call.saved.get(position).filter(|_| *late == Late::Noted);
            Some(match saved.and_then(Option::as_ref) {
                None | Some(Plain::Unavailable(_)) => Value::UNSET,
                Some(Plain::Int(i)) => Value::int(*i),
                Some(Plain::Float(f)) => Value::float(*f),
                Some(Plain::Bool(b)) => Value::bool(*b),
                Some(Plain::Str(_)) => return None,
            })
        });
        values.collect()
    }

    /// Such a call, as the library notes it; `None` if it cannot.
    pub(super) fn as_left(&self, tid: Tid, plan: u32, call: &OpenCall) -> Option<Left> {
        let (back, values) = (call.returns_to?.0, self.left_values(plan, call)?);
        let passed = call.began.map(|(_, arguments)| arguments);
        Some(Left { thread: tid as u32, symbol: call.symbol, sp: call.sp, back, passed, values })
    }

    /// For each return place that was ever needed, whether it has a probe.
    pub(super) fn return_places(&self) -> Vec<bool> {
        let places = self.inline.tails.places.iter();
        places.map(|(id, is_inside)| *is_inside && self.engine.sites.get(*id).jump.is_some()).collect()
    }

    /// A call that the library has noted when it was left, as the tool notes it.
    fn awaited(&self, left: &Left) -> Option<OpenCall> {
        let plan = self.plans.iter().find(|plan| plan.symbol == left.symbol)?;
        let begin = plan.places.iter().position(|place| place.role == Role::Begin);
        let saved = (0..plan.params.len()).map(|position| {
            let value = left.values.get(position)?;
            let float = || value.as_float().map(Plain::Float);
            value.as_int().map(Plain::Int).or_else(|| value.as_bool().map(Plain::Bool)).or_else(float)
        });
        Some(OpenCall {
            symbol: left.symbol,
            sp: left.sp,
            saved: saved.collect(),
            began: begin.zip(left.passed).map(|(place, arguments)| (place as u32, arguments)),
            returns_to: Some(SiteId(left.back)),
        })
    }

    /// From now on the tool awaits the ends of calls that were left.
    pub(super) fn take_left(&mut self) -> Done {
        if !self.inline.tails.used || std::mem::replace(&mut self.inline.tails.taken, true) {
            return Ok(());
        }
        let Answer::Left(calls) = self.ask(&Request::TakeLeft)? else { return Err(garbled()) };
        for left in calls {
            let Some(call) = self.awaited(&left) else { continue };
            let Some(task) = self.engine.tasks.get_mut(&(left.thread as Tid)) else { continue };
            task.calls.push(call);
            self.add_use(SiteId(left.back), Use::Return);
        }
        Ok(())
    }

    /// The program goes on without jumps: if calls are noted inside, the tool awaits the ends of those that were left.
    pub(crate) fn await_left(&mut self) -> Done {
        if !self.notes_inside() {
            return Ok(());
        }
        self.take_left()?;
        if std::mem::take(&mut self.engine.sites.returns).is_empty() {
            return Ok(());
        }
        // A handler may return to a trampoline even now: nothing must be noted there.
        self.ask(&Request::Returns(Vec::new())).map(drop)
    }

    /// What the library has noted is of a time that is undone, or is with the tool.
    pub(super) fn drop_left_inside(&mut self) -> Done {
        self.inline.tails.taken = true;
        if self.inline.tails.used { self.ask(&Request::TakeLeft).map(drop) } else { Ok(()) }
    }

    /// The library notes such calls from now on, and is given those that the tool has.
    pub(super) fn put_left(&mut self, calls: Vec<Left>) -> Done {
        self.inline.tails.taken = false;
        for left in &calls {
            self.remove_use(SiteId(left.back), Use::Return);
        }
        if calls.is_empty() { Ok(()) } else { self.ask(&Request::PutLeft(calls)).map(drop) }
    }

    /// All threads stand still, and jumps are about to be put: tells the library which return places have one.
    pub(super) fn settle_returns(&mut self) -> Done {
        let calls =
            self.engine.tasks.iter().flat_map(|(tid, task)| task.calls.iter().map(|call| (*tid, call)));
        // What the library cannot note is noted by the tool, and so are all that return to the same place.
        let foreign: Vec<SiteId> = calls
            .filter(|(tid, call)| {
                self.plan_of(call).and_then(|plan| self.as_left(*tid, plan, call)).is_none()
            })
            .filter_map(|(_, call)| call.returns_to)
            .collect();
        let fits = |id: SiteId| {
            let site = self.engine.sites.get(id);
            let own = |reason: &Use| matches!(reason, Use::Event { .. } | Use::Return);
            !site.buried
                && !foreign.contains(&id)
                && site.jump.as_ref().is_some_and(|jump| jump.marks == self.marks_at(id))
                && self.uses.at(id).iter().all(own)
                && !self.engine.sites.is_shared(id, |other| !self.uses.at(other).is_empty())
                && self.events_at(id).is_some()
        };
        let places =
            self.inline.tails.places.iter().filter(|(id, is_noted_inside)| **is_noted_inside && fits(**id));
        let returns: BTreeMap<u64, SiteId> =
            places.map(|(id, _)| (self.engine.sites.get(*id).address, *id)).collect();
        if !std::mem::take(&mut self.inline.tails.is_outdated) && returns == self.engine.sites.returns {
            return Ok(());
        }
        self.take_left()?;
        self.ask(&Request::Returns(returns.iter().map(|(address, id)| (*address, id.0)).collect()))?;
        self.engine.sites.returns = returns;
        Ok(())
    }
}

impl Engine {
    /// Whether a thread whose event is yet to happen leaves a function, and is to return to where the library knows of no
    /// probe: then the tool serves it.
    pub(crate) fn asks_tool(&mut self, tid: Tid) -> Done<Option<SiteId>> {
        let regs = match self.task(tid)?.registers() {
            Ok(regs) => regs,
            Err(_) => return Ok(None),
        };
        let leaves = |id: &SiteId| {
            let site = self.sites.get(*id);
            site.jumps && site.jump.as_ref().is_some_and(|jump| jump.marks & LEAVES != 0)
        };
        let Some(site) = self.sites.at(regs.rip).filter(leaves) else { return Ok(None) };
        let mut back = [0; 8];
        let is_read = self.memory.read(regs.rsp, &mut back).is_ok();
        let is_known = self.sites.returns.contains_key(&u64::from_le_bytes(back));
        Ok(Some(site).filter(|_| is_read && !is_known))
    }
}

/// The place where the calls of a plan begin, if that is noted; `None` if there are several.
fn only_begin(plan: &Plan) -> Option<Option<&Place>> {
    let mut begins = plan.places.iter().filter(|place| place.role == Role::Begin);
    let first = begins.next();
    begins.next().is_none().then_some(first)
}

/// Whether what is read lies behind an argument, by the registers in which these are passed.
fn is_by_argument(capture: &Capture) -> bool {
    match capture {
        Capture::Known(_) => true,
        Capture::Read(Path::Memory(Base::Register(number, _), _), _) => ARGUMENTS.contains(number),
        Capture::Read(..) => false,
    }
}

fn is_text(capture: &Capture) -> bool {
    matches!(capture, Capture::Read(_, Sort::Text(_) | Sort::TextBehind))
}

/// Where a jump goes, as the library finds out; `None` if it cannot. `inside` are the parts of the function.
fn leads(jump: &Instruction, inside: &[Range<u64>]) -> Option<Leads> {
    let inside: Vec<_> = inside.iter().map(|part| (part.start, part.end)).collect();
    match jump.op0_kind() {
        // If it depends on a condition, the probe is passed by unless that holds.
        OpKind::NearBranch64 => Some(Leads::Out),
        OpKind::Register => {
            let base = Some(number(jump.op0_register())?);
            Some(Leads::There { base, index: None, by: 0, load: false, inside })
        }
        OpKind::Memory if jump.segment_prefix() == Register::None => {
            let by = jump.memory_displacement64();
            let base = match jump.memory_base() {
                // Then the displacement is the address.
                Register::None | Register::RIP => None,
                base => Some(number(base)?),
            };
            let index = match jump.memory_index() {
                Register::None => None,
                index => Some((number(index)?, jump.memory_index_scale() as u8)),
            };
            Some(Leads::There { base, index, by, load: true, inside })
        }
        _ => None,
    }
}

/// The number of a register, as debug information has it.
fn number(register: Register) -> Option<u8> {
    const NUMBERED: [Register; 16] = [
        Register::RAX,
        Register::RDX,
        Register::RCX,
        Register::RBX,
        Register::RSI,
        Register::RDI,
        Register::RBP,
        Register::RSP,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    NUMBERED.iter().position(|known| *known == register).map(|at| at as u8)
}
