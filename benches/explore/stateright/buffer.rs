//! A ring of cells between producers and consumers. Processes 0 to 2 produce, 3 and 4 consume.

use super::Rules;

const CELLS: usize = 6;
const PRODUCERS: usize = 3;
const ALL: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    cell: [u8; CELLS],
    taken: [u8; CELLS],
    head: u8,
    tail: u8,
    used: u8,
    at: [u8; ALL],
    place: [u8; ALL],
    item: [u8; ALL],
}

pub(crate) struct Buffer;

impl Rules for Buffer {
    type State = State;

    fn enabled(&self, s: &State, out: &mut Vec<(u8, u8)>) {
        for i in 0..ALL {
            let me = i as u8;
            let is_producer = i < PRODUCERS;
            match (is_producer, s.at[i]) {
                (true, 0) => out.extend([(me, 0), (me, 1)]),
                (true, 1) if (s.used as usize) < CELLS => out.push((me, 2)),
                (true, 1) => {}
                (true, _) => out.push((me, 3)),
                (false, 0) => {
                    let tail = s.tail as usize;
                    if s.cell[tail] != 0 && s.taken[tail] == 0 {
                        out.push((me, 4));
                    }
                }
                (false, 1) => out.push((me, 5)),
                (false, _) => out.push((me, 6)),
            }
        }
    }

    fn perform(&self, s: &mut State, process: u8, transition: u8) {
        let i = process as usize;
        let place = s.place[i] as usize;
        match transition {
            0 | 1 => (s.at[i], s.item[i]) = (1, transition),
            2 => {
                (s.at[i], s.place[i]) = (2, s.head);
                s.head = (s.head + 1) % CELLS as u8;
                s.used += 1;
            }
            3 => {
                s.cell[place] = 1 + s.item[i];
                (s.at[i], s.place[i], s.item[i]) = (0, 0, 0);
            }
            4 => {
                (s.at[i], s.place[i]) = (1, s.tail);
                s.taken[s.tail as usize] = 1;
                s.tail = (s.tail + 1) % CELLS as u8;
            }
            5 => {
                s.item[i] = s.cell[place];
                (s.cell[place], s.taken[place], s.at[i], s.place[i]) = (0, 0, 2, 0);
            }
            _ => (s.used, s.at[i], s.item[i]) = (s.used - 1, 0, 0),
        }
    }
}
