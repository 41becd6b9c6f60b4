//! The same exchange with nothing but zenoh: no monitors, no rounds that can be asked for again, nothing decoded.

use super::cluster::ways;
use invigil_node::link::{Event, Link};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// How long nobody may be silent: nothing is lost on this machine.
const SILENCE: Duration = Duration::from_secs(30);

/// How long it takes that each of so many sends a payload to all others, and waits for theirs, so many times.
pub(super) fn exchange(count: usize, rounds: u32, size: usize) -> Result<Duration, String> {
    let (ways, _) = ways(count)?;
    let mut parties = Vec::new();
    for (place, way) in ways.iter().enumerate() {
        let link = Link::open(way)?;
        let (sender, events) = channel();
        let presence = link.appear(&place.to_string(), move |event| {
            // Who does not listen any more is done.
            let _ = sender.send(event);
        })?;
        parties.push((link, presence, events));
    }
    let start = Arc::new(Barrier::new(count));
    let work = parties.into_iter().enumerate().map(|(place, (link, presence, events))| {
        let start = Arc::clone(&start);
        thread::spawn(move || {
            let gathered = gather(&events, count);
            start.wait();
            let began = Instant::now();
            let done = gathered.and_then(|()| party(&link, &events, place, count, rounds, size));
            let took = began.elapsed();
            start.wait();
            drop(presence);
            link.close();
            done.map(|()| took)
        })
    });
    let work: Vec<_> = work.collect();
    let mut longest = Duration::ZERO;
    for party in work {
        longest = longest.max(party.join().map_err(|_| "zenoh alone broke down")??);
    }
    Ok(longest)
}

/// Waits until all are here.
fn gather(events: &Receiver<Event>, count: usize) -> Result<(), String> {
    let mut here = 0;
    while here < count {
        here += usize::from(matches!(next(events)?, Event::Here(_)));
    }
    Ok(())
}

fn party(
    link: &Link,
    events: &Receiver<Event>,
    own: usize,
    count: usize,
    rounds: u32,
    size: usize,
) -> Result<(), String> {
    let names: Vec<String> = (0..count).map(|place| place.to_string()).collect();
    let mut post = link.post(&names[own]);
    let mut came = vec![0; count];
    for round in 1..=rounds {
        for other in (0..count).filter(|place| *place != own) {
            post.send(&names[other], vec![0; size])?;
        }
        came[own] = round;
        while came.iter().any(|came| *came < round) {
            if let Event::Mail(from, _) = next(events)?
                && let Some(place) = names.iter().position(|name| *name == from)
            {
                came[place] += 1;
            }
        }
    }
    Ok(())
}

fn next(events: &Receiver<Event>) -> Result<Event, String> {
    events.recv_timeout(SILENCE).map_err(|_| "zenoh alone stands still".to_owned())
}
