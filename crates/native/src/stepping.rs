//! Steps of the developer: by instruction, by line, to the end of a function, to a place.
//!
//! Within a line a thread is stepped by instructions while the others stand still. Calls are run through to
//! where they return, with all threads.

use crate::engine::lost;
use crate::place;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::{Target, registers};
use crate::uses::Use;
use invigil_debuginfo::program::Line;
use invigil_debuginfo::unwinding::Frame;
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Resume, Stop, Trouble};

/// A line that takes more instructions than this is a loop that waits for another thread: let all run.
const LONG: u32 = 20_000;

/// What the developer wants to have executed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Goal {
    /// One instruction.
    Instruction,
    /// The rest of a line.
    Line {
        /// Where it began.
        from: Option<Line>,
        /// The frame that it began in, by where its caller's frame begins.
        frame: u64,
        /// Whether calls are entered.
        into: bool,
        /// How many instructions were executed.
        count: u32,
    },
    /// A function, or the way to a place.
    Place {
        /// Whether a value is returned there.
        returns: Option<u64>,
    },
}

/// A step that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Stepping {
    tid: Tid,
    asked: Resume,
    goal: Goal,
    /// The places where it may end.
    ends: Vec<(SiteId, Use)>,
    /// Whether the thread has not moved yet.
    fresh: bool,
    /// Whether the thread executed an instruction, and what that means is yet to be seen.
    arrived: bool,
}

impl Target {
    /// Runs as far as is asked.
    pub(crate) fn resume_as(&mut self, how: &Resume) -> Done<Stop> {
        let goes_on =
            self.stepping.as_ref().is_some_and(|step| step.asked == *how || *how == Resume::Continue);
        if *how != Resume::Continue && !goes_on && self.ended.is_none() {
            self.begin_step(how)?;
        }
        self.run()
    }

    fn begin_step(&mut self, how: &Resume) -> Done {
        self.engine.hold()?;
        let tid = self.current;
        self.end_step();
        let mut stepping = Stepping {
            tid,
            asked: how.clone(),
            goal: Goal::Instruction,
            ends: Vec::new(),
            fresh: true,
            arrived: false,
        };
        match how {
            Resume::Continue | Resume::Instruction => {}
            Resume::Line | Resume::NextLine => {
                let frames = self.unwind(tid, 1)?;
                let Some(frame) = frames.first() else {
                    return Err(Trouble::Request("the stack cannot be read here; use `stepi`".into()));
                };
                let Some(cfa) = frame.cfa else {
                    return Err(Trouble::Request("the stack cannot be read here; use `stepi`".into()));
                };
                let from = self.program.line_of(frame.pc);
                if from.is_none() && self.frame == 0 {
                    // Code without lines is run through.
                    self.begin_step(&Resume::Finish)?;
                    if let Some(step) = &mut self.stepping {
                        step.asked = how.clone();
                    }
                    return Ok(());
                }
                stepping.goal = Goal::Line { from, frame: cfa, into: *how == Resume::Line, count: 0 };
            }
            Resume::Finish => {
                let depth = self.frame;
                let ends = self.end_of_frame(tid, depth)?;
                let function = self.frame_function(tid, depth)?;
                stepping.goal = Goal::Place { returns: function };
                stepping.ends.push(ends);
            }
            Resume::Until(name) => {
                let here = self.here();
                let found = place::find(&self.program, &self.view(), here.as_ref(), name)
                    .map_err(|missing| Trouble::Request(missing.reason))?;
                for address in found.addresses() {
                    let site = self.site(address)?;
                    stepping.ends.push((site, Use::StepEnd { tid, above: 0 }));
                }
                let depth = self.frame;
                if let Ok(end) = self.end_of_frame(tid, depth) {
                    stepping.ends.push(end);
                }
                stepping.goal = Goal::Place { returns: None };
            }
        }
        for (site, end) in &stepping.ends {
            self.add_use(*site, *end);
        }
        self.frame = 0;
        self.stepping = Some(stepping);
        Ok(())
    }

