//! The user's steps: by instruction, by line, to the end of a function, to a location.
//!
//! Within a line, a thread is single-stepped while the others are stopped. Calls run to their return with all
//! threads.

use crate::linespec;
use crate::native_target::{NativeTarget, to_dwarf_registers};
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::tracer::trace_error;
use crate::trap_reasons::TrapReason;
use invigil_debuginfo::program::Line;
use invigil_debuginfo::unwinding::Frame;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{ResumeMode, StopReason, TargetError, TargetResult};

/// A line that takes more instructions probably waits for another thread in a loop: let all threads run.
const MAX_LINE_INSTRUCTIONS: u32 = 20_000;

/// What a step is to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StepGoal {
    /// One instruction.
    Instruction,
    /// The rest of a line.
    Line {
        /// The line at the start.
        from: Option<Line>,
        /// The frame at the start, identified by its canonical frame address.
        frame: u64,
        /// Whether to enter calls.
        into: bool,
        /// Number of executed instructions.
        count: u32,
    },
    /// The rest of a function, or the code up to a location.
    RunToEnd {
        /// Entry of the function whose return value to show.
        returns: Option<u64>,
    },
}

/// A step in progress.
#[derive(Clone, Debug)]
pub(crate) struct StepState {
    tid: Tid,
    mode: ResumeMode,
    goal: StepGoal,
    /// The sites where it may end.
    ends: Vec<(SiteId, TrapReason)>,
    /// Whether the thread has not moved yet.
    not_started: bool,
    /// Whether the thread has executed an instruction that is not evaluated yet.
    needs_check: bool,
}

impl NativeTarget {
    /// Runs the target in a mode.
    pub(crate) fn resume_as(&mut self, mode: &ResumeMode) -> TargetResult<StopReason> {
        let continues_step =
            self.stepping.as_ref().is_some_and(|step| step.mode == *mode || *mode == ResumeMode::Continue);
        if *mode != ResumeMode::Continue && !continues_step && self.termination.is_none() {
            self.start_step(mode)?;
        }
        self.run()
    }

    fn start_step(&mut self, mode: &ResumeMode) -> TargetResult {
        self.tracer.stop_all()?;
        let tid = self.current;
        self.cancel_step();
        let mut stepping = StepState {
            tid,
            mode: mode.clone(),
            goal: StepGoal::Instruction,
            ends: Vec::new(),
            not_started: true,
            needs_check: false,
        };
        match mode {
            ResumeMode::Continue | ResumeMode::Instruction => {}
            ResumeMode::Line | ResumeMode::NextLine => {
                let frames = self.unwind(tid, 1)?;
                let Some(frame) = frames.first() else {
                    return Err(TargetError::Request("the stack cannot be read here; use `stepi`".into()));
                };
                let Some(cfa) = frame.cfa else {
                    return Err(TargetError::Request("the stack cannot be read here; use `stepi`".into()));
                };
                let from = self.program.line_of(frame.pc);
                if from.is_none() && self.frame == 0 {
                    // Code without line information is run through.
                    self.start_step(&ResumeMode::Finish)?;
                    if let Some(step) = &mut self.stepping {
                        step.mode = mode.clone();
                    }
                    return Ok(());
                }
                stepping.goal =
                    StepGoal::Line { from, frame: cfa, into: *mode == ResumeMode::Line, count: 0 };
            }
            ResumeMode::Finish => {
                let depth = self.frame;
                let ends = self.end_of_frame(tid, depth)?;
                let function = self.frame_function(tid, depth)?;
                stepping.goal = StepGoal::RunToEnd { returns: function };
                stepping.ends.push(ends);
            }
            ResumeMode::Until(name) => {
                let selected_line = self.selected_line();
                let found =
                    linespec::resolve(&self.program, &self.clean_memory(), selected_line.as_ref(), name)
                        .map_err(|missing| TargetError::Request(missing.message()))?;
                for address in found.addresses() {
                    let site = self.site_at(address)?;
                    stepping.ends.push((site, TrapReason::StepEnd { tid, above: 0 }));
                }
                let depth = self.frame;
                if let Ok(end) = self.end_of_frame(tid, depth) {
                    stepping.ends.push(end);
                }
                stepping.goal = StepGoal::RunToEnd { returns: None };
            }
        }
        for (site, end) in &stepping.ends {
            self.add_trap_reason(*site, *end);
        }
        self.frame = 0;
        self.stepping = Some(stepping);
        Ok(())
    }

