//! Watching memory: with the debug registers while they last, then by protecting pages.
//!
//! A debug register stops a thread just behind the access and costs nothing otherwise. A protected page stops
//! it before any access to the page: many stretches of memory can be watched, each access costs, and one can
//! stop before it.

pub(crate) mod decode;
pub(crate) mod hardware;
mod pages;

use crate::engine::lost;
use crate::maps;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::Target;
use crate::task::Task;
use crate::uses::Use;
use hardware::{Armed, REGISTERS};
use invigil_debuginfo::value::Datum;
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Owner, PointId, Stop, Trouble};
pub(crate) use pages::{Contents, Pages};
use std::collections::BTreeMap;
use std::ops::Range;

/// A stack is no larger than this: what lies further up is not on it.
const STACK: u64 = 64 << 20;
/// So many calls are looked through for the one that a variable belongs to.
const DEEP: usize = 256;
/// So many bytes can be watched at once: every page of them is closed by itself.
const MOST: u64 = 1 << 20;

/// Which accesses count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Whether the thread stops before the access rather than behind it.
    pub(crate) before: bool,
}

/// For whom memory is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A point of the developer or the scenario.
    Point(PointId),
    /// An event, by its plan.
    Event(u32),
}

/// A stretch of memory that is watched, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Watcher(u32);

#[derive(Clone, Debug)]
struct Watched {
    id: Watcher,
    range: Range<u64>,
    access: Access,
    reason: Reason,
    /// What is there, with its type.
    datum: Datum,
    /// Whether debug registers do it.
    armed: bool,
    /// Where it ends, if it is a variable of a call.
    end: Option<(SiteId, Use)>,
}

/// Accesses that a thread made, or is about to make, and that are being told.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) tid: Tid,
    watchers: Vec<Watcher>,
    handled: Owners,
    /// What is still to be done when all have been told: the memory that is accessed, and who wants to know
    /// of it afterwards.
    then: Option<(Vec<decode::Touched>, Vec<Watcher>)>,
}

/// All memory that is watched.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    all: Vec<Watched>,
    owners: [Option<Watcher>; REGISTERS],
    pages: Pages,
    last: u32,
    /// What was in memory that debug registers watch when a thread began a system call.
    pub(crate) before_call: BTreeMap<Tid, Contents>,
    /// What is being told now.
    pub(crate) touch: Option<Touch>,
}

/// The stretch of memory that is to be watched, if it can be.
pub(crate) fn stretch(start: u64, length: u64) -> Done<Range<u64>> {
    if length > MOST {
        return Err(Trouble::Request(format!(
            "{length} bytes are too many to watch: watch {MOST} at most, for instance a part of them"
        )));
    }
    match start.checked_add(length) {
        Some(end) if length > 0 => Ok(start..end),
        Some(_) => Err(Trouble::Request("it takes no room in memory: it cannot be watched".into())),
        None => Err(not_mapped(start)),
    }
}

fn not_mapped(address: u64) -> Trouble {
    Trouble::Request(format!("the program has no memory at {address:#x}: it cannot be watched"))
}

impl Watches {
    fn get(&self, id: Watcher) -> Option<&Watched> {
        self.all.iter().find(|watched| watched.id == id)
    }

    /// Whether an address lies in a page that is protected for us.
    pub(crate) fn is_protected(&self, address: u64) -> bool {
        self.pages.has(address)
    }

    /// Whether any page is protected.
    pub(crate) fn has_pages(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The memory was replaced: nothing is watched any more.
    pub(crate) fn forget(&mut self) {
        *self = Watches { last: self.last, ..Watches::default() };
    }
}

impl Target {
    /// Sets the debug registers of all threads.
    fn arm_all(&self) {
        let stopped = |task: &&Task| !task.foreign && !task.running && !task.over;
        for task in self.engine.tasks.values().filter(stopped) {
            // A thread that is gone needs none.
            let _ = hardware::arm(task.tid, &self.engine.armed);
        }
    }

    /// Sets the debug registers of threads that were brought back.
    pub(crate) fn rearm(&self) {
        if self.is_armed() {
            self.arm_all();
        }
    }

    /// Clears the debug registers of all threads.
    pub(crate) fn disarm_all(&mut self) {
        if self.is_armed() {
            self.engine.armed = Default::default();
            self.watches.owners = Default::default();
            self.arm_all();
        }
    }

    /// Whether a debug register watches something.
    pub(crate) fn is_armed(&self) -> bool {
        self.engine.armed.iter().any(Option::is_some)
    }

