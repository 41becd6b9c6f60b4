//! The monitors in here, and what happens when a thread comes in.

use crate::calls::{self, BEGINS};
use crate::capture::{General, Moment, Vectors};
use crate::lock::{Lock, PATIENCE};
use crate::message::{Answer, FEW, Past, Request, Site, Told};
use crate::ring::Ring;
use crate::short::{Deed, Short};
use crate::threads;
use crate::words::INVIGIL_WORDS;
use crate::{entry, guarded, lanes, memory, recording, system};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Parts};
use invigil_monitor::event::{Batch, Event, Stamp, SymbolId};
use invigil_monitor::inside::{Inmate, Inside};
use invigil_monitor::mac::{Plan, Remembered, Scripts};
use invigil_monitor::slices::Slices;

/// The thread goes on.
pub const GO_ON: u32 = 0;
/// The event has been dealt with, and the thread is to stop.
pub const STOP: u32 = 1;
/// The event could not be dealt with: the thread is to stop, and to come in again.
pub const REFUSED: u32 = 2;
/// The shortest way does not lead there, and nothing was done: the thread takes the other one.
pub const NOT_QUICK: u32 = 3;

const TIMELESS: Stamp = Stamp { time: f64::NAN, line: 0 };

static ROOM: Lock<Room> = Lock::new(Room::new());

struct Room {
    sites: Vec<Post>,
    automata: Vec<Arc<Automaton>>,
    /// Before anything has happened.
    scripts: Option<Scripts>,
    /// When the program began, if scripts ask for the time.
    begun: Option<u64>,
    inside: Option<Inside>,
    /// The last so many events are those that someone is to react to.
    due: u32,
    values: Vec<Value>,
    text: String,
}

/// A site with what is worth knowing before.
struct Post {
    told: Vec<Told>,
    /// Whether scripts follow some of its events: then there is no shorter way.
    is_followed: bool,
    /// Whether all that its events carry are whole numbers, and few.
    is_plain: bool,
    /// Its one event, if there is a short way to all that it carries.
    short: Option<Short>,
}

impl Room {
    const fn new() -> Room {
        Room {
            sites: Vec::new(),
            automata: Vec::new(),
            scripts: None,
            begun: None,
            inside: None,
            due: 0,
            values: Vec::new(),
            text: String::new(),
        }
    }

    /// The one event of a site happens, in the program's `only` thread, if it has no other. False if that takes longer, or
    /// someone is to react; then nothing was done.
    #[inline(always)]
    fn happen_quickly(&mut self, site: usize, general: &General, only: u32) -> bool {
        let Some(Post { short: Some(short), .. }) = self.sites.get(site) else { return false };
        let Some(inside) = &mut self.inside else { return false };
        let thread = if only != 0 { only } else { threads::number(threads::base()) };
        if !inside.expect_quickly(thread) {
            return false;
        }
        short.with(general, thread, Step(inside))
    }

    /// All events of a site happen; whether someone is to react.
    fn happen(&mut self, site: usize, moment: &Moment<'_>) -> Option<bool> {
        let post = self.sites.get(site)?;
        let inside = self.inside.as_mut()?;
        let before = inside.count();
        let mut reacts = false;
        // Who asks for the time asks once.
        let timed = self.begun.filter(|_| post.is_followed).map(|begun| (begun, system::now()));
        let now = || timed.map_or_else(system::now, |(_, now)| now);
        let stamp = timed
            .map_or(TIMELESS, |(begun, now)| Stamp { time: now.saturating_sub(begun) as f64 / 1e9, line: 0 });
        for told in &post.told {
            if post.is_plain && !post.is_followed {
                let mut numbers = [0; FEW];
                if told.integers(moment, &mut numbers) {
                    let numbers = &numbers[..told.captures.len()];
                    // Where there is a short way, it was tried.
                    reacts |= match post.short {
                        Some(_) => inside.step_slowly(told.symbol, numbers, moment.thread),
                        None => inside.step_integers(told.symbol, numbers, moment.thread),
                    };
                    continue;
                }
            }
            self.values.clear();
            self.text.clear();
            for capture in &told.captures {
                let value = capture.value(moment, now, &mut self.text);
                self.values.push(value);
            }
            let event = Event { symbol: told.symbol, params: &self.values, text: &self.text };
            reacts |= inside.happen(&event, stamp, moment.thread);
        }
        if reacts {
            self.due = (inside.count() - before) as u32;
        }
        Some(reacts)
    }

