//! A target for tests: a small deterministic program with variables.

use invigil_expr::value::Value;
use invigil_monitor::embedded::{
    EmbeddedMonitor, HostReply, HostRequest, MonitorHost, MonitorUpload, ReplayLog,
};
use invigil_monitor::event::{
    EventBatch, EventCatalog, EventId, EventKind, EventMeta, EventSet, ParamSource,
};
use invigil_monitor::mac::{ScriptPlan, ScriptState};
use invigil_target::pending_owners::OwnerSet;
use invigil_target::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An instruction of the program.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A call with arguments, which are numbers or variables.
    Call(&'static str, Vec<(&'static str, Arg)>),
    /// Assigns a value to a variable.
    Set(&'static str, i64),
    /// Adds to a variable.
    Add(&'static str, i64),
    /// Jumps to an instruction if a variable is less than a number.
    JumpIfLess(&'static str, i64, usize),
    /// Assigns a number that never repeats, which makes the program nondeterministic.
    Noise(&'static str),
    /// A fatal signal.
    Signal(&'static str),
    /// The program can no longer be controlled.
    Break,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Number(i64),
    Variable(&'static str),
    Text(&'static str),
    /// Optimised out.
    Unknown,
}

/// What the tests observe while the session owns the target.
#[derive(Default)]
pub(crate) struct Log {
    /// Every set of events that the target was instrumented for.
    pub(crate) instrumented: Vec<Vec<String>>,
    pub(crate) restored: Vec<u32>,
    pub(crate) killed: bool,
    /// Counts the `Noise` instructions, across restores.
    pub(crate) noise: i64,
    /// Whether taking a checkpoint fails.
    pub(crate) no_checkpoints: bool,
    /// Whether a restore fails and kills the target.
    pub(crate) restores_kill: bool,
    /// The memory of a checkpoint.
    pub(crate) checkpoint_memory: u64,
    /// Whether events have no time.
    pub(crate) timeless: bool,
    /// Whether monitors can be embedded.
    pub(crate) embedded: bool,
    /// How often the target stopped with events.
    pub(crate) stops: u64,
}

#[derive(Clone, Default)]
struct Image {
    pc: usize,
    memory: BTreeMap<&'static str, i64>,
    handled: OwnerSet,
    needs: EventSet,
}

pub(crate) struct Fake {
    ops: Rc<Vec<Op>>,
    image: Image,
    catalog: EventCatalog,
    batch: EventBatch,
    points: Vec<Breakpoint>,
    checkpoints: Vec<(CheckpointId, Image)>,
    next: u32,
    ended: Option<Termination>,
    interrupted: Arc<AtomicBool>,
    log: Rc<RefCell<Log>>,
    /// The host of the embedded monitors, and what the debugger knows of it.
    host: MonitorHost,
    proxy: HostProxy,
}

struct Interrupt(Arc<AtomicBool>);

impl Interrupter for Interrupt {
    fn interrupt(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Fake {
    pub(crate) fn new(ops: Vec<Op>) -> (Fake, Rc<RefCell<Log>>) {
        let log = Rc::new(RefCell::new(Log { checkpoint_memory: 1000, ..Log::default() }));
        let fake = Fake {
            ops: Rc::new(ops),
            image: Image::default(),
            catalog: EventCatalog::default(),
            batch: EventBatch::default(),
            points: Vec::new(),
            checkpoints: Vec::new(),
            next: 1,
            ended: None,
            interrupted: Arc::default(),
            log: Rc::clone(&log),
            host: MonitorHost::new(),
            proxy: HostProxy::default(),
        };
        (fake, log)
    }

    /// The needed events at the current instruction.
    fn present(&self) -> impl Iterator<Item = EventId> {
        let called = match self.ops.get(self.image.pc) {
            Some(Op::Call(name, _)) => name,
            _ => "",
        };
        let (needs, pc) = (&self.image.needs, self.image.pc);
        let is_here = move |name: &str| {
            name == called || name.strip_prefix("prog:").is_some_and(|line| line.parse() == Ok(pc))
        };
        let wanted = self.catalog.iter().filter(|(id, _)| needs.contains(*id));
        wanted
            .filter(move |(_, symbol)| symbol.kind == EventKind::Before && is_here(&symbol.name))
            .map(|(id, _)| id)
    }

    fn points_here(&self, owner: Owner) -> impl Iterator<Item = BreakpointId> {
        let op = self.ops.get(self.image.pc);
        let pc = self.image.pc;
        let is_here = move |what: &BreakpointKind| match (what, op) {
            (BreakpointKind::Location(place), _)
                if place.strip_prefix("prog:").is_some_and(|at| at.parse() == Ok(pc)) =>
            {
                true
            }
            (BreakpointKind::Location(place), Some(Op::Call(name, _))) => place == name,
            (
                BreakpointKind::Watch { expression: of, write: true, .. },
                Some(Op::Set(name, _) | Op::Add(name, _)),
            ) => of == name,
            _ => false,
        };
        let mine = self.points.iter().filter(move |point| point.owner == owner && point.enabled);
        mine.filter(move |point| is_here(&point.spec.kind)).map(|point| point.id)
    }

    fn argument(&self, source: &ParamSource) -> Option<&Arg> {
        let Some(Op::Call(_, args)) = self.ops.get(self.image.pc) else { return None };
        match source {
            ParamSource::Name(name) => args.iter().find(|(known, _)| known == name).map(|(_, arg)| arg),
            ParamSource::Arg(at) => args.get(*at as usize - 1).map(|(_, arg)| arg),
            _ => None,
        }
    }

    fn fill_batch(&mut self) {
        let symbols: [Option<EventId>; 8] = {
            let mut found = [None; 8];
            found.iter_mut().zip(self.present()).for_each(|(slot, id)| *slot = Some(id));
            found
        };
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        for id in symbols.into_iter().flatten() {
            let symbol = self.catalog.get(id).unwrap();
            let mut params = [Value::UNSET; 8];
            for (slot, param) in params.iter_mut().zip(&symbol.params) {
                *slot = match self.argument(&param.source) {
                    Some(Arg::Number(number)) => Value::int(*number),
                    Some(Arg::Variable(name)) => {
                        Value::int(self.image.memory.get(name).copied().unwrap_or(0))
                    }
                    Some(Arg::Text(text)) => Value::of_text(text, &mut batch.text),
                    Some(Arg::Unknown) | None => Value::UNSET,
                };
            }
            let time = if self.log.borrow().timeless { f64::NAN } else { self.image.pc as f64 };
            batch.push(id, &params[..symbol.params.len()], EventMeta { time, line: 0 });
        }
        self.batch = batch;
    }

    /// Steps the embedded monitors. Returns whether no reaction is due.
    fn step_inside(&mut self) -> bool {
        let Fake { host, batch, .. } = self;
        let reacts = host.step_site(|inside| {
            let mut reacts = false;
            for at in 0..batch.len() {
                let event = batch.event(at);
                let integers: Option<Vec<i64>> = event.params.iter().map(|param| param.as_int()).collect();
                reacts |= match integers {
                    Some(integers) if !inside.scripts_follow(event.id) => {
                        inside.step_ints(event.id, &integers, 7)
                    }
                    _ => inside.step_with_scripts(&event, batch.meta(at), 7),
                };
            }
            reacts
        });
        let (Some(reacts), Some(inside)) = (reacts, host.monitors_mut()) else { return false };
        let mut needs = EventSet::default();
        self.catalog
            .iter()
            .filter(|(id, _)| inside.needs_event(*id) || inside.scripts_follow(*id))
            .for_each(|(id, _)| needs.insert(id));
        self.image.needs = needs;
        !reacts
    }

    fn call_host(&mut self, request: HostRequest) -> HostReply {
        let reply = self.host.answer(request, &mut ());
        assert!(!matches!(reply, HostReply::Failed(_)), "{reply:?}");
        reply
    }

    /// Executes an instruction. Returns the reason if that ends the run.
    fn execute(&mut self) -> TargetResult<Option<StopReason>> {
        let Some(op) = self.ops.get(self.image.pc) else {
            self.ended = Some(Termination::Exited(0));
            return Ok(Some(StopReason::Ended(Termination::Exited(0))));
        };
        self.image.pc += 1;
        self.image.handled = OwnerSet::default();
        let memory = &mut self.image.memory;
        match op {
            Op::Call(..) => {}
            Op::Set(name, value) => drop(memory.insert(name, *value)),
            Op::Add(name, delta) => *memory.entry(name).or_default() += delta,
            Op::JumpIfLess(name, limit, to) => {
                if memory.get(name).copied().unwrap_or(0) < *limit {
                    self.image.pc = *to;
                }
            }
            Op::Noise(name) => {
                let mut log = self.log.borrow_mut();
                log.noise += 1;
                memory.insert(name, log.noise);
            }
            Op::Signal(name) => {
                return Ok(Some(StopReason::Signal { name: (*name).to_owned(), detail: String::new() }));
            }
            Op::Break => {
                return Err(TargetError::Control("the program cannot be controlled any more".into()));
            }
        }
        Ok(None)
    }
}

impl Target for Fake {
    fn native_inspection(&mut self) -> Result<&mut dyn NativeInspection, Unsupported> {
        Err(Unsupported("the test target has no memory"))
    }

    fn checkpoints(&mut self) -> Result<&mut dyn Checkpoints, Unsupported> {
        Ok(self)
    }

    fn embedded_host(&mut self) -> Result<&mut dyn EmbeddedHost, Unsupported> {
        Ok(self)
    }

    fn method_calls(&mut self) -> Result<&mut dyn MethodCalls, Unsupported> {
        Err(Unsupported("the test target has no methods"))
    }
}

impl RunControl for Fake {
    fn stop_all(&mut self) -> TargetResult {
        Ok(())
    }

    fn is_alive(&self) -> bool {
        self.ended.is_none()
    }

    fn resume(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        if let Some(ending) = &self.ended {
            return Err(TargetError::Ended(ending.clone()));
        }
        loop {
            if self.interrupted.swap(false, Ordering::SeqCst) {
                return Ok(StopReason::Interrupted);
            }
            let mut here = OwnerSet::default();
            for owner in [Owner::User, Owner::Scenario] {
                if self.points_here(owner).next().is_some() {
                    here = here.with(owner);
                }
            }
            if self.present().next().is_some() {
                here = here.with(Owner::Monitors);
            }
            if let Some(owner) = here.next_pending(self.image.handled) {
                self.image.handled = self.image.handled.with(owner);
                if owner == Owner::Monitors {
                    self.fill_batch();
                    if self.step_inside() {
                        continue;
                    }
                    self.log.borrow_mut().stops += 1;
                    return Ok(StopReason::Events);
                }
                let points: Vec<BreakpointId> = self.points_here(owner).collect();
                self.points
                    .iter_mut()
                    .filter(|point| points.contains(&point.id))
                    .for_each(|point| point.hits += 1);
                return Ok(StopReason::Breakpoints { owner, breakpoints: points });
            }
            if let Some(stop) = self.execute()? {
                return Ok(stop);
            }
            if *how == ResumeMode::Instruction {
                return Ok(StopReason::Stepped { returned: None });
            }
        }
    }

    fn current_thread(&self) -> u32 {
        7
    }

    fn interrupter(&self) -> Box<dyn Interrupter> {
        Box::new(Interrupt(Arc::clone(&self.interrupted)))
    }

    fn kill(&mut self) -> TargetResult {
        self.log.borrow_mut().killed = true;
        self.ended = Some(Termination::Killed { signal: "SIGKILL".into(), core: false });
        Ok(())
    }

    fn detach(&mut self) -> TargetResult {
        self.ended = Some(Termination::Detached);
        Ok(())
    }
}

impl EventSource for Fake {
    fn prepare(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        self.catalog = catalog.clone();
        let known: Vec<&str> = self
            .ops
            .iter()
            .filter_map(|op| if let Op::Call(name, _) = op { Some(*name) } else { None })
            .collect();
        let unknown = catalog.iter().filter(|(_, symbol)| {
            !symbol.name.starts_with("prog:") && !known.contains(&symbol.name.as_str())
        });
        let reported = unknown.map(|(id, symbol)| UnresolvedEvent {
            event: id,
            param: None,
            reason: format!("there is no function `{}`", symbol.name),
            help: invigil_expr::diag::nearest(&symbol.name, known.iter().copied())
                .map_or(String::new(), |near| format!("did you mean `{near}`?")),
            pending: symbol.name.starts_with("lib_"),
        });
        Ok(reported.collect())
    }

    fn instrument(&mut self, needs: &EventSet) -> TargetResult {
        let names = needs.iter().filter_map(|id| self.catalog.get(id)).map(ToString::to_string);
        self.log.borrow_mut().instrumented.push(names.collect());
        self.image.needs = needs.clone();
        Ok(())
    }

    fn events(&mut self) -> &mut EventBatch {
        &mut self.batch
    }
}

impl Breakpoints for Fake {
    fn set_breakpoint(&mut self, owner: Owner, spec: &BreakpointSpec) -> TargetResult<BreakpointId> {
        if matches!(&spec.kind, BreakpointKind::Location(place) if place == "nowhere") {
            return Err(TargetError::Request("there is no location `nowhere`".into()));
        }
        let id = BreakpointId(self.next);
        self.next += 1;
        self.points.push(Breakpoint {
            id,
            owner,
            spec: spec.clone(),
            locations: Vec::new(),
            hits: 0,
            enabled: true,
        });
        Ok(id)
    }

    fn remove_breakpoint(&mut self, id: BreakpointId) -> TargetResult {
        let before = self.points.len();
        self.points.retain(|point| point.id != id);
        if self.points.len() == before {
            Err(TargetError::Request(format!("there is no breakpoint {}", id.0)))
        } else {
            Ok(())
        }
    }

    fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult {
        self.points.iter_mut().filter(|point| point.id == id).for_each(|point| point.enabled = enabled);
        Ok(())
    }

    fn breakpoints(&mut self) -> Vec<Breakpoint> {
        self.points.clone()
    }
}

impl Inspection for Fake {
    fn threads(&mut self) -> Vec<Thread> {
        vec![Thread {
            id: 7,
            name: "main".into(),
            location: format!("prog:{}", self.image.pc),
            selected: true,
        }]
    }

    fn select_thread(&mut self, _: u32) -> TargetResult {
        Ok(())
    }

    fn frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>> {
        let function = match self.ops.get(self.image.pc) {
            Some(Op::Call(name, _)) => (*name).to_owned(),
            _ => "main".to_owned(),
        };
        let line = SourceLine { file: "src/prog".into(), line: self.image.pc as u32, column: 0 };
        let frame = Frame {
            address: self.image.pc as u64,
            function,
            inlined: false,
            arguments: Vec::new(),
            line: Some(line),
            object: None,
        };
        Ok(vec![frame].into_iter().take(limit).collect())
    }

    fn select_frame(&mut self, _: usize) -> TargetResult {
        Ok(())
    }

    fn selected_frame(&self) -> usize {
        0
    }

    fn locals(&mut self) -> TargetResult<Vec<Variable>> {
        let all = self.image.memory.iter();
        Ok(all.map(|(name, value)| Variable { name: (*name).to_owned(), value: value.to_string() }).collect())
    }

    fn evaluate(&mut self, expression: &str) -> TargetResult<String> {
        match (expression, self.image.memory.get(expression)) {
            ("pc", _) => Ok(self.image.pc.to_string()),
            ("title", _) => Ok("0x1000 \"a text that is longer than a value\"".into()),
            (_, Some(value)) => Ok(value.to_string()),
            _ => Err(TargetError::Request(format!("there is no variable `{expression}`"))),
        }
    }

    fn type_of(&mut self, _: &str) -> TargetResult<String> {
        Ok("int".into())
    }

    fn assign(&mut self, place: &str, value: &str) -> TargetResult {
        let known = self.image.memory.iter_mut().find(|(name, _)| **name == place);
        match (known, value.parse()) {
            (Some((_, slot)), Ok(value)) => {
                *slot = value;
                Ok(())
            }
            _ => Err(TargetError::Request(format!("`{place}` cannot become `{value}`"))),
        }
    }

    fn source_line(&mut self, _: Option<&str>) -> TargetResult<Option<SourceLine>> {
        Ok(None)
    }

    fn complete_function(&mut self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn info(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl Checkpoints for Fake {
    fn take_checkpoint(&mut self) -> TargetResult<Checkpoint> {
        if self.log.borrow().no_checkpoints {
            return Err(TargetError::Control("the program has several threads".into()));
        }
        let id = CheckpointId(self.next);
        self.next += 1;
        self.checkpoints.push((id, self.image.clone()));
        Ok(Checkpoint { id, memory: self.log.borrow().checkpoint_memory, limitations: Vec::new() })
    }

    fn restore_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        if self.log.borrow().restores_kill {
            self.checkpoints.retain(|(known, _)| *known != id);
            self.ended = Some(Termination::Killed { signal: "SIGKILL".into(), core: false });
            return Err(TargetError::Control("the copy is lost".into()));
        }
        let found = self.checkpoints.iter().find(|(known, _)| *known == id);
        self.image = found.ok_or(TargetError::Request("no such checkpoint".into()))?.1.clone();
        self.ended = None;
        self.log.borrow_mut().restored.push(id.0);
        Ok(())
    }

    fn drop_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        self.checkpoints.retain(|(known, _)| *known != id);
        Ok(())
    }

    fn list_checkpoints(&mut self) -> Vec<Checkpoint> {
        let memory = self.log.borrow().checkpoint_memory;
        self.checkpoints
            .iter()
            .map(|(id, _)| Checkpoint { id: *id, memory, limitations: Vec::new() })
            .collect()
    }
}

impl EmbeddedHost for Fake {
    fn can_embed_monitors(&self) -> bool {
        self.log.borrow().embedded
    }

    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> TargetResult {
        for request in self.proxy.load_requests(monitors) {
            self.call_host(request);
        }
        self.proxy.confirm_loaded(monitors);
        self.call_host(HostRequest::Upload(MonitorUpload::new(monitors, scripts)));
        Ok(())
    }

    fn set_scripts(&mut self, scripts: &[ScriptPlan]) {
        self.proxy.set_scripts(scripts.to_vec());
    }

    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        let HostReply::Drained(Some(log)) = self.call_host(HostRequest::Drain) else { return Ok(None) };
        let mut log = self.proxy.decode(log).expect("what was encoded can be decoded");
        log.remove_due_events();
        Ok(Some(log))
    }
}
