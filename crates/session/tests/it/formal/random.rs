//! Random programs, monitors, scenarios and users.

use crate::formal::controller::Command;
use crate::formal::monitor::{Monitor, Transition};
use crate::formal::points::{EventType, Point, SymbolicEvent};
use crate::formal::program::{Addr, Instr, Param, Program, Val};
use crate::formal::scenario::{Reaction, Scenario};
use invigil_target::Owner;
use proptest::collection::vec;
use proptest::prelude::*;

/// Number of data cells of each program: few, so that points are hit.
const DATA: u8 = 4;
/// Symbols: functions first, then one variable for each data cell.
const FUNCTIONS: usize = 3;

/// Everything one case needs.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) program: Program,
    pub(crate) monitor: Monitor,
    pub(crate) scenario: Scenario,
    /// The user's initial points.
    pub(crate) points: Vec<Point>,
    /// The user's commands, one at each stop, repeated cyclically.
    pub(crate) developer: Vec<Command>,
}

/// What commands a case may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that the propositions of section 3.4 allow.
    Observing,
    /// With checkpoints and restores, by the user and the scenario, and interruptions by the scenario.
    Checkpoints,
    /// All of table 3.1.
    Everything,
}

fn instr(code: u8) -> impl Strategy<Value = Instr> {
    let data = || code..code + DATA;
    let place = || 0..code;
    prop_oneof![
        2 => (data(), any::<u8>()).prop_map(|(to, value)| Instr::Const { to, value }),
        2 => (data(), data()).prop_map(|(from, to)| Instr::Move { from, to }),
        3 => (data(), data(), data()).prop_map(|(left, right, to)| Instr::Add { left, right, to }),
        2 => (data(), data()).prop_map(|(pointer, to)| Instr::Load { pointer, to }),
        2 => (data(), data()).prop_map(|(from, pointer)| Instr::Store { from, pointer }),
        1 => place().prop_map(Instr::Jump),
        2 => (data(), place()).prop_map(|(odd, to)| Instr::JumpIf { odd, to }),
        1 => (data(), place()).prop_map(|(link, to)| Instr::Call { link, to }),
        1 => data().prop_map(|link| Instr::Return { link }),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    (2..9_u8).prop_flat_map(|code| {
        let body = vec(instr(code), usize::from(code) - 1);
        // The first function is often where the program starts; others may be aliases of one address.
        let functions = vec(0..code, FUNCTIONS);
        (body, vec(any::<u8>(), usize::from(DATA)), functions).prop_map(move |(mut code, data, functions)| {
            code.push(Instr::Stop);
            let cells = code.len() as Addr..code.len() as Addr + DATA;
            Program { start: 0, symbols: functions.into_iter().chain(cells).collect(), code, data }
        })
    })
}

fn variable() -> impl Strategy<Value = usize> {
    FUNCTIONS..FUNCTIONS + usize::from(DATA)
}

fn event() -> impl Strategy<Value = SymbolicEvent> {
    let param = prop_oneof![
        (0..FUNCTIONS + usize::from(DATA)).prop_map(Param::Symbol),
        variable().prop_map(Param::Pointed)
    ];
    let what = prop_oneof![
        3 => (Just(EventType::Reach), 0..FUNCTIONS),
        1 => (Just(EventType::ValueRead), variable()),
        1 => (Just(EventType::ValueWrite), variable()),
        1 => (Just(EventType::ValueAccess), variable()),
    ];
    (what, vec(param, 0..3)).prop_map(|((kind, name), params)| SymbolicEvent { kind, name, params })
}

fn monitor() -> impl Strategy<Value = Monitor> {
    (vec(event(), 1..6), 1..5_usize).prop_flat_map(|(catalog, states)| {
        let transition = (0..catalog.len(), proptest::option::of(any::<bool>()), 0..states)
            .prop_map(|(event, odd, to)| Transition { event, odd, to });
        (vec(vec(transition, 0..4), states), vec(0..states, states))
            .prop_map(move |(states, at_stop)| Monitor { catalog: catalog.clone(), states, at_stop })
    })
}

/// A point, as a fraction of a small space, so that the same ones are set and removed again.
fn point(program: &Program, owner: Owner) -> impl Strategy<Value = Point> + use<> {
    let code = program.code.len() as Addr;
    let access = prop_oneof![Just((true, false)), Just((false, true)), Just((true, true))];
    prop_oneof![
        (0..code).prop_map(move |addr| Point::Break { addr, owner }),
        (code..code + DATA, access).prop_map(move |(addr, (read, write))| Point::Watch {
            addr,
            read,
            write,
            owner
        }),
    ]
}

fn command(program: &Program, owner: Owner, scope: Scope) -> BoxedStrategy<Command> {
    let code = program.code.len() as Addr;
    let observing = prop_oneof![
        4 => point(program, owner).prop_map(Command::SetPoint),
        2 => point(program, owner).prop_map(Command::RemovePoint),
        1 => (0..code + DATA).prop_map(Command::GetAddr),
        1 => (0..FUNCTIONS + usize::from(DATA)).prop_map(Command::GetSym),
        1 => Just(Command::GetPc),
    ];
    let checkpoints = prop_oneof![
        2 => Just(Command::Checkpoint),
        2 => (0..2_usize).prop_map(Command::Restore),
        1 => Just(Command::Interrupt),
    ];
    let changes = prop_oneof![
        (code..code + DATA, any::<u8>()).prop_map(|(addr, value)| Command::SetAddr(addr, Val::Num(value))),
        (0..code, instr(code)).prop_map(|(addr, instr)| Command::SetAddr(addr, Val::Code(instr))),
        (variable(), any::<u8>()).prop_map(|(symbol, value)| Command::SetSym(symbol, Val::Num(value))),
        (0..code).prop_map(Command::SetPc),
    ];
    match scope {
        Scope::Observing => observing.boxed(),
        Scope::Checkpoints => prop_oneof![3 => observing, 2 => checkpoints].boxed(),
        Scope::Everything => prop_oneof![3 => observing, 2 => checkpoints, 1 => changes].boxed(),
    }
}

fn scenario(program: &Program, verdicts: usize, scope: Scope) -> impl Strategy<Value = Scenario> + use<> {
    let of = program.clone();
    (1..3_usize).prop_flat_map(move |states| {
        let commands = vec(command(&of, Owner::Scenario, scope), 0..3);
        let reaction = (0..states, commands).prop_map(|(to, commands)| Reaction { to, commands }).boxed();
        (vec(vec(reaction.clone(), verdicts), states), vec(reaction, states))
            .prop_map(|(on_verdict, on_point)| Scenario { on_verdict, on_point })
    })
}

fn developer(program: &Program, scope: Scope) -> impl Strategy<Value = Vec<Command>> + use<> {
    let said = prop_oneof![
        3 => Just(Command::Continue),
        3 => Just(Command::Step),
        3 => command(program, Owner::User, scope),
    ];
    vec(said, 1..12)
}

/// A whole case.
pub(crate) fn case(scope: Scope) -> impl Strategy<Value = Case> {
    (program(), monitor()).prop_flat_map(move |(program, monitor)| {
        let scenario = scenario(&program, monitor.states.len(), scope);
        let points = vec(point(&program, Owner::User), 0..3);
        (scenario, points, developer(&program, scope)).prop_map(move |(scenario, points, developer)| Case {
            program: program.clone(),
            monitor: monitor.clone(),
            scenario,
            points,
            developer,
        })
    })
}
