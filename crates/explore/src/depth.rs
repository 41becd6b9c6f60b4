//! Search in depth: it goes on from what it saw last, so it is soon far from the start.

use crate::limits::{Incomplete, Pulse};
use crate::path::Path;
use crate::random::Random;
use crate::report::{Found, Report, What};
use crate::search::Search;
use crate::seen::Seen;
use crate::space::{BAD, FAULT, Space, Successors, Taken};
use crate::store::Store;
use crate::tally::{Counts, Tally};
use std::collections::HashSet;

/// Configurations between two looks at the limits.
const TELL: u64 = 32;

/// Looks at every configuration of `space`, always going on from the last one that was seen.
///
/// The paths to what is found are not the shortest. With a limit on the depth, configurations that are reached on a
/// long way first may hide what lies behind them, within the limit on a shorter way; the report is incomplete then.
///
/// ```
/// use invigil_explore::{Search, Space, Successors, Taken, depth};
///
/// /// Doubles or adds one, up to a hundred.
/// struct Doubling;
/// impl Space for Doubling {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[1], Taken::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         for (action, next) in [2 * state[0], state[0] + 1].into_iter().enumerate() {
///             if next <= 100 {
///                 out.push(&[next], Taken { action: action as u32, flags: 0 });
///             }
///         }
///     }
/// }
/// let report = depth(&Doubling, &Search::default(), &());
/// assert_eq!(report.found[0].path.states.last().map(|last| last[0]), Some(100));
/// ```
pub fn depth<S: Space, P: Pulse>(space: &S, search: &Search, pulse: &P) -> Report {
    let store = Store::new(space.width()).with_memory(search.limits.memory.unwrap_or(u64::MAX));
    descend(space, search, pulse, store, None).0
}

/// Searches in depth with any memory of what was seen, which is given back. With `order`, successors are tried in an
/// order by chance.
pub(crate) fn descend<S: Space, P: Pulse, M: Seen>(
    space: &S,
    search: &Search,
    pulse: &P,
    seen: M,
    order: Option<Random>,
) -> (Report, M) {
    let tally = Tally::new(&search.limits, pulse);
    let mut descent = Descent {
        space,
        search,
        seen,
        order,
        counts: Counts::default(),
        pending: Successors::default(),
        frames: Vec::new(),
        keys: Vec::new(),
        arranged: Vec::new(),
        found: Vec::new(),
        bad: HashSet::new(),
        is_cut: false,
    };
    let ended = descent.run(&tally).or(descent.is_cut.then_some(Incomplete::Depth));
    descent.tell(&tally);
    let certainty = descent.seen.certainty();
    let report = Report {
        totals: tally.totals(),
        bad: tally.bad(),
        incomplete: ended,
        found: descent.found,
        certainty,
    };
    (report, descent.seen)
}

struct Descent<'a, S, M: Seen> {
    space: &'a S,
    search: &'a Search,
    seen: M,
    order: Option<Random>,
    counts: Counts,
    /// The successors of all configurations on the way that are still to be tried, those of the last at the end.
    pending: Successors,
    /// For each configuration on the way, where its successors begin, and which is the next to try. The one before
    /// that is the next configuration on the way.
    frames: Vec<(usize, usize)>,
    /// Of the successors of the last configuration: their keys, and the order in which they are tried.
    keys: Vec<M::Key>,
    arranged: Vec<usize>,
    found: Vec<Found>,
    /// The bad configurations among what was found.
    bad: HashSet<Box<[u64]>>,
    /// Whether something lies deeper than is allowed.
    is_cut: bool,
}

