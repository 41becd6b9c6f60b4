//! Following events does not allocate: monitors must be able to run inside the target.

use invigil_expr::value::Value;
use invigil_monitor::event::{EventBatch, EventCatalog, EventKind, EventMeta};
use invigil_monitor::observer::Observer;
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::language;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system allocator, with a count of this thread's requests.
struct Counting;

// SAFETY: every call is forwarded to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Printing(u64);

impl Observer for Printing {
    fn wants_output(&self) -> bool {
        true
    }
    fn print(&mut self, line: &str) {
        self.0 += line.len() as u64;
    }
}

/// Counts the allocations while a property follows a run for the second time: during the first run, tables and
/// registers grow to their final size.
fn allocations(property: &str, events: impl Fn(&EventCatalog, &mut EventBatch)) -> u64 {
    let (automaton, catalog) = language::compile(property);
    let mut batch = EventBatch::default();
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
    assert!(slices.fault().is_none(), "{:?}", slices.fault());
    assert!(printing.0 > 0, "it ran");
    counts[1]
}

fn push(catalog: &EventCatalog, batch: &mut EventBatch, name: &str, params: &[Value]) {
    let symbol = catalog.find(name, EventKind::Before).expect(name);
    batch.push(symbol, params, EventMeta { time: 0.0, line: 0 });
}

#[test]
fn counters_in_many_slices_do_not_allocate() {
    let property = "slice on q\ninitialization { N = 0 }\nstate init accepting {\n\
        transition { event push(q) { return N < 9 }\n success { N = N + 1\nprint('N = ' + str(N)) } init\n\
        failure { N = N * 0 } init } }";
    let count = allocations(property, |catalog, batch| {
        (0..20_000).for_each(|i| push(catalog, batch, "push", &[Value::int(i * 7 % 500)]));
    });
    assert_eq!(count, 0);
}

#[test]
fn collections_and_strings_stop_allocating() {
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
