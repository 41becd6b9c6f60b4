//! A subject for tests: a little program with variables, which does the same every time.

use invigil_expr::value::Value;
use invigil_monitor::event::{Batch, Catalog, EventSet, Kind, Source, Stamp, SymbolId};
use invigil_monitor::inside::{Inmate, Inside};
use invigil_monitor::mac::{Plan, Remembered, Scripts};
use invigil_monitor::slices::Slices;
use invigil_session::due::Owners;
use invigil_session::subject::*;
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
    /// Gives a variable a value.
    Set(&'static str, i64),
    /// Adds to a variable.
    Add(&'static str, i64),
    /// Goes to an instruction if a variable is less than a number.
    JumpIfLess(&'static str, i64, usize),
    /// Gives a variable a number that is never the same: what makes a program not do the same again.
    Noise(&'static str),
    /// A signal that would do harm.
    Signal(&'static str),
    /// The program breaks, and cannot be controlled any more.
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

/// What the tests look at while the session has the program.
#[derive(Default)]
pub(crate) struct Log {
    /// Every set of events that was asked for.
    pub(crate) instrumented: Vec<Vec<String>>,
    pub(crate) restored: Vec<u32>,
    pub(crate) killed: bool,
    /// Grows with every `Noise`, whatever is restored.
    pub(crate) noise: i64,
    /// Whether checkpoints fail.
    pub(crate) no_checkpoints: bool,
    /// Whether the copies of the program are lost, and the program with them when one is to be restored.
    pub(crate) restores_kill: bool,
    /// What a checkpoint takes.
    pub(crate) checkpoint_memory: u64,
    /// Whether it has no clock.
    pub(crate) timeless: bool,
    /// Whether monitors step inside.
    pub(crate) indoors: bool,
    /// How often the session was told of events.
    pub(crate) stops: u64,
}

#[derive(Clone, Default)]
struct Image {
    pc: usize,
    memory: BTreeMap<&'static str, i64>,
    handled: Owners,
    needs: EventSet,
}

pub(crate) struct Fake {
    ops: Rc<Vec<Op>>,
    image: Image,
    catalog: Catalog,
    batch: Batch,
    points: Vec<Point>,
    checkpoints: Vec<(CheckpointId, Image)>,
    next: u32,
    ended: Option<Ending>,
    interrupted: Arc<AtomicBool>,
    log: Rc<RefCell<Log>>,
    /// The monitors, if they step here.
    inside: Option<Inside>,
    /// Scripts, before anything has happened.
    scripts: Scripts,
    /// How many of the events that they have seen the session is told as usual.
    told: usize,
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
            catalog: Catalog::default(),
            batch: Batch::default(),
            points: Vec::new(),
            checkpoints: Vec::new(),
            next: 1,
            ended: None,
            interrupted: Arc::default(),
            log: Rc::clone(&log),
            inside: None,
            scripts: Scripts::default(),
            told: 0,
        };
        (fake, log)
    }

    /// The symbols that happen at the present instruction and are wanted.
    fn present(&self) -> impl Iterator<Item = SymbolId> {
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
            .filter(move |(_, symbol)| symbol.kind == Kind::Before && is_here(&symbol.name))
            .map(|(id, _)| id)
    }

    fn points_here(&self, owner: Owner) -> impl Iterator<Item = PointId> {
        let op = self.ops.get(self.image.pc);
        let pc = self.image.pc;
        let is_here = move |what: &What| match (what, op) {
            (What::Reach(place), _) if place.strip_prefix("prog:").is_some_and(|at| at.parse() == Ok(pc)) => {
                true
            }
            (What::Reach(place), Some(Op::Call(name, _))) => place == name,
            (What::Access { of, write: true, .. }, Some(Op::Set(name, _) | Op::Add(name, _))) => of == name,
            _ => false,
        };
        let mine = self.points.iter().filter(move |point| point.owner == owner && point.enabled);
        mine.filter(move |point| is_here(&point.spec.what)).map(|point| point.id)
    }

    fn argument(&self, source: &Source) -> Option<&Arg> {
        let Some(Op::Call(_, args)) = self.ops.get(self.image.pc) else { return None };
        match source {
            Source::Name(name) => args.iter().find(|(known, _)| known == name).map(|(_, arg)| arg),
            Source::Arg(at) => args.get(*at as usize - 1).map(|(_, arg)| arg),
            _ => None,
        }
    }

    fn fill_batch(&mut self) {
        let symbols: [Option<SymbolId>; 8] = {
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
                    Some(Arg::Text(text)) => Value::short(text).unwrap_or_else(|| {
                        let start = batch.text.len() as u32;
                        batch.text.push_str(text);
                        Value::text(start, text.len() as u32)
                    }),
                    Some(Arg::Unknown) | None => Value::UNSET,
                };
            }
            let time = if self.log.borrow().timeless { f64::NAN } else { self.image.pc as f64 };
            batch.push(id, &params[..symbol.params.len()], Stamp { time, line: 0 });
        }
        self.batch = batch;
    }

    /// Steps the monitors that are inside; whether that is all there is to do.
    fn step_inside(&mut self) -> bool {
        let Some(inside) = &mut self.inside else { return false };
        let mut reacts = false;
        for at in 0..self.batch.len() {
            let event = self.batch.event(at);
            let integers: Option<Vec<i64>> = event.params.iter().map(|param| param.as_int()).collect();
            reacts |= match integers {
                _ if inside.follow(event.symbol) => inside.happen(&event, self.batch.stamp(at), 7),
                Some(integers) => inside.step_integers(event.symbol, &integers, 7),
                None => inside.step(&event, self.batch.stamp(at), 7),
            };
        }
        let mut needs = EventSet::default();
        self.catalog
            .iter()
            .filter(|(id, _)| inside.wants(*id) || inside.follow(*id))
            .for_each(|(id, _)| needs.insert(id));
        self.image.needs = needs;
        self.told = if reacts { self.batch.len() } else { 0 };
        !reacts
    }

    /// Executes an instruction; gives what ends the run.
    fn execute(&mut self) -> Done<Option<Stop>> {
        let Some(op) = self.ops.get(self.image.pc) else {
            self.ended = Some(Ending::Exited(0));
            return Ok(Some(Stop::Ended(Ending::Exited(0))));
        };
        self.image.pc += 1;
        self.image.handled = Owners::default();
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
                return Ok(Some(Stop::Signal { name: (*name).to_owned(), detail: String::new() }));
            }
            Op::Break => return Err(Trouble::Subject("the program cannot be controlled any more".into())),
        }
        Ok(None)
    }
}