    /// Makes sure that the program has memory throughout a stretch, and may read it: what is not there can be
    /// neither closed nor opened.
    pub(crate) fn check_mapped(&self, range: &Range<u64>) -> Done {
        let maps = maps::read(self.engine.process).map_err(lost)?;
        let is_there = |page: &u64| {
            // A page that is closed for us cannot be read at present.
            self.watches.is_protected(*page) || maps.iter().any(|map| map.read && map.range.contains(page))
        };
        match pages::pages_of(range.start, range.end).find(|page| !is_there(page)) {
            Some(page) => Err(not_mapped(page.max(range.start))),
            None => Ok(()),
        }
    }

    /// Watches what an expression names.
    pub(crate) fn watch(
        &mut self,
        datum: Datum,
        range: Range<u64>,
        access: Access,
        reason: Reason,
    ) -> Done<Watcher> {
        self.engine.hold()?;
        self.watches.last += 1;
        let id = Watcher(self.watches.last);
        let pieces: Vec<(u64, u64)> = hardware::pieces(range.start, range.end - range.start).collect();
        let free: Vec<usize> = (0..REGISTERS).filter(|number| self.engine.armed[*number].is_none()).collect();
        let armed = !access.before && pieces.len() <= free.len();
        if armed {
            for (number, (address, length)) in free.into_iter().zip(pieces) {
                self.engine.armed[number] = Some(Armed { address, length, reads: access.read });
                self.watches.owners[number] = Some(id);
            }
            self.arm_all();
        } else {
            self.close_for(&range, access)?;
        }
        let end = self.end_of_variable(&range);
        if let Some((site, tid, above)) = end {
            self.add_use(site, Use::FrameEnd { watcher: id, tid, above });
        }
        let end = end.map(|(site, tid, above)| (site, Use::FrameEnd { watcher: id, tid, above }));
        self.watches.all.push(Watched { id, range, access, reason, datum, armed, end });
        self.set_syscalls()?;
        Ok(id)
    }

    /// Watches it no longer.
    pub(crate) fn unwatch(&mut self, id: Watcher) -> Done {
        let Some(at) = self.watches.all.iter().position(|watched| watched.id == id) else { return Ok(()) };
        let watched = self.watches.all.remove(at);
        if let Some((site, end)) = watched.end {
            self.remove_use(site, end);
        }
        if self.ended.is_none() {
            self.engine.hold()?;
        }
        if watched.armed {
            for number in 0..REGISTERS {
                if self.watches.owners[number] == Some(id) {
                    self.watches.owners[number] = None;
                    self.engine.armed[number] = None;
                }
            }
            if self.ended.is_none() {
                self.arm_all();
            }
        } else {
            self.open_for(&watched.range, watched.access)?;
        }
        self.set_syscalls()
    }

    /// Where the call ends whose variable lies at `range`, if it is one of the selected thread's.
    fn end_of_variable(&mut self, range: &Range<u64>) -> Option<(SiteId, Tid, u64)> {
        let tid = self.current;
        let sp = self.engine.task(tid).ok()?.registers().ok()?.rsp;
        // Below it there is nothing that lasts, but a leaf function may use a little of that.
        const RED_ZONE: u64 = 128;
        if range.start < sp.saturating_sub(RED_ZONE) || range.start - sp.min(range.start) > STACK {
            return None;
        }
        let frames = self.unwind(tid, DEEP).ok()?;
        let at = frames.iter().position(|frame| frame.cfa.is_some_and(|cfa| range.start < cfa))?;
        let cfa = frames[at].cfa?;
        let caller = frames[at..].iter().find(|frame| frame.cfa != Some(cfa))?;
        let site = self.site(caller.pc).ok()?;
        Some((site, tid, cfa - 1))
    }

    /// A call ended whose variable was watched: the memory is another's now.
    pub(crate) fn frame_ended(&mut self, site: SiteId, watcher: Watcher) -> Done {
        let reason = self.watches.get(watcher).map(|watched| watched.reason);
        self.unwatch(watcher)?;
        match reason {
            Some(Reason::Point(id)) => self.watch_over(id),
            Some(Reason::Event(plan)) => self.plan_watch_over(plan),
            None => {
                let uses: Vec<Use> = self.uses.at(site).to_vec();
                for reason in uses {
                    if matches!(reason, Use::FrameEnd { watcher: of, .. } if of == watcher) {
                        self.remove_use(site, reason);
                    }
                }
            }
        }
        Ok(())
    }

    /// A thread stopped, maybe because a debug register matched.
    pub(crate) fn watch_matched(&mut self, tid: Tid) -> Done<Option<Stop>> {
        if !self.is_armed() {
            return Ok(None);
        }
        let hit = self.matched_watchers(tid);
        if hit.is_empty() {
            return Ok(None);
        }
        self.begin_touch(Touch { tid, watchers: hit, handled: Owners::default(), then: None })
    }