    /// Return site of a frame, and the value the stack pointer must exceed there.
    fn end_of_frame(&mut self, tid: Tid, depth: usize) -> TargetResult<(SiteId, TrapReason)> {
        let frames = self.unwind(tid, depth + 16)?;
        let outermost = || TargetError::Request("this is the outermost function: it does not return".into());
        let frame = frames.get(depth).ok_or_else(outermost)?;
        let caller = frames[depth..].iter().find(|caller| caller.cfa > frame.cfa).ok_or_else(outermost)?;
        let (address, cfa) = (caller.pc, frame.cfa.ok_or_else(outermost)?);
        let site = self.site_at(address)?;
        // A signal handler may run on a stack of its own.
        let above = if depth == 0 && is_handler(&frames) { 0 } else { cfa - 1 };
        Ok((site, TrapReason::StepEnd { tid, above }))
    }

    fn frame_function(&mut self, tid: Tid, depth: usize) -> TargetResult<Option<u64>> {
        let frames = self.unwind(tid, depth + 1)?;
        Ok(frames.get(depth).and_then(|frame| self.program.function_at(frame.pc)?.entry))
    }

    /// Returns the thread that is to execute one instruction while the others are stopped, if the step in progress
    /// requires that.
    pub(crate) fn thread_to_step_alone(&mut self) -> Option<Tid> {
        let step = self.stepping.as_mut()?;
        step.not_started = false;
        let alone = match step.goal {
            StepGoal::Instruction => true,
            StepGoal::Line { count, .. } => step.ends.is_empty() && count <= MAX_LINE_INSTRUCTIONS,
            StepGoal::RunToEnd { .. } => false,
        };
        if !alone && let Some(thread) = self.tracer.threads.get_mut(&step.tid) {
            thread.single_step = matches!(step.goal, StepGoal::Line { .. }) && step.ends.is_empty();
        }
        alone.then_some(step.tid)
    }

    /// Whether a thread is where its step ends or must be re-evaluated.
    pub(crate) fn step_ends_here(&mut self, tid: Tid) -> TargetResult<bool> {
        let Some(step) = self.stepping.as_ref().filter(|step| step.tid == tid && !step.not_started) else {
            return Ok(false);
        };
        if step.needs_check {
            return Ok(true);
        }
        let Some(site) = self.tracer.thread(tid)?.at_site else { return Ok(false) };
        let sp = self.tracer.thread(tid)?.registers().map_err(trace_error)?.rsp;
        let ends = |reason: &TrapReason| match reason {
            TrapReason::StepEnd { tid: t, above } => *t == tid && sp > *above,
            _ => false,
        };
        Ok(self.trap_reasons.at(site).iter().any(ends))
    }

    /// Handles a thread that executed one instruction or accessed watched memory.
    pub(crate) fn on_single_step(&mut self, tid: Tid) -> TargetResult<Option<StopReason>> {
        let pc = self.tracer.thread(tid)?.pc().map_err(trace_error)?;
        if let Some(stop) = self.check_debug_registers(tid)? {
            return Ok(Some(stop));
        }
        let is_ours = self.stepping.as_ref().is_some_and(|step| step.tid == tid);
        if !is_ours {
            self.tracer.cont(tid)?;
            return Ok(None);
        }
        // The displaced copy of an instruction may consist of several.
        if self.tracer.sites.is_in_copy(pc) && self.tracer.sites.copy_position(pc).is_none() {
            self.tracer.thread(tid)?.single_step = true;
            self.tracer.cont(tid)?;
            return Ok(None);
        }
        self.tracer.normalize_pc(tid)?;
        let pc = self.tracer.thread(tid)?.pc().map_err(trace_error)?;
        self.event_thread = Some(tid);
        self.current = tid;
        if let Some(step) = &mut self.stepping {
            step.needs_check = true;
        }
        // Owners at this site are notified before the step is evaluated.
        if let Some(site) = self.tracer.sites.at(pc).filter(|site| self.tracer.sites.get(*site).inserted) {
            let thread = self.tracer.thread(tid)?;
            if thread.at_site != Some(site) {
                (thread.at_site, thread.notified) = (Some(site), OwnerSet::default());
                return self.on_site_hit(tid, site);
            }
        }
        self.continue_step(tid)
    }

