//! Reader of the ring buffer.

use crate::ring::{FIRST_PAYLOAD, INTEGERS, MORE, MORE_PAYLOAD, NO_TIME, Ring, SLOT_WORDS, VALUES};
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use invigil_expr::value::{SHORT_STRING, Value};
use invigil_monitor::event::{Event, EventBatch, EventId, EventMeta};

/// Error: the contents of the ring are not a sequence of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptRingError;

/// Takes events out of a ring. There is one reader per ring.
///
/// The target can overwrite the ring, so the reader trusts nothing in it: it returns events or [`CorruptRingError`],
/// and always terminates.
#[derive(Debug)]
pub struct Reader {
    ring: Ring,
    at: u64,
    /// End of the last event, once the writers have finished.
    last: Option<u64>,
    words: Vec<u64>,
    values: Vec<Value>,
}

impl Reader {
    /// Creates the reader of a ring.
    pub fn new(ring: Ring) -> Reader {
        Reader { ring, at: 0, last: None, words: Vec::new(), values: Vec::new() }
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Takes up to a quarter of the ring, and returns whether there was anything. With `is_final`, the writers have
    /// finished, and events that were begun but not completed are skipped.
    ///
    /// # Errors
    /// If the ring holds anything but events.
    pub fn take(
        &mut self,
        events: &mut EventBatch,
        threads: &mut Vec<u32>,
        is_final: bool,
    ) -> Result<bool, CorruptRingError> {
        let (start, end) = (self.at, self.at + self.ring.count() / 4);
        if is_final && self.last.is_none() {
            self.last = Some(self.ring.written().min(self.at + self.ring.count()));
        }
        let last = self.last.unwrap_or(0);
        while self.at < end {
            let header = self.ring.slot(self.at)[0].load(Acquire);
            let is_there = (header >> 32) as u32 == self.ring.round(self.at);
            if !is_there || header as u8 == MORE {
                if self.at < last {
                    self.at += 1;
                    continue;
                }
                if is_there {
                    return Err(CorruptRingError);
                }
                break;
            }
            self.take_event(header, events, threads)?;
        }
        if self.at > start {
            self.ring.set_read(self.at);
        }
        Ok(self.at > start)
    }

    /// Sleeps for so many nanoseconds, or until there is much to read.
    pub fn sleep(&self, nanoseconds: u64) {
        self.ring.sleep(nanoseconds);
    }

    /// Takes the event with this header.
    fn take_event(
        &mut self,
        header: u64,
        events: &mut EventBatch,
        threads: &mut Vec<u32>,
    ) -> Result<(), CorruptRingError> {
        let (kind, count, slots) =
            (header as u8, usize::from((header >> 8) as u8), u64::from((header >> 16) as u16));
        let capacity = FIRST_PAYLOAD + MORE_PAYLOAD * (slots.max(1) - 1) as usize;
        if slots == 0 || slots > self.ring.count() {
            return Err(CorruptRingError);
        }
        let first = self.ring.slot(self.at);
        let [event, thread] = [first[1].load(Relaxed) as u32, (first[1].load(Relaxed) >> 32) as u32];
        let time = match first[2].load(Relaxed) {
            NO_TIME => f64::NAN,
            nanoseconds => nanoseconds as f64 / 1e9,
        };
        let (event, stamp) = (EventId(event), EventMeta { time, line: 0 });
        match kind {
            INTEGERS if slots == 1 && count <= FIRST_PAYLOAD => {
                let mut numbers = [0; FIRST_PAYLOAD];
                for (number, word) in numbers.iter_mut().zip(&first[SLOT_WORDS - FIRST_PAYLOAD..]) {
                    *number = word.load(Relaxed) as i64;
                }
                events.push_ints(event, &numbers[..count], stamp);
            }
            INTEGERS if count <= capacity => {
                self.fetch(slots);
                self.values.clear();
                self.values.extend(self.words[..count].iter().map(|word| Value::int(*word as i64)));
                events.push(event, &self.values, stamp);
            }
            VALUES if count * 2 < capacity => {
                self.fetch(slots);
                let text = self.text(count)?;
                self.values.clear();
                let pairs = self.words[..count * 2].chunks(2);
                self.values.extend(pairs.map(|pair| Value::from_bits((pair[0], pair[1]))));
                if !self.values.iter().all(|value| is_sound(*value, &text)) {
                    return Err(CorruptRingError);
                }
                events.push_copy(&Event { id: event, params: &self.values, text: &text }, stamp);
            }
            _ => return Err(CorruptRingError),
        }
        threads.push(thread);
        self.at += slots;
        Ok(())
    }

    /// Reads the words of an event's parameters.
    fn fetch(&mut self, slots: u64) {
        self.words.clear();
        for number in 0..slots {
            let from = if number == 0 { SLOT_WORDS - FIRST_PAYLOAD } else { SLOT_WORDS - MORE_PAYLOAD };
            let slot = self.ring.slot(self.at + number);
            self.words.extend(slot[from..].iter().map(|word| word.load(Relaxed)));
        }
    }

    /// The text of an event with so many parameters.
    fn text(&self, count: usize) -> Result<String, CorruptRingError> {
        let length = usize::try_from(self.words[count * 2]).map_err(|_| CorruptRingError)?;
        let words = &self.words[count * 2 + 1..];
        if length > words.len() * 8 {
            return Err(CorruptRingError);
        }
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
        bytes.truncate(length);
        String::from_utf8(bytes).map_err(|_| CorruptRingError)
    }
}

/// Whether a value is inline or refers to a part of the text.
fn is_sound(value: Value, text: &str) -> bool {
    match value.as_text() {
        Some((start, length)) => {
            let (start, length) = (start as usize, length as usize);
            length > SHORT_STRING && text.get(start..start.saturating_add(length)).is_some()
        }
        None => value.is_inline(),
    }
}

#[cfg(test)]
mod tests;
