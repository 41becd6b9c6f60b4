//! The execution controller of [Jakse 2019, figures 3.4 to 3.11], with its defects corrected.
//!
//! Numbers in brackets refer to the table in the header of this module's parent.

use crate::formal::controller::{Command, Controller, Mode, Output, Reply, Rule};
use crate::formal::points::{Event, Point, SymbolicEvent, evt2pts, instantiate};
use crate::formal::program::{
    Access, Addr, BREAK, Mem, Param, Program, ProgramAction, ProgramState, STOP, Val,
};
use invigil_semantics::{Language, Semantics};
use invigil_target::Owner;
use std::collections::{BTreeMap, BTreeSet};

/// How many points one rule of figures 3.4 and 3.5 handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// One, as the rules are printed; any of several that match the same access.
    Printed,
    /// All pending ones of one owner, as the outputs of definition 3.3.3.1 are sets of points and of events.
    AllAtOnce,
    /// The same; and a point that an owner sets where it was already notified applies from the next time on:
    /// this is the behaviour of the implementation.
    OncePerPlace,
}

/// The program under its debugger.
#[derive(Clone, Debug)]
pub(crate) struct Controlled {
    pub(crate) program: Program,
    pub(crate) reading: Reading,
    /// The commands of the user, for exploring the controller as a semantics of its own.
    pub(crate) commands: Vec<Command>,
}

/// The content of a checkpoint. [2]: as printed it has only the first two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Snapshot {
    program: ProgramState,
    events: Vec<SymbolicEvent>,
    hdld: BTreeSet<Point>,
    over: bool,
}

/// A configuration of the debugger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Debugger {
    pub(crate) mode: Mode,
    pub(crate) bpts: BTreeSet<Point>,
    pub(crate) wpts: BTreeSet<Point>,
    pub(crate) cpts: Vec<Snapshot>,
    /// [5]: each requested event with its point, in the order requested. Several may share a point.
    pub(crate) evts: Vec<(Point, SymbolicEvent)>,
    pub(crate) hdld: BTreeSet<Point>,
    /// Original instructions; `BREAK` where there is none.
    pub(crate) oi: BTreeMap<Addr, Val>,
    /// [7]: whether the end has been reported.
    pub(crate) over: bool,
}

/// A configuration of the execution controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Debugged {
    pub(crate) p: ProgramState,
    pub(crate) d: Debugger,
}

/// `unInstr`.
pub(crate) fn un_instr(m: &Mem, bpts: &BTreeSet<Point>, oi: &BTreeMap<Addr, Val>) -> Mem {
    let mut m = m.clone();
    for addr in addresses(bpts) {
        m[usize::from(addr)] = oi.get(&addr).copied().unwrap_or(BREAK);
    }
    m
}

/// `restoreBPs`.
fn restore_bps(bpts: &BTreeSet<Point>, m: &Mem) -> (Mem, BTreeMap<Addr, Val>) {
    let mut trapped = m.clone();
    let mut oi = BTreeMap::new();
    for addr in addresses(bpts) {
        trapped[usize::from(addr)] = BREAK;
        oi.insert(addr, m[usize::from(addr)]);
    }
    (trapped, oi)
}

fn addresses(bpts: &BTreeSet<Point>) -> impl Iterator<Item = Addr> {
    bpts.iter().filter_map(|point| match point {
        Point::Break { addr, .. } => Some(*addr),
        Point::Watch { .. } => None,
    })
}

impl Debugged {
    /// The program's own memory.
    pub(crate) fn clean(&self) -> Mem {
        un_instr(&self.p.m, &self.d.bpts, &self.d.oi)
    }

    /// `restoreBP`: the trap at the program counter is put back, if one belongs there.
    fn restore_bp(&mut self) {
        let pc = self.p.pc;
        let cell = &mut self.p.m[usize::from(pc)];
        if *cell != BREAK && addresses(&self.d.bpts).any(|addr| addr == pc) {
            self.d.oi.insert(pc, *cell);
            *cell = BREAK;
        }
    }

    fn set_point(&mut self, point: Point) {
        match point {
            // Rule SETBREAK.
            Point::Break { addr, .. } => {
                let cell = &mut self.p.m[usize::from(addr)];
                if !self.d.bpts.iter().any(|other| other.breaks_at(addr)) {
                    self.d.oi.insert(addr, *cell);
                }
                *cell = BREAK;
                self.d.bpts.insert(point);
            }
            // Rule SETWATCH.
            Point::Watch { .. } => {
                self.d.wpts.insert(point);
            }
        }
    }

