//! A scripted target for tests: a small deterministic program with variables. Its source file has one line per
//! instruction.

use invigil_expr::value::Value;
use invigil_monitor::event::{
    EventBatch, EventCatalog, EventId, EventKind, EventMeta, EventSet, ParamSource,
};
use invigil_target::pending_owners::OwnerSet;
use invigil_target::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An instruction of the program.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A call with arguments, which are numbers or variables.
    Call(&'static str, Vec<(&'static str, Arg)>),
    /// Assigns to a variable.
    Set(&'static str, i64),
    /// Adds to a variable.
    Add(&'static str, i64),
    /// Jumps to an instruction if a variable is less than a number.
    JumpIfLess(&'static str, i64, usize),
    /// A fatal signal.
    Signal(&'static str),
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Number(i64),
    Variable(&'static str),
}

/// Calls that the tests check while the session owns the target.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) killed: bool,
    pub(crate) detached: bool,
    /// Number of started targets.
    pub(crate) starts: u32,
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
    source: PathBuf,
    frame: usize,
}

struct Interrupt(Arc<AtomicBool>);

impl Interrupter for Interrupt {
    fn interrupt(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Fake {
    pub(crate) fn new(ops: Vec<Op>, source: PathBuf, log: Rc<RefCell<Log>>) -> Fake {
        log.borrow_mut().starts += 1;
        Fake {
            ops: Rc::new(ops),
            image: Image::default(),
            catalog: EventCatalog::default(),
            batch: EventBatch::default(),
            points: Vec::new(),
            checkpoints: Vec::new(),
            next: 1,
            ended: None,
            interrupted: Arc::default(),
            log,
            source,
            frame: 0,
        }
    }

    fn here(&self) -> SourceLine {
        SourceLine { file: self.source.clone(), line: self.image.pc as u32 + 1, column: 0 }
    }

    /// The needed events that occur at the current instruction.
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
                    None => Value::UNSET,
                };
            }
            batch.push(id, &params[..symbol.params.len()], EventMeta { time: self.image.pc as f64, line: 0 });
        }
        self.batch = batch;
    }

    /// Executes an instruction and returns a stop reason, if any.
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
            Op::Signal(name) => {
                return Ok(Some(StopReason::Signal { name: (*name).to_owned(), detail: String::new() }));
            }
        }
        Ok(None)
    }
}

impl Target for Fake {
    fn native_inspection(&mut self) -> Result<&mut dyn NativeInspection, Unsupported> {
        Ok(self)
    }

    fn checkpoints(&mut self) -> Result<&mut dyn Checkpoints, Unsupported> {
        Ok(self)
    }

    fn embedded_host(&mut self) -> Result<&mut dyn EmbeddedHost, Unsupported> {
        Err(Unsupported("no monitor steps in the test target"))
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
            let returned = (*how == ResumeMode::Finish).then(|| "42".to_owned());
            if !matches!(how, ResumeMode::Continue | ResumeMode::Until(_)) {
                return Ok(StopReason::Stepped { returned });
            }
            if matches!(how, ResumeMode::Until(line) if line.parse() == Ok(self.image.pc + 1)) {
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
        self.log.borrow_mut().detached = true;
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
        let unresolved = unknown.map(|(id, symbol)| UnresolvedEvent {
            event: id,
            param: None,
            reason: format!("there is no function `{}`", symbol.name),
            help: invigil_expr::diag::nearest(&symbol.name, known.iter().copied())
                .map_or(String::new(), |near| format!("did you mean `{near}`?")),
            pending: symbol.name.starts_with("lib_"),
        });
        Ok(unresolved.collect())
    }

    fn instrument(&mut self, needs: &EventSet) -> TargetResult {
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
            locations: vec!["prog.c".into()],
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
        let at = format!("prog.c:{}", self.image.pc + 1);
        let thread =
            |id, name: &str, at: String| Thread { id, name: name.into(), location: at, selected: id == 7 };
        vec![thread(7, "main", at), thread(9, "helper", "poll".into())]
    }

    fn select_thread(&mut self, _: u32) -> TargetResult {
        Ok(())
    }

    fn frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>> {
        let main = Frame {
            address: self.image.pc as u64,
            function: "main".to_owned(),
            inlined: false,
            arguments: Vec::new(),
            line: Some(self.here()),
            object: None,
        };
        let mut frames = Vec::new();
        if let Some(Op::Call(name, args)) = self.ops.get(self.image.pc) {
            let value = |arg: &Arg| match arg {
                Arg::Number(number) => number.to_string(),
                Arg::Variable(name) => self.image.memory.get(name).copied().unwrap_or(0).to_string(),
            };
            let arguments =
                args.iter().map(|(name, arg)| Variable { name: (*name).to_owned(), value: value(arg) });
            frames.push(Frame {
                function: (*name).to_owned(),
                arguments: arguments.collect(),
                ..main.clone()
            });
        }
        frames.push(main);
        Ok(frames.into_iter().take(limit).collect())
    }

    fn select_frame(&mut self, depth: usize) -> TargetResult {
        if self.frames(9)?.len() <= depth {
            return Err(TargetError::Request(format!("there is no frame {depth}")));
        }
        self.frame = depth;
        Ok(())
    }

    fn selected_frame(&self) -> usize {
        self.frame
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

    fn source_line(&mut self, place: Option<&str>) -> TargetResult<Option<SourceLine>> {
        let at =
            |name: &str| self.ops.iter().position(|op| matches!(op, Op::Call(called, _) if *called == name));
        match place.map(|place| (place, at(place))) {
            None => Ok(Some(self.here())),
            Some((_, Some(at))) => Ok(Some(SourceLine { line: at as u32 + 1, ..self.here() })),
            Some((place, None)) => Err(TargetError::Request(format!("there is no place `{place}`"))),
        }
    }

    fn complete_function(&mut self, prefix: &str) -> Vec<String> {
        ["queue_new", "queue_push", "main"]
            .into_iter()
            .filter(|name| name.starts_with(prefix))
            .map(str::to_owned)
            .collect()
    }

    fn info(&mut self) -> Vec<(String, String)> {
        vec![("process".into(), "7".into()), ("signals".into(), "all are passed on".into())]
    }
}

impl NativeInspection for Fake {
    fn examine_memory(
        &mut self,
        expression: &str,
        count: usize,
        format: char,
        size: usize,
    ) -> TargetResult<Vec<String>> {
        Ok(vec![format!("{expression}: {count}{format}{size}")])
    }

    fn registers(&mut self) -> TargetResult<Vec<Variable>> {
        Ok(vec![Variable { name: "rip".into(), value: format!("{:#x}", self.image.pc) }])
    }
}

impl Checkpoints for Fake {
    fn take_checkpoint(&mut self) -> TargetResult<Checkpoint> {
        let id = CheckpointId(self.next);
        self.next += 1;
        self.checkpoints.push((id, self.image.clone()));
        Ok(Checkpoint { id, memory: 2048, limitations: vec!["a socket stays as it is".into()] })
    }

    fn restore_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        let found = self.checkpoints.iter().find(|(known, _)| *known == id);
        self.image = found.ok_or(TargetError::Request("no such checkpoint".into()))?.1.clone();
        self.ended = None;
        Ok(())
    }

    fn drop_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        self.checkpoints.retain(|(known, _)| *known != id);
        Ok(())
    }

    fn list_checkpoints(&mut self) -> Vec<Checkpoint> {
        let memory = 2048;
        self.checkpoints
            .iter()
            .map(|(id, _)| Checkpoint {
                id: *id,
                memory,
                limitations: vec!["a socket stays as it is".into()],
            })
            .collect()
    }
}
