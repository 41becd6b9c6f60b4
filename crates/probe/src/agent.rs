//! The monitors in here, and what happens when a thread comes in.

use crate::capture::{Capture, General, Moment, Ready, Vectors};
use crate::lock::{Lock, PATIENCE};
use crate::message::{Answer, FEW, Past, Request, Site, Told};
use crate::ring::Ring;
use crate::tails::{self, LEAVES, RETURNS, Way};
use crate::threads;
use crate::words::INVIGIL_WORDS;
use crate::{calls, entry, guarded, memory, recording, system};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Parts};
use invigil_monitor::event::{Batch, Event, Stamp, SymbolId};
use invigil_monitor::inside::{Inmate, Inside};
use invigil_monitor::slices::Slices;

/// The thread goes on.
pub const GO_ON: u32 = 0;
/// The event has been dealt with, and the thread is to stop.
pub const STOP: u32 = 1;
/// The event could not be dealt with: the thread is to stop, and to come in again.
pub const REFUSED: u32 = 2;

/// Events with no more parameters go the shortest way.
const FEWER: usize = 4;
const TIMELESS: Stamp = Stamp { time: f64::NAN, line: 0 };

static ROOM: Lock<Room> = Lock::new(Room::new());

struct Room {
    sites: Vec<Post>,
    automata: Vec<Arc<Automaton>>,
    inside: Option<Inside>,
    /// The last so many events are those that someone is to react to.
    due: u32,
    values: Vec<Value>,
    text: String,
}

/// A site with what is worth knowing before.
struct Post {
    told: Vec<Told>,
    /// Whether all that its events carry are whole numbers, and few.
    is_plain: bool,
    /// Its one event, if there is a short way to all that it carries.
    short: Option<Short>,
}

/// An event that carries a few whole numbers that are easy to get.
struct Short {
    symbol: SymbolId,
    count: usize,
    numbers: [Ready; FEWER],
}

impl Short {
    fn new(told: &Told) -> Option<Short> {
        let ready: Option<Vec<Ready>> = told.captures.iter().map(Capture::ready).collect();
        let ready = ready.filter(|ready| ready.len() <= FEWER)?;
        let numbers = core::array::from_fn(|n| ready.get(n).copied().unwrap_or_default());
        Some(Short { symbol: told.symbol, count: ready.len(), numbers })
    }

    /// The numbers, if they are all there; those that it does not carry are zero.
    #[inline(always)]
    fn take(&self, general: &General) -> Option<[i64; FEWER]> {
        let mut taken = [0; FEWER];
        for (number, ready) in taken.iter_mut().zip(&self.numbers[..self.count]) {
            *number = ready.take(general)?;
        }
        Some(taken)
    }
}

impl Room {
    const fn new() -> Room {
        Room {
            sites: Vec::new(),
            automata: Vec::new(),
            inside: None,
            due: 0,
            values: Vec::new(),
            text: String::new(),
        }
    }

    /// All events of a site happen, in the program's `only` thread, if it has no other; whether someone is to react.
    #[inline(always)]
    fn happen(&mut self, site: usize, general: &General, vectors: &Vectors, only: u32) -> Option<bool> {
        let thread = if only != 0 { only } else { threads::number(threads::base()) };
        if let Some(Post { short: Some(short), .. }) = self.sites.get(site)
            && let Some(inside) = &mut self.inside
            && let Some(numbers) = short.take(general)
        {
            let reacts = inside.step_integers(short.symbol, &numbers[..short.count], thread);
            if reacts {
                self.due = 1;
            }
            return Some(reacts);
        }
        self.happen_slowly(site, &Moment { general, vectors, base: threads::base(), thread })
    }

    #[inline(never)]
    fn happen_slowly(&mut self, site: usize, moment: &Moment<'_>) -> Option<bool> {
        let post = self.sites.get(site)?;
        let inside = self.inside.as_mut()?;
        let before = inside.count();
        let mut reacts = false;
        for told in &post.told {
            if post.is_plain {
                let mut numbers = [0; FEW];
                if told.integers(moment, &mut numbers) {
                    reacts |=
                        inside.step_integers(told.symbol, &numbers[..told.captures.len()], moment.thread);
                    continue;
                }
            }
            self.values.clear();
            self.text.clear();
            for capture in &told.captures {
                let value = capture.value(moment, system::now, &mut self.text);
                self.values.push(value);
            }
            let event = Event { symbol: told.symbol, params: &self.values, text: &self.text };
            reacts |= inside.step(&event, TIMELESS, moment.thread);
        }
        if reacts {
            self.due = (inside.count() - before) as u32;
        }
        Some(reacts)
    }

    /// All events of a site happen, and then those of the calls that end because the thread has returned there for them.
    fn happen_returned(&mut self, site: usize, moment: &Moment<'_>) -> Option<bool> {
        let before = self.inside.as_ref()?.count();
        let mut reacts = self.happen_slowly(site, moment)?;
        let inside = self.inside.as_mut()?;
        while let Some((left, ending)) = tails::ended(moment, site as u32) {
            let mut numbers = [0; FEW];
            if ending.integers(moment, &left, &mut numbers) {
                let numbers = &numbers[..ending.params.len()];
                reacts |= inside.step_integers(ending.symbol, numbers, moment.thread);
                continue;
            }
            self.values.clear();
            self.text.clear();
            ending.values(moment, &left, &mut self.text, &mut self.values);
            let event = Event { symbol: ending.symbol, params: &self.values, text: &self.text };
            reacts |= inside.step(&event, TIMELESS, moment.thread);
        }
        if reacts {
            self.due = (inside.count() - before) as u32;
        }
        Some(reacts)
    }

