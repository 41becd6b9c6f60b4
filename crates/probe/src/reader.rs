//! The side of the ring that takes events out of it.

use crate::ring::{FIRST, FURTHER, INTEGERS, MORE, NO_TIME, Ring, SLOT, VALUES};
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use invigil_expr::value::{SHORT_STRING, Value};
use invigil_monitor::event::{Batch, Event, Stamp, SymbolId};

/// What lies in the ring is nothing that was ever put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled;

/// Takes events out of a ring; there is one for a ring.
///
/// The program can write into the ring whatever it likes, so nothing in there is trusted: a reader gives events or says that
/// they are [`Garbled`], and always comes to an end.
#[derive(Debug)]
pub struct Reader {
    ring: Ring,
    at: u64,
    /// Where the last event ends, when nobody writes any more.
    last: Option<u64>,
    words: Vec<u64>,
    values: Vec<Value>,
}

impl Reader {
    /// The reader of a ring.
    pub fn new(ring: Ring) -> Reader {
        Reader { ring, at: 0, last: None, words: Vec::new(), values: Vec::new() }
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Takes up to a quarter of the ring, and says whether anything was there. With `is_over`, nobody writes any more: what was
    /// begun and not finished is passed over.
    ///
    /// # Errors
    /// If what lies there is no event.
    pub fn take(
        &mut self,
        events: &mut Batch,
        threads: &mut Vec<u32>,
        is_over: bool,
    ) -> Result<bool, Garbled> {
        let (begun, end) = (self.at, self.at + self.ring.count() / 4);
        if is_over && self.last.is_none() {
            self.last = Some(self.ring.written().min(self.at + self.ring.count()));
        }
        let last = self.last.unwrap_or(0);
        while self.at < end {
            let head = self.ring.slot(self.at)[0].load(Acquire);
            let is_there = (head >> 32) as u32 == self.ring.round(self.at);
            if !is_there || head as u8 == MORE {
                if self.at < last {
                    self.at += 1;
                    continue;
                }
                if is_there {
                    return Err(Garbled);
                }
                break;
            }
            self.event(head, events, threads)?;
        }
        if self.at > begun {
            self.ring.set_read(self.at);
        }
        Ok(self.at > begun)
    }

    /// Sleeps for so many nanoseconds, or until there is much to do.
    pub fn sleep(&self, nanoseconds: u64) {
        self.ring.sleep(nanoseconds);
    }

    /// Takes the event whose head this is.
    fn event(&mut self, head: u64, events: &mut Batch, threads: &mut Vec<u32>) -> Result<(), Garbled> {
        let (kind, count, slots) =
            (head as u8, usize::from((head >> 8) as u8), u64::from((head >> 16) as u16));
        let room = FIRST + FURTHER * (slots.max(1) - 1) as usize;
        if slots == 0 || slots > self.ring.count() {
            return Err(Garbled);
        }
        let first = self.ring.slot(self.at);
        let [symbol, thread] = [first[1].load(Relaxed) as u32, (first[1].load(Relaxed) >> 32) as u32];
        let time = match first[2].load(Relaxed) {
            NO_TIME => f64::NAN,
            nanoseconds => nanoseconds as f64 / 1e9,
        };
        let (symbol, stamp) = (SymbolId(symbol), Stamp { time, line: 0 });
        match kind {
            INTEGERS if slots == 1 && count <= FIRST => {
                let mut numbers = [0; FIRST];
                for (number, word) in numbers.iter_mut().zip(&first[SLOT - FIRST..]) {
                    *number = word.load(Relaxed) as i64;
                }
                events.push_integers(symbol, &numbers[..count], stamp);
            }
            INTEGERS if count <= room => {
                self.fetch(slots);
                self.values.clear();
                self.values.extend(self.words[..count].iter().map(|word| Value::int(*word as i64)));
                events.push(symbol, &self.values, stamp);
            }
            VALUES if count * 2 < room => {
                self.fetch(slots);
                let text = self.text(count)?;
                self.values.clear();
                let pairs = self.words[..count * 2].chunks(2);
                self.values.extend(pairs.map(|pair| Value::from_bits((pair[0], pair[1]))));
                if !self.values.iter().all(|value| is_sound(*value, &text)) {
                    return Err(Garbled);
                }
                events.push_copy(&Event { symbol, params: &self.values, text: &text }, stamp);
            }
            _ => return Err(Garbled),
        }
        threads.push(thread);
        self.at += slots;
        Ok(())
    }

    /// Fetches the words of an event's parameters.
    fn fetch(&mut self, slots: u64) {
        self.words.clear();
        for number in 0..slots {
            let from = if number == 0 { SLOT - FIRST } else { SLOT - FURTHER };
            let slot = self.ring.slot(self.at + number);
            self.words.extend(slot[from..].iter().map(|word| word.load(Relaxed)));
        }
    }

    /// The text of an event with so many parameters.
    fn text(&self, count: usize) -> Result<String, Garbled> {
        let length = usize::try_from(self.words[count * 2]).map_err(|_| Garbled)?;
        let words = &self.words[count * 2 + 1..];
        if length > words.len() * 8 {
            return Err(Garbled);
        }
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
        bytes.truncate(length);
        String::from_utf8(bytes).map_err(|_| Garbled)
    }
}

/// Whether a value is one that is in itself, or in the text.
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