impl Subject for Fake {
    fn is_alive(&self) -> bool {
        self.ended.is_none()
    }

    fn prepare(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>> {
        self.catalog = catalog.clone();
        let known: Vec<&str> = self
            .ops
            .iter()
            .filter_map(|op| if let Op::Call(name, _) = op { Some(*name) } else { None })
            .collect();
        let unknown = catalog.iter().filter(|(_, symbol)| {
            !symbol.name.starts_with("prog:") && !known.contains(&symbol.name.as_str())
        });
        let told = unknown.map(|(id, symbol)| Unknown {
            symbol: id,
            param: None,
            reason: format!("there is no function `{}`", symbol.name),
            help: invigil_expr::diag::nearest(&symbol.name, known.iter().copied())
                .map_or(String::new(), |near| format!("did you mean `{near}`?")),
            pending: symbol.name.starts_with("lib_"),
        });
        Ok(told.collect())
    }

    fn instrument(&mut self, needs: &EventSet) -> Done {
        let names = needs.iter().filter_map(|id| self.catalog.get(id)).map(ToString::to_string);
        self.log.borrow_mut().instrumented.push(names.collect());
        self.image.needs = needs.clone();
        Ok(())
    }

    fn resume(&mut self, how: &Resume) -> Done<Stop> {
        if let Some(ending) = &self.ended {
            return Err(Trouble::Ended(ending.clone()));
        }
        loop {
            if self.interrupted.swap(false, Ordering::SeqCst) {
                return Ok(Stop::Interrupted);
            }
            let mut here = Owners::default();
            for owner in [Owner::Developer, Owner::Scenario] {
                if self.points_here(owner).next().is_some() {
                    here = here.with(owner);
                }
            }
            if self.present().next().is_some() {
                here = here.with(Owner::Monitors);
            }
            if let Some(owner) = here.next(self.image.handled) {
                self.image.handled = self.image.handled.with(owner);
                if owner == Owner::Monitors {
                    self.fill_batch();
                    if self.step_inside() {
                        continue;
                    }
                    self.log.borrow_mut().stops += 1;
                    return Ok(Stop::Events);
                }
                let points: Vec<PointId> = self.points_here(owner).collect();
                self.points
                    .iter_mut()
                    .filter(|point| points.contains(&point.id))
                    .for_each(|point| point.hits += 1);
                return Ok(Stop::Points { owner, points });
            }
            if let Some(stop) = self.execute()? {
                return Ok(stop);
            }
            if *how == Resume::Instruction {
                return Ok(Stop::Stepped { returned: None });
            }
        }
    }

    fn events(&self) -> &Batch {
        &self.batch
    }

    fn take_scripts(&mut self, scripts: &[Plan]) -> ScriptsStep {
        self.scripts = Scripts::new(scripts).expect("scripts that can be run");
        ScriptsStep::WithMonitors
    }

    fn steps_inside(&self) -> bool {
        self.log.borrow().indoors
    }

    fn put_inside(&mut self, monitors: &[Inmate], scripts: &[Remembered]) -> Done {
        // As it would go to another process.
        let sent = monitors.iter().map(|inmate| Inmate {
            slices: Slices::load(&inmate.automaton, &inmate.slices.save())
                .expect("what was saved can be loaded"),
            ..inmate.clone()
        });
        let mut ready = self.scripts.clone();
        assert!(ready.restore(scripts), "the scripts are those that were told");
        self.inside = Some(Inside::new(sent.collect()).with_scripts(ready));
        self.told = 0;
        Ok(())
    }

    fn catch_up(&mut self) -> Done<Option<CaughtUp>> {
        let Some(mut inside) = self.inside.take() else { return Ok(None) };
        let automata: Vec<_> = inside.inmates().iter().map(|inmate| Arc::clone(&inmate.automaton)).collect();
        let mut past = inside.past();
        past.events.truncate(past.events.len() - self.told);
        let sent = automata
            .iter()
            .zip(past.before)
            .map(|(automaton, slices)| Slices::load(automaton, &slices.save()));
        Ok(Some(CaughtUp {
            unseen_events: past.unseen_events,
            unseen: past.unseen.to_vec(),
            before: sent.map(|slices| slices.expect("what was saved can be loaded")).collect(),
            scripts: past.scripts.to_vec(),
            events: past.events,
            threads: past.threads,
        }))
    }

    fn current_thread(&self) -> u32 {
        7
    }

    fn interrupter(&self) -> Box<dyn Interrupter> {
        Box::new(Interrupt(Arc::clone(&self.interrupted)))
    }

    fn kill(&mut self) -> Done {
        self.log.borrow_mut().killed = true;
        self.ended = Some(Ending::Killed { signal: "SIGKILL".into(), core: false });
        Ok(())
    }

    fn detach(&mut self) -> Done {
        self.ended = Some(Ending::Detached);
        Ok(())
    }

    fn set_point(&mut self, owner: Owner, spec: &PointSpec) -> Done<PointId> {
        if matches!(&spec.what, What::Reach(place) if place == "nowhere") {
            return Err(Trouble::Request("there is no place `nowhere`".into()));
        }
        let id = PointId(self.next);
        self.next += 1;
        self.points.push(Point { id, owner, spec: spec.clone(), places: Vec::new(), hits: 0, enabled: true });
        Ok(id)
    }

    fn remove_point(&mut self, id: PointId) -> Done {
        let before = self.points.len();
        self.points.retain(|point| point.id != id);
        if self.points.len() == before {
            Err(Trouble::Request(format!("there is no point {}", id.0)))
        } else {
            Ok(())
        }
    }

    fn enable_point(&mut self, id: PointId, enabled: bool) -> Done {
        self.points.iter_mut().filter(|point| point.id == id).for_each(|point| point.enabled = enabled);
        Ok(())
    }

    fn points(&mut self) -> Vec<Point> {
        self.points.clone()
    }

    fn threads(&mut self) -> Vec<Thread> {
        vec![Thread { id: 7, name: "main".into(), at: format!("prog:{}", self.image.pc), selected: true }]
    }

    fn select_thread(&mut self, _: u32) -> Done {
        Ok(())
    }

    fn frames(&mut self, limit: usize) -> Done<Vec<Frame>> {
        let function = match self.ops.get(self.image.pc) {
            Some(Op::Call(name, _)) => (*name).to_owned(),
            _ => "main".to_owned(),
        };
        let line = Line { file: "src/prog".into(), line: self.image.pc as u32, column: 0 };
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

    fn select_frame(&mut self, _: usize) -> Done {
        Ok(())
    }

    fn selected_frame(&self) -> usize {
        0
    }

    fn locals(&mut self) -> Done<Vec<Variable>> {
        let all = self.image.memory.iter();
        Ok(all.map(|(name, value)| Variable { name: (*name).to_owned(), value: value.to_string() }).collect())
    }

    fn print(&mut self, expression: &str) -> Done<String> {
        match (expression, self.image.memory.get(expression)) {
            ("pc", _) => Ok(self.image.pc.to_string()),
            ("title", _) => Ok("0x1000 \"a text that is longer than a value\"".into()),
            (_, Some(value)) => Ok(value.to_string()),
            _ => Err(Trouble::Request(format!("there is no variable `{expression}`"))),
        }
    }

    fn type_of(&mut self, _: &str) -> Done<String> {
        Ok("int".into())
    }

    fn assign(&mut self, place: &str, value: &str) -> Done {
        let known = self.image.memory.iter_mut().find(|(name, _)| **name == place);
        match (known, value.parse()) {
            (Some((_, slot)), Ok(value)) => {
                *slot = value;
                Ok(())
            }
            _ => Err(Trouble::Request(format!("`{place}` cannot become `{value}`"))),
        }
    }

    fn examine(&mut self, _: &str, _: usize, _: char, _: usize) -> Done<Vec<String>> {
        Ok(Vec::new())
    }

    fn registers(&mut self) -> Done<Vec<Variable>> {
        Ok(Vec::new())
    }

    fn line(&mut self, _: Option<&str>) -> Done<Option<Line>> {
        Ok(None)
    }

    fn functions(&mut self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn facts(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn checkpoint(&mut self) -> Done<Checkpoint> {
        if self.log.borrow().no_checkpoints {
            return Err(Trouble::Subject("the program has several threads".into()));
        }
        let id = CheckpointId(self.next);
        self.next += 1;
        self.checkpoints.push((id, self.image.clone()));
        Ok(Checkpoint { id, memory: self.log.borrow().checkpoint_memory, limits: Vec::new() })
    }

    fn restore(&mut self, id: CheckpointId) -> Done {
        if self.log.borrow().restores_kill {
            self.checkpoints.retain(|(known, _)| *known != id);
            self.ended = Some(Ending::Killed { signal: "SIGKILL".into(), core: false });
            return Err(Trouble::Subject("the copy is lost".into()));
        }
        let found = self.checkpoints.iter().find(|(known, _)| *known == id);
        self.image = found.ok_or(Trouble::Request("no such checkpoint".into()))?.1.clone();
        self.ended = None;
        self.log.borrow_mut().restored.push(id.0);
        Ok(())
    }

    fn forget(&mut self, id: CheckpointId) -> Done {
        self.checkpoints.retain(|(known, _)| *known != id);
        Ok(())
    }

    fn checkpoints(&mut self) -> Vec<Checkpoint> {
        let memory = self.log.borrow().checkpoint_memory;
        self.checkpoints.iter().map(|(id, _)| Checkpoint { id: *id, memory, limits: Vec::new() }).collect()
    }
}
