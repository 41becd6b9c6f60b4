//! The roles of a [`Target`] that a native program has.

use crate::native_target::NativeTarget;
use invigil_monitor::embedded::{EmbeddedMonitor, ReplayLog};
use invigil_monitor::event::{EventBatch, EventCatalog, EventSet};
use invigil_monitor::mac::{ScriptPlan, ScriptState};
use invigil_target::{
    Breakpoint, BreakpointId, BreakpointSpec, Breakpoints, Checkpoint, CheckpointId, Checkpoints,
    EmbeddedHost, EventSource, Frame, Inspection, Interrupter, MethodCalls, NativeInspection, Owner,
    ProbeInfo, ResumeMode, RunControl, SourceLine, StopReason, Target, TargetResult, Thread, UnresolvedEvent,
    Unsupported, Variable,
};

const NO_METHOD_CALLS: Unsupported = Unsupported("only a Java program has methods that an action can call");

impl Target for NativeTarget {
    fn native_inspection(&mut self) -> Result<&mut dyn NativeInspection, Unsupported> {
        Ok(self)
    }

    fn checkpoints(&mut self) -> Result<&mut dyn Checkpoints, Unsupported> {
        Ok(self)
    }

    fn embedded_host(&mut self) -> Result<&mut dyn EmbeddedHost, Unsupported> {
        Ok(self)
    }

    fn method_calls(&mut self) -> Result<&mut dyn MethodCalls, Unsupported> {
        Err(NO_METHOD_CALLS)
    }
}

impl RunControl for NativeTarget {
    fn is_alive(&self) -> bool {
        !self.has_exited()
    }

    fn resume(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        self.resume_as(how)
    }

    fn stop_all(&mut self) -> TargetResult {
        self.suspend()
    }

    fn current_thread(&self) -> u32 {
        self.current as u32
    }

    fn interrupter(&self) -> Box<dyn Interrupter> {
        Box::new(NativeTarget::interrupter(self))
    }

    fn kill(&mut self) -> TargetResult {
        NativeTarget::kill(self)
    }

    fn detach(&mut self) -> TargetResult {
        NativeTarget::detach(self)
    }
}

impl EventSource for NativeTarget {
    fn prepare(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        self.map_agent();
        self.plan_events(catalog)
    }

    fn instrument(&mut self, needs: &EventSet) -> TargetResult {
        NativeTarget::instrument(self, needs)
    }

    fn events(&mut self) -> &mut EventBatch {
        &mut self.batch
    }

    fn probes(&mut self) -> Vec<ProbeInfo> {
        self.list_probes()
    }

    fn probe_failure(&self) -> Option<String> {
        self.probes.error.clone()
    }
}

impl Breakpoints for NativeTarget {
    fn set_breakpoint(&mut self, owner: Owner, spec: &BreakpointSpec) -> TargetResult<BreakpointId> {
        NativeTarget::set_breakpoint(self, owner, spec)
    }

    fn remove_breakpoint(&mut self, id: BreakpointId) -> TargetResult {
        NativeTarget::remove_breakpoint(self, id)
    }

    fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult {
        NativeTarget::set_breakpoint_enabled(self, id, enabled)
    }

    fn breakpoints(&mut self) -> Vec<Breakpoint> {
        self.list_breakpoints()
    }
}

impl Inspection for NativeTarget {
    fn threads(&mut self) -> Vec<Thread> {
        NativeTarget::threads(self)
    }

    fn select_thread(&mut self, id: u32) -> TargetResult {
        NativeTarget::select_thread(self, id)
    }

    fn frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>> {
        NativeTarget::frames(self, limit)
    }

    fn current_location(&mut self) -> String {
        NativeTarget::current_location(self)
    }

    fn select_frame(&mut self, depth: usize) -> TargetResult {
        NativeTarget::select_frame(self, depth)
    }

    fn selected_frame(&self) -> usize {
        self.frame
    }

    fn locals(&mut self) -> TargetResult<Vec<Variable>> {
        NativeTarget::locals(self)
    }

    fn evaluate(&mut self, expression: &str) -> TargetResult<String> {
        NativeTarget::evaluate(self, expression)
    }

    fn type_of(&mut self, expression: &str) -> TargetResult<String> {
        NativeTarget::type_of(self, expression)
    }

    fn assign(&mut self, place: &str, value: &str) -> TargetResult {
        NativeTarget::assign(self, place, value)
    }

    fn source_line(&mut self, place: Option<&str>) -> TargetResult<Option<SourceLine>> {
        NativeTarget::source_line(self, place)
    }

    fn complete_function(&mut self, prefix: &str) -> Vec<String> {
        self.program.names_with_prefix(prefix, 200)
    }

    fn info(&mut self) -> Vec<(String, String)> {
        NativeTarget::info(self)
    }
}

impl NativeInspection for NativeTarget {
    fn examine_memory(
        &mut self,
        expression: &str,
        count: usize,
        format: char,
        size: usize,
    ) -> TargetResult<Vec<String>> {
        NativeTarget::examine_memory(self, expression, count, format, size)
    }

    fn registers(&mut self) -> TargetResult<Vec<Variable>> {
        NativeTarget::registers(self)
    }
}

impl Checkpoints for NativeTarget {
    fn take_checkpoint(&mut self) -> TargetResult<Checkpoint> {
        self.take_checkpoint()
    }

    fn restore_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        self.restore_checkpoint(id)
    }

    fn drop_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        self.drop_checkpoint(id)
    }

    fn list_checkpoints(&mut self) -> Vec<Checkpoint> {
        NativeTarget::list_checkpoints(self)
    }
}

impl EmbeddedHost for NativeTarget {
    fn can_embed_monitors(&self) -> bool {
        self.can_embed() && self.is_embedding_worthwhile()
    }

    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> TargetResult {
        self.upload_monitors(monitors, scripts)
    }

    fn set_scripts(&mut self, scripts: &[ScriptPlan]) {
        self.probes.host.set_scripts(scripts.to_vec());
    }

    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        self.take_replay_log()
    }
}