    /// Threads wait for each other often: from now on, they do only where they must.
    #[cold]
    fn open_lanes(&mut self) {
        if let Some(inside) = &mut self.inside {
            lanes::open(inside, self.sites.iter().map(|post| post.short.clone()));
        }
    }

    fn put(
        &mut self,
        states: &[Vec<u8>],
        concerns: Vec<Vec<u8>>,
        remembered: &[Remembered],
    ) -> Result<(), String> {
        let mut inmates = Vec::new();
        for ((automaton, state), concern) in self.automata.iter().zip(states).zip(concerns) {
            let slices =
                Slices::load(automaton, state).ok_or("the state of a property cannot be understood")?;
            inmates.push(Inmate { automaton: Arc::clone(automaton), slices, concern });
        }
        let mut inside = Inside::new(inmates);
        if let Some(scripts) = &self.scripts {
            let mut scripts = scripts.clone();
            if !scripts.restore(remembered) {
                return Err("what the scripts remember cannot be understood".into());
            }
            inside = inside.with_scripts(scripts);
        }
        self.inside = Some(inside);
        self.due = 0;
        INVIGIL_WORDS.frozen.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn install(&mut self, plans: &[Vec<u8>], begun: u64) -> Result<(), String> {
        let plans = plans.iter().map(|bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string()));
        let plans: Vec<Plan> = plans.collect::<Result<_, String>>()?;
        let scripts = Scripts::new(&plans)?;
        self.begun = scripts.asks_time().then_some(begun);
        self.scripts = Some(scripts);
        // What is known of them is without the scripts.
        self.end_lanes();
        self.sites.clear();
        Ok(())
    }

    fn take(&mut self) -> Option<Past> {
        let inside = self.inside.take()?;
        let past = inside.past();
        Some(Past {
            unseen_events: past.unseen_events,
            unseen: past.unseen.to_vec(),
            before: past.before.iter().map(Slices::save).collect(),
            scripts: past.scripts.to_vec(),
            events: past.events,
            threads: past.threads,
            due: core::mem::take(&mut self.due),
        })
    }

    fn step(&mut self, events: &Batch, thread: u32) -> bool {
        let Some(inside) = self.inside.as_mut() else { return false };
        let before = inside.count();
        let mut reacts = false;
        for at in 0..events.len() {
            reacts |= inside.happen(&events.event(at), events.stamp(at), thread);
        }
        if reacts {
            self.due = (inside.count() - before) as u32;
            INVIGIL_WORDS.frozen.store(1, Ordering::SeqCst);
        }
        reacts
    }

    /// What is known of the sites and the property changes.
    fn end_lanes(&mut self) {
        drop(lanes::take(self.inside.as_mut()));
        lanes::end();
    }

    /// Answers a request that is about what the property has come to: nobody steps in the meantime. `None` if someone does for
    /// too long.
    fn answer_alone(&mut self, request: Request) -> Option<Result<Answer, String>> {
        let uses = matches!(request, Request::Take | Request::Put { .. } | Request::Step { .. });
        let lanes = if uses { lanes::take_within(PATIENCE, self.inside.as_mut()).ok()? } else { None };
        let answer = self.answer(request);
        if let Some(lanes) = lanes {
            lanes.give_back(self.inside.as_mut());
        }
        Some(answer)
    }

    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        match request {
            Request::Sites { first, sites } => {
                let Some(sites) = recording::tell_sites(first, sites) else { return Ok(Answer::Done) };
                self.end_lanes();
                self.sites.truncate(first as usize);
                let scripts = self.scripts.as_ref();
                self.sites.extend(sites.into_iter().map(|site| Post::new(site, scripts)));
            }
            Request::Properties(properties) => {
                self.end_lanes();
                let automata = properties.iter().map(|bytes| {
                    let parts: Parts = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
                    Ok(Arc::new(Automaton::new(parts)))
                });
                self.automata = automata.collect::<Result<_, String>>()?;
            }
            Request::Scripts { plans, begun } => self.install(&plans, begun)?,
            Request::Record { at, bits, begun } => {
                // SAFETY: the tool has set this part of the library's memory aside.
                unsafe { recording::begin(Ring::new(at as *const u8, bits), begun) }
            }
            Request::Put { states, concerns, scripts } => self.put(&states, concerns, &scripts)?,
            Request::Take => return Ok(Answer::Taken(self.take())),
            Request::Calls(thread) => return Ok(Answer::Calls(calls::of(thread))),
            Request::TakeCalls => return Ok(Answer::Calls(calls::take())),
            Request::PutCalls(all) => calls::put(all),
            Request::Step { .. } if self.due > 0 => return Ok(Answer::Busy),
            Request::Step { events, thread } => return Ok(Answer::Stepped(self.step(&events, thread))),
        }
        Ok(Answer::Done)
    }
}

