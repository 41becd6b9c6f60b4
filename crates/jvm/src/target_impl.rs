//! The roles of a [`Target`] that a Java program has.

use crate::target::{Interrupt, JavaTarget};
use invigil_monitor::embedded::{EmbeddedMonitor, ReplayLog};
use invigil_monitor::event::{EventBatch, EventCatalog, EventId, EventSet};
use invigil_monitor::mac::{MethodCall, ScriptPlan, ScriptState};
use invigil_monitor::slices::DeadObjects;
use invigil_target::{
    Breakpoint, BreakpointId, BreakpointSpec, Breakpoints, Checkpoints, EmbeddedHost, EventSource, Frame,
    Inspection, Interrupter, MethodCalls, NativeInspection, Owner, ResumeMode, RunControl, SourceLine,
    StopReason, Target, TargetResult, Thread, UnresolvedEvent, Unsupported, Variable,
};

const NO_CHECKPOINTS: Unsupported = Unsupported(
    "Java programs have no checkpoints: a copy of the process would lack the threads of its virtual machine; record the \
     events with `--record`, or run the program again with `run`",
);

const NO_MEMORY: Unsupported = Unsupported(
    "a Java program has no registers, and its memory no addresses; `info locals` and `print` show variables and objects",
);

impl Target for JavaTarget {
    fn native_inspection(&mut self) -> Result<&mut dyn NativeInspection, Unsupported> {
        Err(NO_MEMORY)
    }

    fn checkpoints(&mut self) -> Result<&mut dyn Checkpoints, Unsupported> {
        Err(NO_CHECKPOINTS)
    }

    fn embedded_host(&mut self) -> Result<&mut dyn EmbeddedHost, Unsupported> {
        Ok(self)
    }

    fn method_calls(&mut self) -> Result<&mut dyn MethodCalls, Unsupported> {
        Ok(self)
    }
}

impl RunControl for JavaTarget {
    fn is_alive(&self) -> bool {
        self.ended.is_none()
    }

    fn resume(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        self.resume_as(how)
    }

    fn stop_all(&mut self) -> TargetResult {
        self.suspend()
    }

    fn current_thread(&self) -> u32 {
        self.current
    }

    fn interrupter(&self) -> Box<dyn Interrupter> {
        Box::new(Interrupt(self.waker.clone()))
    }

    fn kill(&mut self) -> TargetResult {
        self.kill_process()
    }

    fn detach(&mut self) -> TargetResult {
        self.detach_agent()
    }
}

impl EventSource for JavaTarget {
    fn prepare(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        self.plan(catalog)
    }

    fn instrument(&mut self, needs: &EventSet) -> TargetResult {
        self.activate(needs)
    }

    fn events(&mut self) -> &mut EventBatch {
        &mut self.batch
    }

    fn take_dead_objects(&mut self) -> DeadObjects {
        std::mem::take(&mut self.dead_objects)
    }

    fn coverage_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

impl Breakpoints for JavaTarget {
    fn set_breakpoint(&mut self, owner: Owner, spec: &BreakpointSpec) -> TargetResult<BreakpointId> {
        self.add_breakpoint(owner, spec)
    }

    fn remove_breakpoint(&mut self, id: BreakpointId) -> TargetResult {
        self.drop_breakpoint(id)
    }

    fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult {
        self.set_breakpoint_enabled(id, enabled)
    }

    fn breakpoints(&mut self) -> Vec<Breakpoint> {
        self.list_breakpoints()
    }
}

impl Inspection for JavaTarget {
    fn threads(&mut self) -> Vec<Thread> {
        self.list_threads()
    }

    fn select_thread(&mut self, id: u32) -> TargetResult {
        self.go_to_thread(id)
    }

    fn frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>> {
        self.shown_frames(limit)
    }

    fn select_frame(&mut self, depth: usize) -> TargetResult {
        self.go_to_frame(depth)
    }

    fn selected_frame(&self) -> usize {
        self.frame
    }

    fn locals(&mut self) -> TargetResult<Vec<Variable>> {
        self.list_locals()
    }

    fn evaluate(&mut self, expression: &str) -> TargetResult<String> {
        self.value_of(expression)
    }

    fn type_of(&mut self, expression: &str) -> TargetResult<String> {
        self.type_name(expression)
    }

    fn assign(&mut self, place: &str, value: &str) -> TargetResult {
        self.assign_value(place, value)
    }

    fn source_line(&mut self, place: Option<&str>) -> TargetResult<Option<SourceLine>> {
        self.find_line(place)
    }

    fn complete_function(&mut self, prefix: &str) -> Vec<String> {
        self.method_names(prefix)
    }

    fn info(&mut self) -> Vec<(String, String)> {
        self.all_info()
    }
}

impl EmbeddedHost for JavaTarget {
    fn can_embed_monitors(&self) -> bool {
        self.link.is_some()
    }

    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> TargetResult {
        self.upload_monitors(monitors, scripts)
    }

    fn set_scripts(&mut self, scripts: &[ScriptPlan]) {
        self.set_scripts(scripts.to_vec());
    }

    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        self.take_replay_log()
    }
}

impl MethodCalls for JavaTarget {
    fn prepare_calls(&mut self, calls: &[(EventId, MethodCall)]) -> TargetResult<Vec<UnresolvedEvent>> {
        self.plan_calls(calls)
    }

    fn invoke(&mut self, call: usize) -> TargetResult {
        self.invoke_call(call)
    }
}
