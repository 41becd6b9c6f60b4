//! The corrected defects, one test each. Numbers refer to the table in the parent module.

use crate::formal::by_owners::ByOwners;
use crate::formal::controlled::{Controlled, Reading};
use crate::formal::controller::{Command, Controller, Mode, Output, Reply, Rule};
use crate::formal::monitor::{Monitor, Transition};
use crate::formal::points::{Event, EventType, Point, SymbolicEvent};
use crate::formal::program::{Instr, Program, STOP, Val};
use crate::formal::random::Case;
use crate::formal::scenario::{Reaction, Scenario};
use invigil_target::Owner;

/// Three assignments to the one variable `x`, at address 4. Symbols 0 and 1 are two names of address 1, symbol
/// 2 is `x`.
fn program() -> Program {
    let set = |value| Instr::Const { to: 4, value };
    Program {
        code: vec![set(1), set(2), set(3), Instr::Stop],
        data: vec![0],
        start: 0,
        symbols: vec![1, 1, 4],
    }
}

fn controlled() -> Controlled {
    Controlled { program: program(), reading: Reading::AllAtOnce, commands: vec![] }
}

fn breakpoint(addr: u8) -> Point {
    Point::Break { addr, owner: Owner::User }
}

/// Applies commands one after the other. Returns the last reply.
fn tell<C: Controller>(ec: &C, at: C::Config, commands: &[Command]) -> (Reply, C::Config) {
    let apply = |(_, at): (Reply, C::Config), command| ec.command(&at, command).unwrap();
    commands.iter().fold((Reply::Nothing, at), apply)
}

/// Runs until a rule is applied.
fn until<C: Controller>(ec: &C, at: &C::Config, wanted: Rule) -> C::Config {
    let mut at = at.clone();
    loop {
        let (rule, _, to) =
            ec.run(&ec.with_mode(&at, Mode::Passive)).into_iter().next().expect("the program is at its end");
        if rule == wanted {
            return to;
        }
        at = to;
    }
}

/// What happens from here to the end, continuing at every stop.
fn rules<C: Controller>(ec: &C, at: &C::Config) -> Vec<Rule> {
    let mut at = at.clone();
    let mut rules = vec![];
    while let Some((rule, _, to)) = ec.run(&ec.with_mode(&at, Mode::Passive)).into_iter().next() {
        rules.push(rule);
        at = to;
    }
    rules
}

/// A monitor for the two names of address 1, which counts to two.
fn two_names() -> Monitor {
    let reach = |name| SymbolicEvent { kind: EventType::Reach, name, params: vec![] };
    let both = |to| vec![Transition { event: 0, odd: None, to }, Transition { event: 1, odd: None, to }];
    Monitor {
        catalog: vec![reach(0), reach(1)],
        states: vec![both(1), both(2), both(3), vec![]],
        at_stop: vec![0, 1, 2, 3],
    }
}

fn reactions(commands: Vec<Vec<Command>>) -> Scenario {
    let reaction = |commands| Reaction { to: 0, commands };
    Scenario {
        on_verdict: vec![commands.into_iter().map(reaction).collect()],
        on_point: vec![reaction(vec![])],
    }
}

/// [1] Once the instruction has been executed, its trap is back and its points count again.
#[test]
fn point_applies_at_every_execution() {
    let ec = controlled();
    let (_, at) = tell(&ec, ec.initial(), &[Command::SetPoint(breakpoint(1))]);
    let once = until(&ec, &at, Rule::DevBreak);
    let (_, back) = tell(&ec, until(&ec, &once, Rule::NormalExec), &[Command::SetPc(0)]);
    until(&ec, &back, Rule::DevBreak);
}

/// [2], [3], [4] After a restore, the points are the present ones, and the handled points those of the checkpoint.
#[test]
fn restore_keeps_points_and_notifies_none_twice() {
    let ec = controlled();
    let scenario = Point::Watch { addr: 4, read: false, write: true, owner: Owner::Scenario };
    let (_, at) = tell(&ec, ec.initial(), &[Command::SetPoint(breakpoint(1))]);
    let at = until(&ec, &at, Rule::DevBreak);
    let (number, kept) = tell(&ec, at, &[Command::Checkpoint]);
    assert_eq!(number, Reply::Checkpoint(0));
    let (_, later) = tell(&ec, until(&ec, &kept, Rule::NormalExec), &[Command::SetPoint(scenario)]);
    let (_, restored) = tell(&ec, later, &[Command::SetPoint(breakpoint(2)), Command::Restore(0)]);
    use Rule::{DevBreak, NormalExec, ScnWatch, Stop, TrapNoBreak};
    let second = [TrapNoBreak, ScnWatch, TrapNoBreak, NormalExec];
    let third = [DevBreak, TrapNoBreak, ScnWatch, TrapNoBreak, NormalExec];
    assert_eq!(rules(&ec, &restored), [&second[..], &third[..], &[Stop]].concat());
}