/// The monitors step.
struct Step<'a>(&'a mut Inside);

impl Deed for Step<'_> {
    #[inline(always)]
    fn done<const N: usize>(self, symbol: SymbolId, numbers: [i64; N]) -> bool {
        self.0.step_quickly(symbol, &numbers)
    }
}

impl Post {
    fn new(told: Site, scripts: Option<&Scripts>) -> Post {
        let is_followed = scripts.is_some_and(|scripts| told.iter().any(|told| scripts.follow(told.symbol)));
        let is_plain = told.iter().all(Told::is_plain);
        let short = if is_followed { None } else { Short::of(&told) };
        Post { told, is_followed, is_plain, short }
    }
}

/// A thread is at a site, and takes the shortest way: no vector register is used on it but the first few, which the tool has
/// made sure of, so that the others need not be put aside. [`GO_ON`], or [`NOT_QUICK`] if something must be done that takes longer.
pub(crate) extern "C" fn hit_quickly(general: &General, site: u32) -> u32 {
    if site & BEGINS != 0 || INVIGIL_WORDS.foreign.load(Ordering::Relaxed) != 0 {
        return NOT_QUICK;
    }
    if let Some(recorded) = recording::hit_quickly(general, site) {
        return if recorded { GO_ON } else { NOT_QUICK };
    }
    if let Some(stepped) = lanes::hit_quickly(general, site) {
        return if stepped { GO_ON } else { NOT_QUICK };
    }
    let only = INVIGIL_WORDS.alone.load(Ordering::Relaxed);
    let room = match only {
        0 => ROOM.try_lock(),
        // SAFETY: the tool sees every thread before it begins, and takes this back first; this thread makes none in here.
        _ => Some(unsafe { ROOM.lock_alone() }),
    };
    let Some(mut room) = room else {
        lanes::note_crowd();
        return NOT_QUICK;
    };
    // Lanes may have been opened just now.
    let is_done = INVIGIL_WORDS.frozen.load(Ordering::Relaxed) == 0
        && !lanes::are_open()
        && room.happen_quickly(site as usize, general, only);
    if is_done { GO_ON } else { NOT_QUICK }
}

/// A thread is at a site; if calls begin there, this one is noted.
pub(crate) extern "C" fn hit(general: &General, vectors: &Vectors, site: u32) -> u32 {
    if site & BEGINS != 0 {
        calls::note(general, site & !BEGINS);
    }
    let site = site & !BEGINS;
    if INVIGIL_WORDS.foreign.load(Ordering::Relaxed) != 0 && is_foreign() {
        return GO_ON;
    }
    if let Some(how) = recording::hit(general, vectors, site) {
        return how;
    }
    let mut room = ROOM.lock();
    if INVIGIL_WORDS.frozen.load(Ordering::Relaxed) != 0 {
        return REFUSED;
    }
    // If all it had to wait for was that someone had all lanes, it goes on in its own.
    if lanes::hit_quickly(general, site) == Some(true) {
        return GO_ON;
    }
    let lanes = lanes::take(room.inside.as_mut());
    let base = threads::base();
    let happened =
        room.happen(site as usize, &Moment { general, vectors, base, thread: threads::number(base) });
    if happened == Some(true) {
        INVIGIL_WORDS.frozen.store(1, Ordering::SeqCst);
    }
    match lanes {
        Some(lanes) => lanes.give_back(room.inside.as_mut()),
        None if lanes::is_crowded() => room.open_lanes(),
        None => {}
    }
    match happened {
        None => REFUSED,
        Some(true) => STOP,
        Some(false) => GO_ON,
    }
}

/// Whether this is another process, which has the program's memory for a while.
#[cold]
fn is_foreign() -> bool {
    system::process() != INVIGIL_WORDS.process.load(Ordering::Relaxed)
}

