//! An engine outside of the host of embedded monitors: each thread keeps the state of its objects in a block of its own and
//! steps without the lock of the host. Verdicts, states and the replay log are those of plain stepping.

use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, AutomatonDef};
use invigil_monitor::embedded::{
    EmbeddedMonitor, EmbeddedMonitors, ExternalEngine, ExternalStep, HostReply, HostRequest, LoadedAutomata,
    MonitorHost, MonitorUpload,
};
use invigil_monitor::event::{Event, EventCatalog, EventId};
use invigil_monitor::observer::{NoopObserver, Observer, TransitionTaken};
use invigil_monitor::slices::{SliceId, SliceTable};
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::{Rng, language};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

const ACCOUNT: &str = "
slice on object
initialization { N = 0 }
state init accepting {
    transition { event add(object: int, amount: int) success { N = amount } ok }
}
state ok accepting {
    transition { event add(object: int, amount: int) { return N + amount <= 100 }
                 success { N = N + amount } ok failure over }
    transition { event reset(object: int) success { N = 0 } ok }
}
state over non-accepting {
    transition { event reset(object: int) success { N = 0 } ok }
}";
const OK: u16 = 1;
const ADD: EventId = EventId(0);
const RESET: EventId = EventId(1);
const THREADS: usize = 4;

/// The objects of one thread.
#[derive(Default)]
struct Block {
    /// Object, slice and total of each account in the state `ok`.
    accounts: Vec<(i64, SliceId, i64)>,
    /// Time, event and parameters.
    log: Vec<(u64, EventId, Vec<i64>)>,
    thread: u32,
}

impl Block {
    /// Steps on an event, unless the host has to do it.
    fn step(&mut self, clock: &AtomicU64, event: EventId, params: &[i64]) -> bool {
        let account = self.accounts.iter_mut().find(|(object, ..)| *object == params[0]);
        let Some((_, _, total)) = account else { return false };
        match event {
            ADD if *total + params[1] > 100 => return false,
            ADD => *total += params[1],
            _ => *total = 0,
        }
        self.log.push((clock.fetch_add(1, Ordering::SeqCst), event, params.to_vec()));
        true
    }
}

/// All blocks, while the host uses the monitors.
struct Blocks<'a>(Vec<MutexGuard<'a, Block>>);

impl ExternalEngine for Blocks<'_> {
    fn write_back(&mut self, monitors: Option<&mut EmbeddedMonitors>) -> bool {
        let Some(monitors) = monitors else { return true };
        let mut steps = Vec::new();
        for block in &mut self.0 {
            let thread = block.thread;
            steps.extend(block.log.drain(..).map(|step| (step, thread)));
            for (_, slice, total) in block.accounts.drain(..) {
                assert!(monitors.set_slice_state(slice, OK, &[total]));
            }
        }
        steps.sort();
        monitors.append_external_steps(steps.iter().map(|((_, event, params), thread)| ExternalStep {
            thread: *thread,
            event: *event,
            params,
            taken: true,
        }));
        true
    }

    fn restart(&mut self, monitors: Option<&mut EmbeddedMonitors>, is_frozen: bool) {
        if is_frozen {
            return;
        }
        let Some(monitors) = monitors else { return };
        let slices = &monitors.monitors()[0].slices;
        for slice in slices.iter().filter(|slice| slices.state(*slice) == OK) {
            let (Some(object), Some(total)) =
                (slices.binding(slice)[0].as_int(), slices.env(slice)[0].as_int())
            else {
                continue;
            };
            self.0[object as usize % THREADS].accounts.push((object, slice, total));
        }
    }

    fn discard(&mut self, monitors: Option<&mut EmbeddedMonitors>) {
        self.write_back(monitors);
    }
}

/// Counts transitions and violations.
#[derive(Default)]
struct Counts<'a> {
    automaton: Option<&'a Automaton>,
    steps: u64,
    violations: u64,
}

impl Observer for Counts<'_> {
    fn transition_taken(&mut self, _: &SliceTable, taken: TransitionTaken) {
        self.steps += 1;
        self.violations +=
            u64::from(self.automaton.is_some_and(|automaton| automaton.is_violation(taken.from, taken.to)));
    }
}

/// The debugger: replays logs, and uploads the monitors again.
struct Debugger {
    automaton: Arc<Automaton>,
    slices: SliceTable,
    steps: u64,
    violations: u64,
    events: u64,
    threads: Vec<u64>,
}

impl Debugger {
    fn upload(&self, host: &mut MonitorHost, engine: &mut Blocks<'_>) {
        let reactions = vec![0; self.automaton.states.len()];
        let monitor = EmbeddedMonitor {
            automaton: Arc::clone(&self.automaton),
            slices: self.slices.clone(),
            reactions,
        };
        let upload = MonitorUpload::new(&[monitor], &[]);
        assert!(matches!(host.answer(HostRequest::Upload(upload), engine), HostReply::Done));
    }

