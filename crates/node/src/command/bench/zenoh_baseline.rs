//! Baseline: the same exchange with zenoh alone, without monitors, repeated requests and decoding.

use super::cluster::link_options;
use invigil_node::link::{Link, NetworkEvent};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// Timeout for a payload; nothing is lost on one machine.
const SILENCE: Duration = Duration::from_secs(30);

/// Measures how long `count` parties take to exchange payloads all to all for the given number of rounds.
pub(super) fn exchange(count: usize, rounds: u32, size: usize) -> Result<Duration, String> {
    let (link_options, _) = link_options(count)?;
    let mut parties = Vec::new();
    for (place, options) in link_options.iter().enumerate() {
        let link = Link::open(options)?;
        let (sender, events) = channel();
        let registration = link.register(&place.to_string(), move |event| {
            // A party that no longer listens is done.
            let _ = sender.send(event);
        })?;
        parties.push((link, registration, events));
    }
    let start = Arc::new(Barrier::new(count));
    let work = parties.into_iter().enumerate().map(|(place, (link, registration, events))| {
        let start = Arc::clone(&start);
        thread::spawn(move || {
            let gathered = gather(&events, count);
            start.wait();
            let began = Instant::now();
            let done = gathered.and_then(|()| party(&link, &events, place, count, rounds, size));
            let took = began.elapsed();
            start.wait();
            drop(registration);
            link.close();
            done.map(|()| took)
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
    let mut here = 0;
    while here < count {
        here += usize::from(matches!(next(events)?, NetworkEvent::NodeUp(_)));
    }
    Ok(())
}

fn party(
    link: &Link,
    events: &Receiver<NetworkEvent>,
    own: usize,
    count: usize,
    rounds: u32,
    size: usize,
) -> Result<(), String> {
    let names: Vec<String> = (0..count).map(|place| place.to_string()).collect();
    let mut outgoing = link.outgoing(&names[own]);
    let mut came = vec![0; count];
    for round in 1..=rounds {
        for other in (0..count).filter(|place| *place != own) {
            outgoing.send(&names[other], vec![0; size])?;
        }
        came[own] = round;
        while came.iter().any(|came| *came < round) {
            if let NetworkEvent::Message(from, _) = next(events)?
                && let Some(place) = names.iter().position(|name| *name == from)
            {
                came[place] += 1;
            }
        }
    }
    Ok(())
}

fn next(events: &Receiver<NetworkEvent>) -> Result<NetworkEvent, String> {
    events.recv_timeout(SILENCE).map_err(|_| "timeout in the zenoh baseline".to_owned())
}