    /// Where a frame returns to, and what the stack pointer must be above for it to have returned.
    fn end_of_frame(&mut self, tid: Tid, depth: usize) -> Done<(SiteId, Use)> {
        let frames = self.unwind(tid, depth + 16)?;
        let outermost = || Trouble::Request("this is the outermost function: it does not return".into());
        let this = frames.get(depth).ok_or_else(outermost)?;
        let caller = frames[depth..].iter().find(|frame| frame.cfa > this.cfa).ok_or_else(outermost)?;
        let (address, cfa) = (caller.pc, this.cfa.ok_or_else(outermost)?);
        let site = self.site(address)?;
        // A handler may run on a stack of its own.
        let above = if depth == 0 && is_handler(&frames) { 0 } else { cfa - 1 };
        Ok((site, Use::StepEnd { tid, above }))
    }

    fn frame_function(&mut self, tid: Tid, depth: usize) -> Done<Option<u64>> {
        let frames = self.unwind(tid, depth + 1)?;
        Ok(frames.get(depth).and_then(|frame| self.program.function_at(frame.pc)?.entry))
    }

    /// The program goes on: gives the thread that is to execute one instruction while the others stand still, if
    /// that is how the step under way is made.
    pub(crate) fn departs(&mut self) -> Option<Tid> {
        let step = self.stepping.as_mut()?;
        step.fresh = false;
        let alone = match step.goal {
            Goal::Instruction => true,
            Goal::Line { count, .. } => step.ends.is_empty() && count <= LONG,
            Goal::Place { .. } => false,
        };
        if !alone && let Some(task) = self.engine.tasks.get_mut(&step.tid) {
            task.steps = matches!(step.goal, Goal::Line { .. }) && step.ends.is_empty();
        }
        alone.then_some(step.tid)
    }

    /// Whether a thread has come to where its step ends or is to be thought about.
    pub(crate) fn steps_here(&mut self, tid: Tid) -> Done<bool> {
        let Some(step) = self.stepping.as_ref().filter(|step| step.tid == tid && !step.fresh) else {
            return Ok(false);
        };
        if step.arrived {
            return Ok(true);
        }
        let Some(site) = self.engine.task(tid)?.standing else { return Ok(false) };
        let sp = self.engine.task(tid)?.registers().map_err(lost)?.rsp;
        let ends =
            |reason: &Use| matches!(reason, Use::StepEnd { tid: t, above } if *t == tid && sp > *above);
        Ok(self.uses.at(site).iter().any(ends))
    }

    /// A thread executed one instruction, or touched memory that is watched.
    pub(crate) fn stepped(&mut self, tid: Tid) -> Done<Option<Stop>> {
        let pc = self.engine.task(tid)?.pc().map_err(lost)?;
        if let Some(stop) = self.watch_matched(tid)? {
            return Ok(Some(stop));
        }
        let is_ours = self.stepping.as_ref().is_some_and(|step| step.tid == tid);
        if !is_ours {
            self.engine.let_go(tid)?;
            return Ok(None);
        }
        // The copy of an instruction may be several.
        if self.engine.sites.is_inside_copy(pc) && self.engine.sites.in_copy(pc).is_none() {
            self.engine.task(tid)?.steps = true;
            self.engine.let_go(tid)?;
            return Ok(None);
        }
        self.engine.settle(tid)?;
        let pc = self.engine.task(tid)?.pc().map_err(lost)?;
        self.serving = Some(tid);
        self.current = tid;
        if let Some(step) = &mut self.stepping {
            step.arrived = true;
        }
        // Whoever has a point here is served before the step is thought about.
        if let Some(site) = self.engine.sites.at(pc).filter(|site| self.engine.sites.get(*site).inserted) {
            let task = self.engine.task(tid)?;
            if task.standing != Some(site) {
                (task.standing, task.handled) = (Some(site), Owners::default());
                return self.hit(tid, site);
            }
        }
        self.step_went_on(tid)
    }