    fn drain(&mut self, host: &mut MonitorHost, engine: &mut Blocks<'_>) {
        assert!(engine.write_back(host.monitors_mut()));
        let state = host.monitors_mut().unwrap().monitors()[0].slices.clone();
        let HostReply::Drained(Some(log)) = host.answer(HostRequest::Drain, engine) else { panic!("no log") };
        let reactions = vec![0; self.automaton.states.len()];
        let known = EmbeddedMonitor {
            automaton: Arc::clone(&self.automaton),
            slices: self.slices.clone(),
            reactions,
        };
        let log = log.decode(&LoadedAutomata::of(&[known])).expect("a sound log");
        self.steps += log.evicted[0].steps;
        self.events += log.evicted_events + log.events.len() as u64;
        self.slices = log.base[0].clone();
        let mut counts = Counts { automaton: Some(&self.automaton), ..Counts::default() };
        for at in 0..log.events.len() {
            self.automaton.step(
                &mut self.slices,
                &mut Scratch::default(),
                &log.events.event(at),
                &mut counts,
            );
            self.threads[log.threads[at] as usize] += 1;
        }
        self.steps += counts.steps;
        self.violations += counts.violations;
        assert_eq!(self.slices, state, "replaying the log reaches the state of the host");
    }
}

/// Runs random events of several threads. Returns the number of events that the blocks stepped, and of violations.
fn run(seed: u64, length: usize) -> (usize, u64) {
    let mut catalog = EventCatalog::default();
    let automaton = Arc::new(language::property("account", ACCOUNT, &mut catalog));
    let start = || automaton.start(&mut Scratch::default(), &mut NoopObserver);
    let debugger = Debugger {
        automaton: Arc::clone(&automaton),
        slices: start(),
        steps: 0,
        violations: 0,
        events: 0,
        threads: vec![0; THREADS],
    };
    let blocks: Vec<Mutex<Block>> =
        (0..THREADS).map(|thread| Mutex::new(Block { thread: thread as u32, ..Block::default() })).collect();
    let lock_all = || Blocks(blocks.iter().map(|block| block.lock().unwrap()).collect());
    let mut host = MonitorHost::new();
    host.answer(HostRequest::LoadAutomata(vec![AutomatonDef::clone(&automaton)]), &mut lock_all());
    debugger.upload(&mut host, &mut lock_all());
    let host = Mutex::new((host, debugger));
    let clock = AtomicU64::new(0);
    let random = Rng::new(seed | 1);
    let events: Vec<Vec<(EventId, Vec<i64>)>> = (0..THREADS)
        .map(|thread| {
            let one = |_| {
                let object = (random.below(5) * THREADS + thread) as i64;
                match random.below(6) {
                    0 => (RESET, vec![object]),
                    _ => (ADD, vec![object, random.below(40) as i64]),
                }
            };
            (0..length).map(one).collect()
        })
        .collect();
    let in_blocks = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for (thread, events) in events.iter().enumerate() {
            let (block, host, clock, in_blocks, lock_all) =
                (&blocks[thread], &host, &clock, &in_blocks, &lock_all);
            scope.spawn(move || {
                for (event, params) in events {
                    if block.lock().unwrap().step(clock, *event, params) {
                        in_blocks.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    let (host, debugger) = &mut *host.lock().unwrap();
                    let mut engine = lock_all();
                    assert!(engine.write_back(host.monitors_mut()));
                    let reacts =
                        host.step_site(|monitors| monitors.step_ints(*event, params, thread as u32)).unwrap();
                    assert_eq!(reacts, host.is_frozen());
                    if reacts {
                        debugger.drain(host, &mut engine);
                        debugger.upload(host, &mut engine);
                    } else {
                        engine.restart(host.monitors_mut(), false);
                    }
                }
            });
        }
    });
    let (mut host, mut debugger) = host.into_inner().unwrap();
    debugger.drain(&mut host, &mut lock_all());

    // Plain stepping, one thread after the other: events of different objects commute.
    let mut plain = start();
    let mut counts = Counts { automaton: Some(&automaton), ..Counts::default() };
    let mut needed = 0;
    for events in &events {
        for (event, params) in events {
            let values: Vec<Value> = params.iter().map(|param| Value::int(*param)).collect();
            needed += u64::from(automaton.needs_event(&plain, *event));
            let event = Event { id: *event, params: &values, text: "" };
            automaton.step(&mut plain, &mut Scratch::default(), &event, &mut counts);
        }
    }
    assert_eq!(debugger.slices, plain);
    assert_eq!((debugger.steps, debugger.violations), (counts.steps, counts.violations));
    // Which events are not needed at the start of the run depends on the order of the threads.
    assert!(debugger.events.abs_diff(needed) <= (THREADS * 4) as u64, "{} {needed}", debugger.events);
    (in_blocks.into_inner() as usize, debugger.violations)
}

#[test]
fn engine_outside_of_the_host_is_equivalent_to_plain_stepping() {
    let (mut in_blocks, mut violations, mut events) = (0, 0, 0);
    for seed in 0..60 {
        let length = 40 + 7 * seed as usize;
        let (stepped, violated) = run(seed, length);
        in_blocks += stepped;
        violations += violated;
        events += THREADS * length;
    }
    assert!(in_blocks * 2 > events, "the engine stepped {in_blocks} of {events} events");
    assert!(violations > 100, "{violations}");
}
