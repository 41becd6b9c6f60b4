//! Recogniser and checker do not allocate after warm-up: they must be able to run inside the target.

use invigil_monitor::mac::{
    Binary, Checker, EventGroup, Recogniser, ScriptDef, Snapshot, Truth, Type, Value,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a counter per thread.
struct Counting;

// SAFETY: all calls are passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller guarantees the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations in the second run of `round`.
fn warm(mut round: impl FnMut()) -> u64 {
    round();
    let before = ALLOCATIONS.with(Cell::get);
    round();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn recogniser_steps_without_allocation() {
    let mut parts = ScriptDef::default();
    let x = parts.variable("x", Type::Int);
    let mode = parts.variable("mode", Type::String);
    let f = parts.method("f", &[Some(Type::String), Some(Type::Int)], Some(Type::Double));
    let (read, by) = (parts.read(x).unwrap(), parts.constant(Value::Int(7)));
    let rest = parts.binary(Binary::Remainder, read, by).unwrap();
    let zero = parts.constant(Value::Int(0));
    let divisible = parts.binary(Binary::Equal, rest, zero).unwrap();
    let c = parts.define_condition("c", divisible).unwrap();
    parts.export_condition(c).unwrap();
    let (read, name) = (parts.read(mode).unwrap(), parts.constant(Value::String("a mode with a long name")));
    let in_mode = parts.binary(Binary::Equal, read, name).unwrap();
    let start = parts.start_of(f).unwrap();
    let started = parts.when(start, in_mode).unwrap();
    let e = parts.define_event("e", started).unwrap();
    parts.export_event(e).unwrap();
    let started = parts.event(e).unwrap();
    let (kept, suffix) = (parts.value(started, 0).unwrap(), parts.constant(Value::String("!")));
    let joined = parts.binary(Binary::Add, kept, suffix).unwrap();
    let (wanted, fault) = (parts.constant(Value::String("the argument!")), parts.read(x).unwrap());
    let same = parts.binary(Binary::Equal, joined, wanted).unwrap();
    let broken = parts.binary(Binary::Divide, fault, fault).unwrap();
    let broken = parts.binary(Binary::Equal, broken, fault).unwrap();
    for (name, condition) in [("d", same), ("broken", broken)] {
        let id = parts.define_condition(name, condition).unwrap();
        parts.export_condition(id).unwrap();
    }

    let mut recogniser = Recogniser::new(parts).unwrap();
    let (mut reported, mut faults) = (0, 0);
    let count = warm(|| {
        for n in 0..2_000 {
            let group = recogniser.snapshot(Snapshot::Update(x, Value::Int(n % 50)), n.into()).unwrap();
            reported += group.conditions().len();
            faults += recogniser.faults().len();
            let name = if n % 3 == 0 { "a mode with a long name" } else { "another mode" };
            recogniser.snapshot(Snapshot::Update(mode, Value::String(name)), n.into()).unwrap();
            let arguments = [Value::String("the argument"), Value::Int(n)];
            reported += recogniser.snapshot(Snapshot::Start(f, &arguments), n.into()).unwrap().events().len();
            let end = Snapshot::End(f, &arguments, Value::Double(1.5));
            recogniser.snapshot(end, n.into()).unwrap();
            recogniser.snapshot(Snapshot::Invalidated(&[mode]), n.into()).unwrap();
        }
    });
    assert_eq!(count, 0);
    assert!(reported > 1_000 && faults > 10, "{reported} {faults}");
}

#[test]
fn checker_steps_without_allocation() {
    let mut parts = ScriptDef::default();
    let push = parts.import_event("push", &[Type::String, Type::Int]);
    let ready = parts.import_condition("ready");
    let count = parts.auxiliary("count", Type::Long, Value::Long(0)).unwrap();
    let last = parts.auxiliary("last", Type::String, Value::Undefined).unwrap();
    let (read, ten) = (parts.unprimed(count).unwrap(), parts.constant(Value::Int(10)));
    let rest = parts.binary(Binary::Remainder, read, ten).unwrap();
    let nine = parts.constant(Value::Int(9));
    let few = parts.binary(Binary::NotEqual, rest, nine).unwrap();
    parts.property("few", few).unwrap();
    let (event, ready) = (parts.event(push).unwrap(), parts.condition(ready).unwrap());
    let alarm = parts.when(event, ready).unwrap();
    parts.alarm("pushed", alarm).unwrap();
    let guard = parts.guard(event).unwrap();
    let (read, one) = (parts.unprimed(count).unwrap(), parts.constant(Value::Int(1)));
    let more = parts.binary(Binary::Add, read, one).unwrap();
    parts.assign(guard, count, more).unwrap();
    let name = parts.value(event, 0).unwrap();
    parts.assign(guard, last, name).unwrap();
    let (old, new) = (parts.unprimed(last).unwrap(), parts.primed(last).unwrap());
    let line = parts.binary(Binary::Add, old, new).unwrap();
    let number = parts.value(event, 1).unwrap();
    let line = parts.binary(Binary::Add, line, number).unwrap();
    parts.print(guard, line).unwrap();

    let mut checker = Checker::new(parts).unwrap();
    let mut group = EventGroup::default();
    let mut found = 0;
    let count = warm(|| {
        for n in 0..2_000 {
            group.begin(n.into());
            if n % 2 == 0 {
                group.event(0);
                group.value(Value::String(if n % 4 == 0 {
                    "somebody"
                } else {
                    "somebody else, with a long name"
                }));
                group.value(Value::Int(n));
            }
            group.condition(0, if n % 5 == 0 { Truth::True } else { Truth::Undefined });
            let findings = checker.instant(&group);
            found += findings.properties().len() + findings.alarms().len() + findings.actions().count();
        }
    });
    assert_eq!(count, 0);
    assert!(found > 2_000, "{found}");
}
