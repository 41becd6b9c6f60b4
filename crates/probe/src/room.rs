//! The monitors in here, and what is known of the sites.

use crate::calls;
use crate::capture::{General, Moment};
use crate::lock::PATIENCE;
use crate::message::{Answer, FEW, Past, Request, Site, Told};
use crate::ring::Ring;
use crate::short::{Deed, Short};
use crate::tails;
use crate::threads;
use crate::words::INVIGIL_WORDS;
use crate::{lanes, recording, system};
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

/// The monitors, and what is known of the sites.
pub(crate) struct Room {
    sites: Vec<Post>,
    automata: Vec<Arc<Automaton>>,
    /// Before anything has happened.
    scripts: Option<Scripts>,
    /// When the program began, if scripts ask for the time.
    begun: Option<u64>,
    pub(crate) inside: Option<Inside>,
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
    pub(crate) const fn new() -> Room {
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
    pub(crate) fn happen_quickly(&mut self, site: usize, general: &General, only: u32) -> bool {
        let Some(Post { short: Some(short), .. }) = self.sites.get(site) else { return false };
        let Some(inside) = &mut self.inside else { return false };
        let thread = if only != 0 { only } else { threads::number(threads::base()) };
        if !inside.expect_quickly(thread) {
            return false;
        }
        short.with(general, thread, Step(inside))
    }

    /// All events of a site happen, and then, if functions return to it for others, those of the calls that end because of that;
    /// whether someone is to react.
    pub(crate) fn happen(&mut self, site: usize, moment: &Moment<'_>, returns: bool) -> Option<bool> {
        let before = self.inside.as_ref()?.count();
        let mut reacts = self.happen_there(site, moment)?;
        if returns {
            reacts |= self.happen_returned(site, moment)?;
        }
        if reacts {
            self.due = (self.inside.as_ref()?.count() - before) as u32;
        }
        Some(reacts)
    }

    fn happen_there(&mut self, site: usize, moment: &Moment<'_>) -> Option<bool> {
        let post = self.sites.get(site)?;
        let inside = self.inside.as_mut()?;
        let mut reacts = false;
        // Who asks for the time asks once.
        let now = self.begun.filter(|_| post.is_followed).map(|_| system::now());
        let stamp = stamp(self.begun, now);
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
                let value = capture.value(moment, || now.unwrap_or_else(system::now), &mut self.text);
                self.values.push(value);
            }
            let event = Event { symbol: told.symbol, params: &self.values, text: &self.text };
            reacts |= inside.happen(&event, stamp, moment.thread);
        }
        Some(reacts)
    }

    /// The events of calls that end because a thread has returned to a site for them.
    fn happen_returned(&mut self, site: usize, moment: &Moment<'_>) -> Option<bool> {
        let inside = self.inside.as_mut()?;
        let mut reacts = false;
        while let Some((left, ending)) = tails::ended(moment, site as u32) {
            let is_followed = self.scripts.as_ref().is_some_and(|scripts| scripts.follow(ending.symbol));
            let mut numbers = [0; FEW];
            if !is_followed && ending.integers(moment, &left, &mut numbers) {
                let numbers = &numbers[..ending.params.len()];
                reacts |= inside.step_integers(ending.symbol, numbers, moment.thread);
                continue;
            }
            let now = self.begun.filter(|_| is_followed).map(|_| system::now());
            self.values.clear();
            self.text.clear();
            ending.values(moment, &left, &mut self.text, &mut self.values);
            let event = Event { symbol: ending.symbol, params: &self.values, text: &self.text };
            reacts |= inside.happen(&event, stamp(self.begun, now), moment.thread);
        }
        Some(reacts)
    }

    /// Threads wait for each other often: from now on, they do only where they must.
    #[cold]
    pub(crate) fn open_lanes(&mut self) {
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
    pub(crate) fn answer_alone(&mut self, request: Request) -> Option<Result<Answer, String>> {
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

/// When an event happens, if someone asks: the time of the clock when the program began, and now.
fn stamp(begun: Option<u64>, now: Option<u64>) -> Stamp {
    let time = match (begun, now) {
        (Some(begun), Some(now)) => now.saturating_sub(begun) as f64 / 1e9,
        _ => f64::NAN,
    };
    Stamp { time, line: 0 }
}