    fn remove_point(&mut self, point: &Point) {
        match point {
            // Rule RMBREAK.
            Point::Break { addr, .. } => {
                self.d.bpts.remove(point);
                if !self.d.bpts.iter().any(|other| other.breaks_at(*addr)) {
                    self.p.m[usize::from(*addr)] = self.d.oi.remove(addr).unwrap_or(BREAK);
                }
            }
            // Rule RMWATCH.
            Point::Watch { .. } => {
                self.d.wpts.remove(point);
            }
        }
        self.d.evts.retain(|(of, _)| of != point);
    }

    /// Rule CLEAREVENTS.
    fn clear_events(&mut self) {
        let points: BTreeSet<Point> = self.d.evts.iter().map(|(point, _)| *point).collect();
        points.iter().for_each(|point| self.remove_point(point));
    }

    /// Rule INSTRUMENT.
    fn instrument(&mut self, program: &Program, events: &[SymbolicEvent]) {
        self.clear_events();
        let m = self.clean();
        for event in events {
            let point = evt2pts(program, &m, event);
            self.set_point(point);
            self.d.evts.push((point, event.clone()));
        }
    }

    /// [6]: writes keep the trap and reach the instruction under it.
    fn set(&mut self, addr: Addr, value: Val) {
        let cell = &mut self.p.m[usize::from(addr)];
        if let Some(original) = self.d.oi.get_mut(&addr) {
            *original = value;
        }
        if *cell != BREAK {
            *cell = value;
        }
    }

    /// Rule CKPT. [4]: the number is that of the rule, counted from zero.
    fn checkpoint(&mut self) -> usize {
        self.d.cpts.push(Snapshot {
            program: ProgramState { m: self.clean(), pc: self.p.pc },
            events: self.d.evts.iter().map(|(_, event)| event.clone()).collect(),
            hdld: self.d.hdld.clone(),
            over: self.d.over,
        });
        self.d.cpts.len() - 1
    }

    /// Rule RESTORE. [2] the handled points are restored; [3] the points of the user and the scenario stay,
    /// watchpoints too, and the monitors' are those of the checkpoint.
    fn restore(&mut self, program: &Program, number: usize) -> Option<()> {
        let Snapshot { program: saved, events, hdld, over } = self.d.cpts.get(number)?.clone();
        let (m, oi) = restore_bps(&self.d.bpts, &saved.m);
        self.p = ProgramState { m, pc: saved.pc };
        self.d.oi = oi;
        self.instrument(program, &events);
        self.d.hdld = hdld;
        self.d.over = over;
        Some(())
    }
}

impl Controlled {
    /// The watchpoints of an owner that a rule of figure 3.4 may handle now, as alternatives.
    fn due_watch(&self, at: &Debugged, accesses: &[Access], owner: Owner) -> Vec<Vec<Point>> {
        let open = |point: &&Point| point.owner() == owner && !at.d.hdld.contains(point);
        let on = |access: &Access| -> Vec<Point> {
            at.d.wpts.iter().filter(open).filter(|point| point.matches(access)).copied().collect()
        };
        match self.reading {
            // DEVWATCH takes any that matches; SCNWATCH and EVTWATCH those of the first access that has one.
            Reading::Printed if owner == Owner::User => {
                let all: BTreeSet<Point> = accesses.iter().flat_map(on).collect();
                all.into_iter().map(|point| vec![point]).collect()
            }
            Reading::Printed => {
                let first = accesses.iter().map(on).find(|points| !points.is_empty());
                first.unwrap_or_default().into_iter().map(|point| vec![point]).collect()
            }
            Reading::OncePerPlace if self.is_served(at, owner, false) => vec![],
            Reading::AllAtOnce | Reading::OncePerPlace => {
                let all: BTreeSet<Point> = accesses.iter().flat_map(on).collect();
                if all.is_empty() { vec![] } else { vec![all.into_iter().collect()] }
            }
        }
    }

    /// Whether an owner was notified of a breakpoint, or a watchpoint, at this instruction.
    pub(crate) fn is_served(&self, at: &Debugged, owner: Owner, breaks: bool) -> bool {
        at.d.hdld.iter().any(|point| point.owner() == owner && point.is_break() == breaks)
    }

