//! The [`Target`] trait of a Java program.

use crate::target::{Interrupt, JavaTarget};
use invigil_monitor::embedded::EmbeddedMonitor;
use invigil_monitor::event::{EventBatch, EventCatalog, EventId, EventSet};
use invigil_monitor::mac::{MethodCall, ScriptPlan, ScriptState};
use invigil_monitor::slices::DeadObjects;
use invigil_session::target::{
    Breakpoint, BreakpointId, BreakpointSpec, Checkpoint, CheckpointId, Frame, Interrupter, Owner, ReplayLog,
    ResumeMode, ScriptPlacement, SourceLine, StopReason, Target, TargetError, TargetResult, Thread,
    UnresolvedEvent, Variable,
};

/// Why there are no checkpoints.
const NO_CHECKPOINTS: &str = "Java programs have no checkpoints: a copy of the process would lack the threads \
    of its virtual machine; record the events with `--record`, or run the program again with `run`";

fn no_checkpoints<T>() -> TargetResult<T> {
    Err(TargetError::Request(NO_CHECKPOINTS.to_owned()))
}

impl Target for JavaTarget {
    fn is_alive(&self) -> bool {
        self.ended.is_none()
    }

    fn prepare(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        self.plan(catalog)
    }

    fn instrument(&mut self, needs: &EventSet) -> TargetResult {
        self.activate(needs)
    }

    fn resume(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        self.resume_as(how)
    }

    fn stop_all(&mut self) -> TargetResult {
        self.suspend()
    }

    fn events(&self) -> &EventBatch {
        &self.batch
    }

    fn can_embed_monitors(&self) -> bool {
        self.link.is_some()
    }

    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], _: &[ScriptState]) -> TargetResult {
        self.upload_monitors(monitors)
    }

    fn place_scripts(&mut self, scripts: &[ScriptPlan]) -> ScriptPlacement {
        self.set_scripts(scripts.to_vec());
        ScriptPlacement::InTarget
    }

    fn prepare_calls(&mut self, calls: &[(EventId, MethodCall)]) -> TargetResult<Vec<UnresolvedEvent>> {
        self.plan_calls(calls)
    }

    fn invoke(&mut self, call: usize) -> TargetResult {
        self.invoke_call(call)
    }

    fn coverage_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        self.take_replay_log()
    }

    fn take_dead_objects(&mut self) -> DeadObjects {
        std::mem::take(&mut self.dead_objects)
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

    fn examine_memory(&mut self, _: &str, _: usize, _: char, _: usize) -> TargetResult<Vec<String>> {
        Err(TargetError::Request(
            "the memory of a Java program has no addresses; `print` shows objects".to_owned(),
        ))
    }

    fn registers(&mut self) -> TargetResult<Vec<Variable>> {
        Err(TargetError::Request("a Java program has no registers; see `info locals`".to_owned()))
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

    fn checkpoints_unsupported(&self) -> Option<&'static str> {
        Some(NO_CHECKPOINTS)
    }

    fn take_checkpoint(&mut self) -> TargetResult<Checkpoint> {
        no_checkpoints()
    }

    fn restore_checkpoint(&mut self, _: CheckpointId) -> TargetResult {
        no_checkpoints()
    }

    fn drop_checkpoint(&mut self, _: CheckpointId) -> TargetResult {
        no_checkpoints()
    }

    fn checkpoints(&mut self) -> Vec<Checkpoint> {
        Vec::new()
    }
}
