//! Following events allocates nothing: a monitor must be able to run inside a watched process.

use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_expr::value::Value;
use invigil_lang::prop;
use invigil_monitor::event::{Batch, Catalog, Kind, Stamp};
use invigil_monitor::observer::Observer;
use invigil_monitor::{Monitor, Scratch};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of what this thread asks of it.
struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Printing(u64);

impl Observer for Printing {
    fn printing(&self) -> bool {
        true
    }
    fn print(&mut self, line: &str) {
        self.0 += line.len() as u64;
    }
}

/// How often memory was allocated while a property followed a run for the second time: the first time,
/// tables and registers grow to what they need.
fn allocations(property: &str, events: impl Fn(&Catalog, &mut Batch)) -> u64 {
    let mut catalog = Catalog::default();
    let (parsed, problems) = prop::parse(SourceId(0), property);
    assert!(problems.is_empty(), "{problems:?}");
    let (automaton, problems) = prop::lower::lower("test", &parsed, &[], &mut catalog);
    assert!(!problems.iter().any(Diagnostic::is_error), "{problems:#?}");
    let automaton = automaton.unwrap();
    let mut batch = Batch::default();
    events(&catalog, &mut batch);
    let (mut scratch, mut printing) = (Scratch::default(), Printing(0));
    let mut slices = automaton.start(&mut scratch, &mut printing);
    let mut counts = [0; 2];
    for count in &mut counts {
        let before = ALLOCATIONS.with(Cell::get);
        automaton.run(&mut slices, &mut scratch, &batch, 0..batch.len(), &mut printing, |_, _, _, _| {
            ControlFlow::Continue(())
        });
        *count = ALLOCATIONS.with(Cell::get) - before;
    }
    assert!(slices.failure().is_none(), "{:?}", slices.failure());
    assert!(printing.0 > 0, "it ran");
    counts[1]
}

fn push(catalog: &Catalog, batch: &mut Batch, name: &str, params: &[Value]) {
    let symbol = catalog.find(name, Kind::Before).expect(name);
    batch.push(symbol, params, Stamp { time: 0.0, line: 0 });
}

#[test]
fn counters_in_many_slices() {
    let property = "slice on q\ninitialization { N = 0 }\nstate init accepting {\n\
        transition { event push(q) { return N < 9 }\n success { N = N + 1\nprint('N = ' + str(N)) } init\n\
        failure { N = N * 0 } init } }";
    let count = allocations(property, |catalog, batch| {
        (0..20_000).for_each(|i| push(catalog, batch, "push", &[Value::int(i * 7 % 500)]));
    });
    assert_eq!(count, 0);
}

#[test]
fn sets_dicts_lists_and_long_strings() {
    let property = "slice on a, b\ninitialization {\nseen = set()\nlast = {}\nrecent = []\n}\nstate init {\n\
        transition { event e(a, b, name)\n success {\nseen.add(name)\nlast[name] = len(seen)\n\
        recent.append(name)\nif len(recent) > 3:\n    recent.pop(0)\n\
        if len(seen) > 20:\n    seen = set()\n    last = {}\n\
        print(f'{name}: {len(seen)} of {last.get(name, 0):04d}', name in seen, recent[-1] == name)\n} init } }";
    let count = allocations(property, |catalog, batch| {
        for i in 0..5_000i64 {
            let start = batch.text.len() as u32;
            let name = format!("a name that is too long for a value, number {}", i % 37);
            batch.text.push_str(&name);
            let name = Value::text(start, name.len() as u32);
            push(catalog, batch, "e", &[Value::int(i % 5), Value::int(i % 3), name]);
        }
    });
    assert_eq!(count, 0);
}
