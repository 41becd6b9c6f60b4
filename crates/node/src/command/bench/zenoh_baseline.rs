//! Baseline: the same exchange with zenoh alone, without monitors, repeated requests and decoding.

use super::cluster::link_options;
use invigil_node::link::{Link, NetworkEvent};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// Timeout for a payload; nothing is lost on one machine.
const PAYLOAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Measures how long `count` parties take to exchange payloads all to all for the given number of rounds.
pub(super) fn exchange(count: usize, rounds: u32, size: usize) -> Result<Duration, String> {
    let (link_options, _) = link_options(count)?;
    let mut parties = Vec::new();
    for (index, options) in link_options.iter().enumerate() {
        let link = Link::open(options)?;
        let (sender, events) = channel();
        let registration = link.register(&index.to_string(), move |event| {
            // A party that no longer listens has finished.
            let _ = sender.send(event);
        })?;
        parties.push((link, registration, events));
    }
    let start = Arc::new(Barrier::new(count));
    let work = parties.into_iter().enumerate().map(|(index, (link, registration, events))| {
        let start = Arc::clone(&start);
        thread::spawn(move || {
            let gathered = gather(&events, count);
            start.wait();
            let began = Instant::now();
            let result = gathered.and_then(|()| party(&link, &events, index, count, rounds, size));
            let took = began.elapsed();
            start.wait();
            drop(registration);
            link.close();
            result.map(|()| took)
        })
    });
    let work: Vec<_> = work.collect();
    let mut longest = Duration::ZERO;
    for party in work {
        longest = longest.max(party.join().map_err(|_| "a party of the zenoh baseline panicked")??);
    }
    Ok(longest)
}

/// Waits until all parties are up.
fn gather(events: &Receiver<NetworkEvent>, count: usize) -> Result<(), String> {
    let mut up = 0;
    while up < count {
        up += usize::from(matches!(next(events)?, NetworkEvent::NodeUp(_)));
    }
    Ok(())
}

fn party(
    link: &Link,
    events: &Receiver<NetworkEvent>,
    index: usize,
    count: usize,
    rounds: u32,
    size: usize,
) -> Result<(), String> {
    let names: Vec<String> = (0..count).map(|index| index.to_string()).collect();
    let mut outgoing = link.outgoing(&names[index]);
    let mut received = vec![0; count];
    for round in 1..=rounds {
        for other in (0..count).filter(|other| *other != index) {
            outgoing.send(&names[other], vec![0; size])?;
        }
        received[index] = round;
        while received.iter().any(|received| *received < round) {
            if let NetworkEvent::Message(from, _) = next(events)?
                && let Some(index) = names.iter().position(|name| *name == from)
            {
                received[index] += 1;
            }
        }
    }
    Ok(())
}

fn next(events: &Receiver<NetworkEvent>) -> Result<NetworkEvent, String> {
    events.recv_timeout(PAYLOAD_TIMEOUT).map_err(|_| "timeout in the zenoh baseline".to_owned())
}