    /// Marks points as handled and outputs them: to the user, to the scenario, or as events.
    fn serve(&self, at: &Debugged, owner: Owner, points: Vec<Point>) -> (Output, Debugged) {
        let mut to = at.clone();
        to.d.hdld.extend(&points);
        to.restore_bp();
        let output = match owner {
            Owner::User => {
                to.d.mode = Mode::Interactive;
                Output::Developer(points)
            }
            Owner::Scenario => Output::Scenario(points),
            // [5]: every event of these points, in the order requested. [6]: parameters are read from the
            // program's own memory.
            Owner::Monitors => {
                let clean = at.clean();
                let asked = at.d.evts.iter().filter(|(point, _)| points.contains(point));
                Output::Events(asked.map(|(_, event)| instantiate(&self.program, event, &clean)).collect())
            }
        };
        (output, to)
    }

    /// Figure 3.4: user, scenario, monitors.
    fn watch(&self, at: &Debugged) -> Vec<(Rule, Output, Debugged)> {
        let accesses = self.program.get_accesses(&at.p);
        let rules = [
            (Rule::DevWatch, Owner::User),
            (Rule::ScnWatch, Owner::Scenario),
            (Rule::EvtWatch, Owner::Monitors),
        ];
        for (rule, owner) in rules {
            let due = self.due_watch(at, &accesses, owner);
            if !due.is_empty() {
                let serve = |points| {
                    let (output, to) = self.serve(at, owner, points);
                    (rule, output, to)
                };
                return due.into_iter().map(serve).collect();
            }
        }
        vec![]
    }

    /// Figure 3.5, which is missing in print: the program executed a trap.
    fn trap(&self, at: &Debugged) -> (Rule, Output, Debugged) {
        let rules = [
            (Rule::DevBreak, Owner::User),
            (Rule::ScnBreak, Owner::Scenario),
            (Rule::EvtBreak, Owner::Monitors),
        ];
        for (rule, owner) in rules {
            let point = Point::Break { addr: at.p.pc, owner };
            if at.d.bpts.contains(&point) && !at.d.hdld.contains(&point) {
                let (output, to) = self.serve(at, owner, vec![point]);
                return (rule, output, to);
            }
        }
        let mut to = at.clone();
        to.p.m[usize::from(at.p.pc)] = at.d.oi[&at.p.pc];
        (Rule::TrapNoBreak, Output::Silent, to)
    }

    /// Figure 3.6. [1]: traps are put back and `hdld` is emptied.
    fn normal_exec(&self, at: &Debugged) -> Option<(Rule, Output, Debugged)> {
        let clean = ProgramState { m: at.clean(), pc: at.p.pc };
        let mut to = at.clone();
        if let Some((ProgramAction::Exec(m, pc), next)) = self.program.steps(&clean).into_iter().next() {
            let (m_trapped, oi) = restore_bps(&at.d.bpts, &next.m);
            to.p = ProgramState { m: m_trapped, pc: next.pc };
            to.d.oi = oi;
            to.d.hdld.clear();
            to.d.over = false;
            return Some((Rule::NormalExec, Output::Executed(m, pc), to));
        }
        // [7]: as in algorithms 1 and 2, the end is reported once, when no owner is pending there.
        let ends = clean.m[usize::from(clean.pc)] == STOP && !at.d.over;
        to.d.over = true;
        ends.then_some((Rule::Stop, Output::Events(vec![Event::Stop]), to))
    }
}

impl Controller for Controlled {
    type Config = Debugged;

    fn initial(&self) -> Debugged {
        let p = Semantics::initial(&self.program).into_iter().next().unwrap();
        let d = Debugger {
            mode: Mode::Interactive,
            bpts: BTreeSet::new(),
            wpts: BTreeSet::new(),
            cpts: vec![],
            evts: vec![],
            hdld: BTreeSet::new(),
            oi: BTreeMap::new(),
            over: false,
        };
        Debugged { p, d }
    }

    fn mode(&self, at: &Debugged) -> Mode {
        at.d.mode
    }

    fn with_mode(&self, at: &Debugged, mode: Mode) -> Debugged {
        let mut to = at.clone();
        to.d.mode = mode;
        to
    }

    fn run(&self, at: &Debugged) -> Vec<(Rule, Output, Debugged)> {
        assert_eq!(at.d.mode, Mode::Passive, "a premise of every rule of figures 3.4 to 3.6");
        let watched = self.watch(at);
        if !watched.is_empty() {
            return watched;
        }
        match self.program.actions(&at.p).into_iter().next() {
            Some(ProgramAction::Trap) => vec![self.trap(at)],
            _ => self.normal_exec(at).into_iter().collect(),
        }
    }