/// [5] Two events at one place are reported together, in the order requested.
#[test]
fn two_events_at_one_place_are_both_reported() {
    let ec = controlled();
    let monitor = two_names();
    let at = ec.instrument(&ec.initial(), &monitor.catalog);
    let reported = ec.run(&until(&ec, &at, Rule::NormalExec)).remove(0).1;
    let event = |number: usize| Event::At(monitor.catalog[number].clone(), vec![]);
    assert_eq!(reported, Output::Events(vec![event(0), event(1)]));
}

/// [6] Reads return the program's own words; writes change them and keep the trap.
#[test]
fn traps_are_invisible_and_preserved() {
    let ec = controlled();
    let (_, at) = tell(&ec, ec.initial(), &[Command::SetPoint(breakpoint(1))]);
    let own = Val::Code(program().code[1]);
    assert_eq!(tell(&ec, at.clone(), &[Command::GetAddr(1)]).0, Reply::Value(own));
    assert_eq!(tell(&ec, at.clone(), &[Command::GetSym(0)]).0, Reply::Value(own));
    let (_, written) = tell(&ec, at, &[Command::SetAddr(1, STOP)]);
    assert_eq!(tell(&ec, written.clone(), &[Command::GetAddr(1)]).0, Reply::Value(STOP));
    use Rule::{DevBreak, NormalExec, Stop, TrapNoBreak};
    assert_eq!(rules(&ec, &written), [NormalExec, DevBreak, TrapNoBreak, Stop]);
    // Also between TRAPNOBREAK and the instruction, when the trap is out.
    let out = until(&ec, &written, TrapNoBreak);
    let (_, written) = tell(&ec, out, &[Command::SetAddr(1, own)]);
    assert_eq!(rules(&ec, &written), [NormalExec, NormalExec, Stop]);
}

/// [7] The end is reported once, when the program is there, after the points at this address.
#[test]
fn end_is_reported_after_its_points() {
    use Rule::{DevBreak, NormalExec, Stop, TrapNoBreak};
    let ec = controlled();
    let (_, at) = tell(&ec, ec.initial(), &[Command::SetPoint(breakpoint(3))]);
    let all = [NormalExec, NormalExec, NormalExec, DevBreak, TrapNoBreak, Stop];
    assert_eq!(rules(&ec, &at), all);
    let nothing = Program { code: vec![Instr::Stop], data: vec![0], start: 0, symbols: vec![] };
    let ec = Controlled { program: nothing, ..ec };
    assert_eq!(rules(&ec, &ec.initial()), [Stop]);
}

/// [8] A jump away from an instruction whose trap is out puts the trap back.
#[test]
fn jump_restores_the_trap() {
    let ec = controlled();
    let (_, at) = tell(&ec, ec.initial(), &[Command::SetPoint(breakpoint(1))]);
    let out = until(&ec, &at, Rule::TrapNoBreak);
    let (_, elsewhere) = tell(&ec, out, &[Command::SetPc(0)]);
    until(&ec, &elsewhere, Rule::DevBreak);
}

/// [9] A checkpoint that a reaction takes on the first of two events at a place misses neither.
#[test]
fn checkpoint_between_events_misses_none() {
    let case = Case {
        program: program(),
        monitor: two_names(),
        scenario: reactions(vec![vec![], vec![Command::Checkpoint], vec![], vec![]]),
        points: vec![],
        developer: vec![Command::Continue],
    };
    let irv = case.formal(Reading::OncePerPlace);
    let run = irv.run_case(&case, |_| 0);
    let (_, end) = run.acts.last().unwrap();
    assert_eq!(end.m.state, 2);
    let (_, restored) = irv.command(end, &Command::Restore(0)).unwrap();
    assert_eq!(restored.m.state, 2, "both events are in the checkpoint");
    use Rule::{NormalExec, Stop, TrapNoBreak};
    assert_eq!(rules(&irv.ec, &restored.ec), [TrapNoBreak, NormalExec, NormalExec, Stop]);
}

/// [10] A command of the scenario that does not apply does not prevent the others.
#[test]
fn scenario_continues_after_inapplicable_command() {
    let missing = Point::Break { addr: 2, owner: Owner::Scenario };
    let case = Case {
        program: program(),
        monitor: two_names(),
        scenario: reactions(vec![vec![Command::RemovePoint(missing), Command::SetPoint(missing)]]),
        points: vec![],
        developer: vec![Command::Continue],
    };
    let irv = case.formal(Reading::OncePerPlace);
    let (act, _) = irv.init(&irv.start());
    assert_eq!(act.commands, [(Command::SetPoint(missing), Reply::Nothing)]);
    // The controller without traps does the same things with fewer steps.
    let owners = ByOwners { program: program(), fault: None };
    let (_, at) = tell(&owners, owners.initial(), &[Command::SetPoint(missing)]);
    assert_eq!(
        rules(&owners, &at),
        [Rule::NormalExec, Rule::NormalExec, Rule::ScnBreak, Rule::NormalExec, Rule::Stop]
    );
}