    /// Those whose debug registers matched when a thread stopped.
    fn matched_watchers(&mut self, tid: Tid) -> Vec<Watcher> {
        let Ok(matched) = hardware::matched(tid) else { return Vec::new() };
        let mut hit: Vec<Watcher> = (0..REGISTERS)
            .filter(|number| matched[*number])
            .filter_map(|number| self.watches.owners[number])
            .collect();
        hit.dedup();
        self.seen_by_registers(&hit);
        // The processor cannot watch for reading alone.
        let reads_only = |watched: &Watched| watched.access.read && !watched.access.write;
        let any_reader = hit.iter().any(|id| self.watches.get(*id).is_some_and(reads_only));
        if any_reader && self.just_wrote(tid) {
            hit.retain(|id| !self.watches.get(*id).is_some_and(reads_only));
        }
        hit
    }

    /// What a thread wrote is not what a system call of another did.
    fn seen_by_registers(&mut self, hit: &[Watcher]) {
        if hit.is_empty() || self.watches.before_call.is_empty() {
            return;
        }
        let now = self.contents(true);
        for known in self.watches.before_call.values_mut() {
            for (id, bytes) in known.iter_mut().filter(|(id, _)| hit.contains(id)) {
                if let Some((_, is)) = now.iter().find(|(other, _)| other == id) {
                    bytes.clone_from(is);
                }
            }
        }
    }

    fn begin_touch(&mut self, touch: Touch) -> Done<Option<Stop>> {
        let tid = touch.tid;
        self.watches.touch = Some(touch);
        self.current = tid;
        self.frame = 0;
        self.serving = Some(tid);
        self.serve_touch()
    }

    /// Serves those who watch what a thread touched, one after the other.
    pub(crate) fn serve_touch(&mut self) -> Done<Option<Stop>> {
        loop {
            let Some(touch) = self.watches.touch.clone() else { return Ok(None) };
            let tid = touch.tid;
            let mut present = Owners::default();
            for id in &touch.watchers {
                if let Some(owner) =
                    self.watches.get(*id).and_then(|watched| self.watch_owner(watched.reason))
                {
                    present = present.with(owner);
                }
            }
            let Some(owner) = present.next(touch.handled) else {
                self.watches.touch = None;
                let Some((touched, mut afterwards)) = touch.then else { return Ok(None) };
                // Now the access itself.
                afterwards.extend(self.perform(tid, &touched)?);
                if afterwards.is_empty() {
                    return Ok(None);
                }
                let handled = Owners::default();
                self.watches.touch = Some(Touch { tid, watchers: afterwards, handled, then: None });
                continue;
            };
            if let Some(touch) = &mut self.watches.touch {
                touch.handled = touch.handled.with(owner);
            }
            let stop = match owner {
                Owner::Monitors => self.fire_touched(tid, &touch.watchers)?,
                owner => self.touched_points(tid, &touch.watchers, owner)?,
            };
            if stop.is_some() {
                return Ok(stop);
            }
        }
    }

    fn watch_owner(&self, reason: Reason) -> Option<Owner> {
        match reason {
            Reason::Point(id) => self.points.owner(id),
            Reason::Event(plan) => self.is_plan_active(plan).then_some(Owner::Monitors),
        }
    }

    fn fire_touched(&mut self, tid: Tid, watchers: &[Watcher]) -> Done<Option<Stop>> {
        self.batch.clear();
        for id in watchers {
            let Some(watched) = self.watches.get(*id) else { continue };
            if let Reason::Event(plan) = watched.reason {
                let datum = watched.datum.clone();
                let now = self.plain_of(tid, &datum);
                self.fire_access(tid, plan, &now)?;
            }
        }
        Ok((!self.batch.is_empty()).then_some(Stop::Events))
    }

    fn touched_points(&mut self, tid: Tid, watchers: &[Watcher], owner: Owner) -> Done<Option<Stop>> {
        let reasons = watchers.iter().filter_map(|id| self.watches.get(*id)).map(|watched| watched.reason);
        let points = reasons.filter_map(|reason| match reason {
            Reason::Point(id) => Some(id),
            Reason::Event(_) => None,
        });
        let due: Vec<PointId> = points.filter(|id| self.points.owner(*id) == Some(owner)).collect();
        self.count(tid, due, owner)
    }

    pub(crate) fn no_memory(of: &str) -> Trouble {
        Trouble::Request(format!(
            "`{of}` is not in memory here: it can be watched when it is, maybe after `next`"
        ))
    }
}