    fn instrument(&self, at: &Debugged, events: &[SymbolicEvent]) -> Debugged {
        let mut to = at.clone();
        to.instrument(&self.program, events);
        to
    }

    fn command(&self, at: &Debugged, command: &Command) -> Option<(Reply, Debugged)> {
        let mut to = at.clone();
        let mut reply = Reply::Nothing;
        let address = |symbol: &usize| self.program.sym_t(&at.clean(), Param::Symbol(*symbol));
        // [6]: reads show the program's own words.
        let word = |addr: Addr| Reply::Value(at.clean()[usize::from(addr)]);
        match command {
            // Rules SETADDR and SETSYM.
            Command::SetAddr(addr, value) => to.set(*addr, *value),
            Command::SetSym(symbol, value) => to.set(address(symbol), *value),
            // Rules GETADDR, GETSYM and GETPC.
            Command::GetAddr(addr) => reply = word(*addr),
            Command::GetSym(symbol) => reply = word(address(symbol)),
            Command::GetPc => reply = Reply::Pc(at.p.pc),
            // Rule SETPC. [8]: a trap removed by TRAPNOBREAK is restored, and no owner counts as notified at the new
            // address.
            Command::SetPc(addr) => {
                to.restore_bp();
                to.p.pc = *addr;
                to.d.hdld.clear();
            }
            // Rules CKPT and RESTORE.
            Command::Checkpoint => reply = Reply::Checkpoint(to.checkpoint()),
            Command::Restore(number) => to.restore(&self.program, *number)?,
            // Rules INT and CONT.
            Command::Interrupt => to.d.mode = Mode::Interactive,
            Command::Continue => {
                (at.d.mode == Mode::Interactive).then_some(())?;
                to.d.mode = Mode::Passive;
            }
            // Rules SETBREAK, SETWATCH, RMBREAK and RMWATCH.
            Command::SetPoint(point) => {
                if let Point::Break { addr, .. } = point {
                    self.program.is_code(*addr).then_some(())?;
                }
                to.set_point(*point);
            }
            Command::RemovePoint(point) => {
                (at.d.bpts.contains(point) || at.d.wpts.contains(point)).then_some(())?;
                to.remove_point(point);
            }
            Command::Step => return None,
        }
        Some((reply, to))
    }
}

/// A step of the execution controller: its input, the rule, its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) input: Option<Command>,
    pub(crate) rule: Rule,
    pub(crate) output: Output,
}

impl Act {
    /// The observable action, `EXEC(m, a)`, if it is one.
    pub(crate) fn observable(&self) -> Option<(&Mem, Addr)> {
        match &self.output {
            Output::Executed(m, pc) => Some((m, *pc)),
            _ => None,
        }
    }
}

impl Language for Controlled {
    type Config = Debugged;
    type Action = Act;
}

impl Semantics for Controlled {
    fn initial(&self) -> impl IntoIterator<Item = Debugged> {
        [Controller::initial(self)]
    }

    fn actions(&self, at: &Debugged) -> impl IntoIterator<Item = Act> {
        self.steps(at).into_iter().map(|(act, _)| act).collect::<Vec<_>>()
    }

    fn execute(&self, at: &Debugged, action: &Act) -> impl IntoIterator<Item = Debugged> {
        let by = self.steps(at).into_iter().filter(|(act, _)| act == action);
        by.map(|(_, to)| to).collect::<Vec<_>>()
    }

    fn steps(&self, at: &Debugged) -> impl IntoIterator<Item = (Act, Debugged)> {
        let act =
            |input: Option<&Command>, (rule, output, to)| (Act { input: input.cloned(), rule, output }, to);
        let mut steps: Vec<(Act, Debugged)> = vec![];
        if at.d.mode == Mode::Passive {
            steps.extend(self.run(at).into_iter().map(|step| act(None, step)));
        }
        for command in &self.commands {
            if *command == Command::Step {
                if at.d.mode == Mode::Interactive {
                    steps.extend(self.step(at).into_iter().map(|step| act(Some(command), step)));
                }
            } else if let Some((_, to)) = self.command(at, command) {
                steps.push(act(Some(command), (Rule::Command, Output::Silent, to)));
            }
        }
        steps
    }
}