    fn put(&mut self, states: &[Vec<u8>], concerns: Vec<Vec<u8>>) -> Result<(), String> {
        let mut inmates = Vec::new();
        for ((automaton, state), concern) in self.automata.iter().zip(states).zip(concerns) {
            let slices =
                Slices::load(automaton, state).ok_or("the state of a property cannot be understood")?;
            inmates.push(Inmate { automaton: Arc::clone(automaton), slices, concern });
        }
        self.inside = Some(Inside::new(inmates));
        self.due = 0;
        INVIGIL_WORDS.frozen.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn take(&mut self) -> Option<Past> {
        let inside = self.inside.take()?;
        let past = inside.past();
        Some(Past {
            unseen_events: past.unseen_events,
            unseen: past.unseen.to_vec(),
            before: past.before.iter().map(Slices::save).collect(),
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
            reacts |= inside.step(&events.event(at), events.stamp(at), thread);
        }
        if reacts {
            self.due = (inside.count() - before) as u32;
            INVIGIL_WORDS.frozen.store(1, Ordering::SeqCst);
        }
        reacts
    }

    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        match request {
            Request::Sites { first, sites } => {
                let Some(sites) = recording::tell_sites(first, sites) else { return Ok(Answer::Done) };
                self.sites.truncate(first as usize);
                self.sites.extend(sites.into_iter().map(Post::new));
            }
            Request::Properties(properties) => {
                let automata = properties.iter().map(|bytes| {
                    let parts: Parts = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
                    Ok(Arc::new(Automaton::new(parts)))
                });
                self.automata = automata.collect::<Result<_, String>>()?;
            }
            Request::Record { at, bits, begun } => {
                // SAFETY: the tool has set this part of the library's memory aside.
                unsafe { recording::begin(Ring::new(at as *const u8, bits), begun) }
            }
            Request::Put { states, concerns } => self.put(&states, concerns)?,
            Request::Take => return Ok(Answer::Taken(self.take())),
            Request::Calls(thread) => return Ok(Answer::Calls(calls::of(thread))),
            Request::TakeCalls => return Ok(Answer::Calls(calls::take())),
            Request::PutCalls(all) => calls::put(all),
            Request::Tails { endings, leaving } => tails::tell(endings, leaving),
            Request::Returns(returns) => tails::tell_returns(returns),
            Request::TakeLeft => return Ok(Answer::Left(calls::take_left())),
            Request::PutLeft(all) => calls::put_left(all),
            Request::Step { .. } if self.due > 0 => return Ok(Answer::Busy),
            Request::Step { events, thread } => return Ok(Answer::Stepped(self.step(&events, thread))),
        }
        Ok(Answer::Done)
    }
}

impl Post {
    fn new(told: Site) -> Post {
        let is_plain = told.iter().all(Told::is_plain);
        let short = match &told[..] {
            [one] => Short::new(one),
            _ => None,
        };
        Post { told, is_plain, short }
    }
}

/// A thread is at a site.
#[inline]
pub(crate) extern "C" fn hit(general: &General, vectors: &Vectors, site: u32) -> u32 {
    if INVIGIL_WORDS.foreign.load(Ordering::Relaxed) != 0 && is_foreign() {
        return GO_ON;
    }
    if let Some(how) = recording::hit(general, vectors, site) {
        return how;
    }
    let only = INVIGIL_WORDS.alone.load(Ordering::Relaxed);
    let mut room = if only != 0 {
        // SAFETY: the tool sees every thread before it begins, and takes this back first; this thread makes none in here.
        unsafe { ROOM.lock_alone() }
    } else {
        ROOM.lock()
    };
    if INVIGIL_WORDS.frozen.load(Ordering::Relaxed) != 0 {
        return REFUSED;
    }
    match room.happen(site as usize, general, vectors, only) {
        None => REFUSED,
        Some(true) => {
            INVIGIL_WORDS.frozen.store(1, Ordering::SeqCst);
            STOP
        }
        Some(false) => GO_ON,
    }
}

/// A thread is at a site where calls may be left for other functions, or where such functions return to.
#[inline(never)]
pub(crate) fn hit_marked(general: &General, vectors: &Vectors, marked: u32) -> u32 {
    if INVIGIL_WORDS.foreign.load(Ordering::Relaxed) != 0 && is_foreign() {
        return GO_ON;
    }
    let site = marked & !calls::MARKS;
    let way = if marked & LEAVES != 0 { tails::way(general, site) } else { Way::On };
    if way == Way::Unknown {
        // The tool makes a site there.
        return REFUSED;
    }
    let base = threads::base();
    let moment = Moment { general, vectors, base, thread: threads::number(base) };
    let returns = marked & RETURNS != 0;
    if let Some(how) = recording::hit_marked(&moment, site, returns, way) {
        return how;
    }
    let mut room = ROOM.lock();
    if INVIGIL_WORDS.frozen.load(Ordering::Relaxed) != 0 {
        return REFUSED;
    }
    let happened = match returns {
        true => room.happen_returned(site as usize, &moment),
        false => room.happen_slowly(site as usize, &moment),
    };
    let Some(reacts) = happened else { return REFUSED };
    // Still with the lock: whoever takes the monitors takes what is noted with them.
    if let Way::To(back) = way {
        tails::leave(&moment, site, back);
    }
    if reacts {
        INVIGIL_WORDS.frozen.store(1, Ordering::SeqCst);
        return STOP;
    }
    GO_ON
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
            Some(mut room) => room.answer(request).unwrap_or_else(Answer::Refused),
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
        let [entry, leaving, stopped, refused, unbound, allot, serve, alone, rest @ ..] = words;
        let (guarded, bound) = rest.split_at(5);
        Places {
            entry,
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
pub const PLACES: usize = 13 + BOUND.len();

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