    /// Continues a step by line after one instruction.
    fn line_step(
        &mut self,
        tid: Tid,
        pc: u64,
        from: &Option<Line>,
        frame: u64,
        into: bool,
        count: u32,
    ) -> TargetResult<Option<StopReason>> {
        let regs = to_dwarf_registers(&self.tracer.thread(tid)?.registers().map_err(trace_error)?);
        let cfa = self.program.cfa_at(&regs, &self.clean_memory());
        let line = self.program.line_of(pc);
        let is_deeper = cfa.is_some_and(|cfa| cfa < frame);
        if is_deeper {
            // A call was made. If it has no line information, it is stepped over.
            let at_entry = self.program.function_at(pc).is_some_and(|function| function.entry == Some(pc));
            if into && line.is_some() && at_entry && !is_handler(&self.unwind(tid, 8)?) {
                return self.finish_step(tid, None).map(Some);
            }
            if let Ok(end) = self.end_of_frame(tid, 0) {
                self.add_trap_reason(end.0, end.1);
                if let Some(step) = &mut self.stepping {
                    step.ends.push(end);
                }
                self.event_thread = None;
                self.tracer.thread(tid)?.single_step = false;
                self.tracer.cont_all()?;
                return Ok(None);
            }
        }
        let is_other_line = match (&line, from) {
            (Some(now), Some(then)) => now.is_statement && (now.line, &now.file) != (then.line, &then.file),
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_other_line || cfa.is_some_and(|cfa| cfa > frame) && line.is_some() {
            return self.finish_step(tid, None).map(Some);
        }
        if line.is_none() && cfa.is_some_and(|cfa| cfa > frame) {
            // Returned into code without line information, such as the caller of `main`.
            self.cancel_step();
            self.event_thread = None;
            self.tracer.cont_all()?;
            return Ok(None);
        }
        if let Some(StepState { goal: StepGoal::Line { count, .. }, .. }) = &mut self.stepping {
            *count += 1;
        }
        if count > MAX_LINE_INSTRUCTIONS {
            self.tracer.stop_all()?;
        }
        self.resume_program()?;
        Ok(None)
    }

    /// Evaluates a step at a site where it may end.
    pub(crate) fn continue_step(&mut self, tid: Tid) -> TargetResult<Option<StopReason>> {
        let Some(step) = self.stepping.clone().filter(|step| step.tid == tid) else { return Ok(None) };
        if let Some(step) = &mut self.stepping {
            step.needs_check = false;
        }
        match step.goal {
            StepGoal::RunToEnd { returns } => {
                let returned = returns.and_then(|entry| self.returned_value(tid, entry));
                self.finish_step(tid, returned).map(Some)
            }
            StepGoal::Line { from, frame, into, count } => {
                // A call has returned: single-step the rest of the line.
                self.drop_ends();
                self.tracer.stop_all()?;
                let pc = self.tracer.thread(tid)?.pc().map_err(trace_error)?;
                self.line_step(tid, pc, &from, frame, into, count)
            }
            StepGoal::Instruction => self.finish_step(tid, None).map(Some),
        }
    }

    fn finish_step(&mut self, tid: Tid, returned: Option<String>) -> TargetResult<StopReason> {
        self.current = tid;
        self.event_thread = Some(tid);
        self.stop_for_user(StopReason::Stepped { returned })
    }

    fn drop_ends(&mut self) {
        let ends = self.stepping.as_mut().map(|step| std::mem::take(&mut step.ends)).unwrap_or_default();
        for (site, end) in ends {
            self.remove_trap_reason(site, end);
        }
    }

    /// Cancels the step in progress.
    pub(crate) fn cancel_step(&mut self) {
        self.drop_ends();
        if let Some(step) = self.stepping.take()
            && let Some(thread) = self.tracer.threads.get_mut(&step.tid)
        {
            thread.single_step = false;
        }
    }
}

/// Whether the innermost frame is that of a signal handler: it interrupted the code it returns to.
fn is_handler(frames: &[Frame]) -> bool {
    let mut physical = frames.iter().filter(|frame| !frame.is_inlined);
    // Between them is the kernel's signal frame.
    physical.nth(2).is_some_and(|frame| !frame.is_caller)
}