impl<S: Space, M: Seen> Descent<'_, S, M> {
    fn run<P: Pulse>(&mut self, tally: &Tally<'_, P>) -> Option<Incomplete> {
        let width = self.space.width();
        let (mut state, mut out) = (vec![0; width], Successors::default());
        self.space.initial(&mut out);
        if self.space.failure().is_some() {
            return Some(Incomplete::Failed);
        }
        self.push(&out);
        while let Some((begin, next)) = self.frames.last_mut() {
            if *next == self.pending.len() {
                self.pending.words.truncate(*begin * width);
                self.pending.taken.truncate(*begin);
                self.frames.pop();
                continue;
            }
            state.copy_from_slice(self.pending.state(*next, width));
            *next += 1;
            match self.seen.insert(&state, self.seen.key(&state)) {
                Ok(true) => self.counts.states += 1,
                Ok(false) => continue,
                Err(_) => return Some(Incomplete::Memory),
            }
            tally.reach(self.frames.len() as u64 - 1);
            out.clear();
            self.space.successors(&state, &mut out);
            if self.space.failure().is_some() {
                return Some(Incomplete::Failed);
            }
            self.counts.transitions += out.len() as u64;
            self.counts.expanded += 1;
            if out.is_empty() {
                self.counts.deadlocks += 1;
                if self.search.wanted.deadlocks {
                    self.note(What::Deadlock, None);
                }
            }
            self.push(&out);
            if !self.search.whole && self.found.len() >= self.search.most {
                return Some(Incomplete::Found);
            }
            if self.counts.expanded == TELL {
                self.tell(tally);
                if let Some(reason) = tally.halted() {
                    return Some(reason);
                }
            }
        }
        None
    }

    /// Adds the successors of the last configuration on the way, those that are not known.
    fn push(&mut self, out: &Successors) {
        let width = self.space.width();
        // The initial configurations, which are no successors, are the only ones without a frame before them.
        let steps = self.frames.len() as u64;
        let is_deepest = steps > 0 && self.search.limits.depth.is_some_and(|most| steps > most);
        let begin = self.pending.len();
        self.keys.clear();
        for state in out.words.chunks_exact(width) {
            let key = self.seen.key(state);
            self.seen.soon(key);
            self.keys.push(key);
        }
        self.arrange(out.len());
        let mut has_fault = false;
        for number in 0..out.len() {
            let at = self.arranged[number];
            let (state, taken) = (out.state(at, width), out.taken[at]);
            if taken.flags & FAULT != 0 {
                self.counts.faults += 1;
                self.counts.transitions = self.counts.transitions.saturating_sub(u64::from(steps > 0));
                if self.search.wanted.faults && !has_fault {
                    self.note(What::Fault, Some((&[], taken)));
                }
                has_fault = true;
                continue;
            }
            if taken.flags & BAD != 0 {
                self.counts.bad += 1;
                // A step too far; where it leads may be known.
                self.is_cut |= is_deepest;
                if self.search.wanted.bad && !is_deepest {
                    self.note(What::Bad, Some((state, taken)));
                }
            }
            if !self.seen.contains(state, self.keys[at]) {
                self.is_cut |= is_deepest;
                if !is_deepest {
                    self.pending.push(state, taken);
                }
            }
        }
        self.frames.push((begin, begin));
    }

    /// Decides in which order so many successors are tried: by chance if that is wanted.
    fn arrange(&mut self, count: usize) {
        self.arranged.clear();
        self.arranged.extend(0..count);
        if let Some(random) = &mut self.order {
            for at in (1..count).rev() {
                self.arranged.swap(at, random.below(at + 1));
            }
        }
    }

    /// Notes what was found at the end of the way, with a last step that is not on it.
    fn note(&mut self, what: What, last: Option<(&[u64], Taken)>) {
        if self.found.len() >= self.search.most {
            return;
        }
        if let (What::Bad, Some((state, _))) = (what, last)
            && !self.bad.insert(state.into())
        {
            return;
        }
        let mut path = Path { states: Vec::new(), actions: Vec::new(), back: None, fault: None };
        let on_the_way = self.frames.iter().map(|(_, next)| next - 1);
        let steps = on_the_way.map(|at| (self.pending.state(at, self.space.width()), self.pending.taken[at]));
        let end = last.filter(|_| what == What::Bad);
        for (state, taken) in steps.chain(end) {
            if !path.states.is_empty() {
                path.actions.push(taken.action);
            }
            path.states.push(state.into());
        }
        if what == What::Fault {
            path.fault = last.map(|(_, taken)| taken.action);
        }
        self.found.push(Found { what, path });
    }

    fn tell<P: Pulse>(&mut self, tally: &Tally<'_, P>) {
        let stack = self.pending.words.len() * 8 + self.pending.len() * 8 + self.frames.len() * 16;
        self.counts.memory = self.seen.memory() + stack as u64;
        tally.tell(&mut self.counts);
    }
}