    /// Goes on with a step by line, one instruction further.
    fn line_step(
        &mut self,
        tid: Tid,
        pc: u64,
        from: &Option<Line>,
        frame: u64,
        into: bool,
        count: u32,
    ) -> Done<Option<Stop>> {
        let regs = registers(&self.engine.task(tid)?.registers().map_err(lost)?);
        let cfa = self.program.cfa_at(&regs, &self.view());
        let line = self.program.line_of(pc);
        let deeper = cfa.is_some_and(|cfa| cfa < frame);
        if deeper {
            // A call was made. Without lines there is nothing to see in it.
            let at_entry = self.program.function_at(pc).is_some_and(|function| function.entry == Some(pc));
            if into && line.is_some() && at_entry && !is_handler(&self.unwind(tid, 8)?) {
                return self.step_done(tid, None).map(Some);
            }
            if let Ok(end) = self.end_of_frame(tid, 0) {
                self.add_use(end.0, end.1);
                if let Some(step) = &mut self.stepping {
                    step.ends.push(end);
                }
                self.serving = None;
                self.engine.task(tid)?.steps = false;
                self.engine.let_all_go()?;
                return Ok(None);
            }
        }
        let other = match (&line, from) {
            (Some(now), Some(then)) => now.is_statement && (now.line, &now.file) != (then.line, &then.file),
            (Some(_), None) => true,
            (None, _) => false,
        };
        if other || cfa.is_some_and(|cfa| cfa > frame) && line.is_some() {
            return self.step_done(tid, None).map(Some);
        }
        if line.is_none() && cfa.is_some_and(|cfa| cfa > frame) {
            // Returned into code without lines, such as what calls `main`.
            self.end_step();
            self.serving = None;
            self.engine.let_all_go()?;
            return Ok(None);
        }
        if let Some(Stepping { goal: Goal::Line { count, .. }, .. }) = &mut self.stepping {
            *count += 1;
        }
        if count > LONG {
            self.engine.hold()?;
        }
        self.go_on()?;
        Ok(None)
    }

    /// A thread reached a place where its step may end, or go on.
    pub(crate) fn step_went_on(&mut self, tid: Tid) -> Done<Option<Stop>> {
        let Some(step) = self.stepping.clone().filter(|step| step.tid == tid) else { return Ok(None) };
        if let Some(step) = &mut self.stepping {
            step.arrived = false;
        }
        match step.goal {
            Goal::Place { returns } => {
                let returned = returns.and_then(|entry| self.returned_value(tid, entry));
                self.step_done(tid, returned).map(Some)
            }
            Goal::Line { from, frame, into, count } => {
                // A call returned: the rest of the line is stepped through.
                self.drop_ends();
                self.engine.hold()?;
                let pc = self.engine.task(tid)?.pc().map_err(lost)?;
                self.line_step(tid, pc, &from, frame, into, count)
            }
            Goal::Instruction => self.step_done(tid, None).map(Some),
        }
    }

    fn step_done(&mut self, tid: Tid, returned: Option<String>) -> Done<Stop> {
        self.current = tid;
        self.serving = Some(tid);
        self.tell(Stop::Stepped { returned })
    }

    fn drop_ends(&mut self) {
        let ends = self.stepping.as_mut().map(|step| std::mem::take(&mut step.ends)).unwrap_or_default();
        for (site, end) in ends {
            self.remove_use(site, end);
        }
    }

    /// Whatever step is under way is over.
    pub(crate) fn end_step(&mut self) {
        self.drop_ends();
        if let Some(step) = self.stepping.take()
            && let Some(task) = self.engine.tasks.get_mut(&step.tid)
        {
            task.steps = false;
        }
    }
}

/// Whether the innermost of these frames is that of a signal handler: what it returns to was interrupted, and
/// did not call it.
fn is_handler(frames: &[Frame]) -> bool {
    let mut physical = frames.iter().filter(|frame| !frame.is_inlined);
    // Between them is the frame that the kernel made for the return.
    physical.nth(2).is_some_and(|frame| !frame.is_caller)
}
