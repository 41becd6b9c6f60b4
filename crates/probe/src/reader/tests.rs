use super::*;
use crate::ring::{EventHeader, PushOutcome};
use alloc::format;
use alloc::vec;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

/// Memory for a ring.
struct RingMemory(Vec<[u64; 8]>);

const BITS: u32 = Ring::MIN_BITS;

impl RingMemory {
    fn new() -> RingMemory {
        RingMemory(vec![[0; 8]; Ring::bytes(BITS) / 64 + 1])
    }

    fn ring(&self) -> Ring {
        let at = self.0.as_ptr() as usize;
        // SAFETY: the memory has room for a ring aligned to 64 bytes, and outlives its use in the tests.
        unsafe { Ring::new(at.next_multiple_of(64) as *const u8, BITS) }
    }
}

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *seed >> 33
}

/// Parameters of a thread's event of this number: few integers, many, or texts.
fn generate_event(thread: u32, number: u64) -> (Vec<Value>, String) {
    let mut seed = u64::from(thread) << 32 | number;
    match random(&mut seed) % 4 {
        0 | 1 => (vec![Value::int(number as i64), Value::int(-7)], String::new()),
        2 => ((0..random(&mut seed) % 9).map(|n| Value::int((n ^ number) as i64)).collect(), String::new()),
        _ => {
            let text = format!("ü{number}").repeat(8 + random(&mut seed) as usize % 100);
            let values = vec![Value::text(0, text.len() as u32), Value::float(0.5), Value::UNSET];
            (values, text)
        }
    }
}

fn push(ring: &Ring, thread: u32, number: u64) -> PushOutcome {
    let (values, text) = generate_event(thread, number);
    let entry = EventHeader { event: EventId(number as u32), thread, time: number * 1_000_000_000 };
    let numbers: Option<Vec<i64>> = values.iter().map(|value| value.as_int()).collect();
    match numbers {
        Some(numbers) => ring.push_ints(&entry, &numbers, &|| false),
        None => ring.push(&entry, &values, &text, &|| false),
    }
}

/// Numbers of the events of each thread, which are checked against the generated ones.
fn numbers(events: &EventBatch, threads: &[u32]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new(); 4];
    for (at, thread) in threads.iter().enumerate() {
        let event = events.event(at);
        let (values, text) = generate_event(*thread, u64::from(event.id.0));
        assert_eq!(events.meta(at).time, f64::from(event.id.0));
        assert_eq!(values.len(), event.params.len());
        for (expected, value) in values.iter().zip(event.params) {
            match value.as_text() {
                Some((start, length)) => {
                    assert_eq!(event.text[start as usize..start as usize + length as usize], text);
                }
                None => assert_eq!(value.bits(), expected.bits()),
            }
        }
        all[*thread as usize].push(u64::from(event.id.0));
    }
    all
}

/// Four threads write events while another one reads them.
fn streamed(each: u64, lossy: bool) -> (Vec<Vec<u64>>, u64) {
    let memory = RingMemory::new();
    let ring = memory.ring();
    ring.set_lossy(lossy);
    let over = AtomicBool::new(false);
    let (mut events, mut all) = (EventBatch::default(), Vec::new());
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut reader = Reader::new(ring);
            loop {
                let is_final = over.load(SeqCst);
                if reader.take(&mut events, &mut all, is_final) == Ok(false) {
                    if is_final {
                        break;
                    }
                    reader.sleep(1_000_000);
                }
            }
        });
        let writing: Vec<_> = (0..4)
            .map(|thread| {
                scope.spawn(move || {
                    for number in 0..each {
                        push(&ring, thread, number);
                    }
                })
            })
            .collect();
        writing.into_iter().for_each(|thread| thread.join().unwrap());
        over.store(true, SeqCst);
        reading.join().unwrap();
    });
    (numbers(&events, &all), ring.lost())
}

#[test]
fn reader_returns_all_events_of_each_thread_in_order() {
    let (all, lost) = streamed(5000, false);
    assert_eq!(lost, 0);
    for numbers in all {
        assert!(numbers.iter().copied().eq(0..5000));
    }
}

#[test]
fn lossy_ring_counts_lost_events() {
    let (all, lost) = streamed(5000, true);
    assert_eq!(all.iter().map(|numbers| numbers.len() as u64).sum::<u64>() + lost, 4 * 5000);
    assert!(all.iter().all(|numbers| numbers.is_sorted()));
}

#[test]
fn final_reader_skips_incomplete_events() {
    let memory = RingMemory::new();
    let ring = memory.ring();
    for number in 0..30 {
        assert_eq!(push(&ring, 1, number), PushOutcome::Done);
        if number % 3 == 0 {
            assert!(ring.try_take(1 + number % 4).is_some());
        }
    }
    let (mut reader, mut events, mut threads) = (Reader::new(ring), EventBatch::default(), Vec::new());
    assert_eq!(reader.take(&mut events, &mut threads, false), Ok(true));
    assert_eq!(threads.len(), 1, "the rest may yet be finished");
    while reader.take(&mut events, &mut threads, true) == Ok(true) {}
    assert!(numbers(&events, &threads)[1].iter().copied().eq(0..30));
}

#[test]
fn full_ring_rejects_writers_that_may_not_wait() {
    let memory = RingMemory::new();
    let ring = memory.ring();
    let entry = EventHeader { event: EventId(1), thread: 1, time: NO_TIME };
    for _ in 0..1 << BITS {
        assert_eq!(ring.push_ints(&entry, &[1], &|| true), PushOutcome::Done);
    }
    assert_eq!(ring.push_ints(&entry, &[1], &|| true), PushOutcome::WouldBlock);
    ring.close();
    assert_eq!(ring.push_ints(&entry, &[1], &|| false), PushOutcome::Lost);
    assert_eq!(ring.lost(), 0, "it was not needed");
    ring.set_lossy(true);
    assert_eq!(ring.push_ints(&entry, &[1], &|| false), PushOutcome::Lost);
    assert_eq!(ring.lost(), 1);
}

#[test]
fn corrupt_ring_never_yields_unsound_events() {
    let mut seed = 7;
    for round in 0..300 {
        let mut memory = RingMemory::new();
        let ring = memory.ring();
        for number in 0..50 {
            push(&ring, 2, number);
        }
        for _ in 0..=round % 20 {
            let at = random(&mut seed) as usize % if round % 2 == 0 { 200 } else { memory.0.len() };
            let word = random(&mut seed) as usize % 8;
            let bits = random(&mut seed) << 40 ^ random(&mut seed) << 16 ^ random(&mut seed);
            memory.0[at][word] = if round % 3 == 0 { bits } else { memory.0[at][word] ^ 1 << (bits % 64) };
        }
        let (mut reader, mut events, mut threads) =
            (Reader::new(memory.ring()), EventBatch::default(), Vec::new());
        while reader.take(&mut events, &mut threads, true) == Ok(true) {}
        assert!(events.is_sound() && events.len() == threads.len());
    }
}