/// An answer, for the tool to fetch.
#[repr(C)]
struct Reply {
    at: *const u8,
    length: usize,
}

static ANSWER: Lock<Vec<u8>> = Lock::new(Vec::new());

/// The program is no more, and neither are its threads, wherever they were: this is a copy of its memory, and nobody else has it.
extern "C" fn alone() {
    ROOM.break_open();
    lanes::break_open();
    ANSWER.break_open();
    memory::break_open();
}

/// Answers a request of the tool, which lies at `at`. Gives where the answer lies, of which the first eight bytes are the
/// length of the rest; it is there until the next request.
///
/// # Safety
/// The request lies in a piece of memory that [`memory::malloc`] gave, and is this function's from now on.
unsafe extern "C" fn serve(at: *mut u8, length: usize) -> Reply {
    // SAFETY: by the contract.
    let request = unsafe { core::slice::from_raw_parts(at, length) };
    let answer = match postcard::from_bytes(request) {
        Ok(request) => match ROOM.lock_within(PATIENCE) {
            Some(mut room) => match room.answer_alone(request) {
                Some(answer) => answer.unwrap_or_else(Answer::Refused),
                None => Answer::Locked,
            },
            None => Answer::Locked,
        },
        Err(error) => Answer::Refused(error.to_string()),
    };
    // SAFETY: nobody else knows it.
    unsafe { memory::free(at) };
    let mut kept = ANSWER.lock();
    *kept = postcard::to_allocvec(&answer).unwrap_or_default();
    Reply { at: kept.as_ptr(), length: kept.len() }
}

/// Where the tool finds what it needs, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Places<P> {
    /// Where trampolines call.
    pub entry: P,
    /// The shortest way of a thread.
    pub quick: P,
    /// The last instruction of a thread that goes on.
    pub leaving: P,
    /// The trap after an event to react to.
    pub stopped: P,
    /// The trap before an event that is yet to happen.
    pub refused: P,
    /// Where what is not bound goes.
    pub unbound: P,
    /// Gives memory for a request.
    pub allot: P,
    /// Answers requests.
    pub serve: P,
    /// Makes a copy of the memory usable after the program's end.
    pub alone: P,
    /// The functions that may fail, and where to go on then.
    pub guarded: [P; 5],
    /// What is bound, in the order of [`BOUND`].
    pub bound: [P; BOUND.len()],
}

impl Places<u64> {
    /// As they lie in memory.
    pub fn from_words(words: [u64; PLACES]) -> Places<u64> {
        let [entry, quick, leaving, stopped, refused, unbound, allot, serve, alone, rest @ ..] = words;
        let (guarded, bound) = rest.split_at(5);
        Places {
            entry,
            quick,
            leaving,
            stopped,
            refused,
            unbound,
            allot,
            serve,
            alone,
            guarded: core::array::from_fn(|n| guarded[n]),
            bound: core::array::from_fn(|n| bound[n]),
        }
    }
}

/// How many places there are.
pub const PLACES: usize = 14 + BOUND.len();

/// The names of functions that compiled code calls, and that are given to it here.
pub const BOUND: [&str; 11] = [
    "malloc",
    "free",
    "calloc",
    "realloc",
    "posix_memalign",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "strlen",
];

type Place = unsafe extern "C" fn();

/// Makes a place of a function.
macro_rules! place {
    ($function:path) => {
        // SAFETY: a function pointer of another type is as large; nobody calls it as this.
        unsafe { core::mem::transmute::<*const (), Place>($function as *const ()) }
    };
}

/// Found by the tool by its name.
#[unsafe(no_mangle)]
pub static INVIGIL_PLACES: Places<Place> = Places {
    entry: place!(entry::entry),
    quick: place!(hit_quickly),
    leaving: place!(entry::leaving),
    stopped: place!(entry::stopped),
    refused: place!(entry::refused),
    unbound: place!(entry::unbound),
    allot: place!(memory::allot),
    serve: place!(serve),
    alone: place!(alone),
    guarded: guarded::PLACES,
    bound: [
        place!(memory::malloc),
        place!(memory::free),
        place!(memory::calloc),
        place!(memory::realloc),
        place!(memory::posix_memalign),
        place!(memory::memcpy),
        place!(memory::memmove),
        place!(memory::memset),
        place!(memory::memcmp),
        place!(memory::memcmp),
        place!(memory::strlen),
    ],
};
