//! Anderson's queue lock.

use super::Rules;

const N: usize = 6;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    slot: [u8; N],
    next: u8,
    place: [u8; N],
    at: [u8; N],
}

pub(crate) struct Anderson;

impl Rules for Anderson {
    type State = State;

    fn first(&self) -> State {
        let mut first = State::default();
        first.slot[0] = 1;
        first
    }

    fn enabled(&self, s: &State, out: &mut Vec<(u8, u8)>) {
        for i in 0..N {
            if s.at[i] != 2 || s.slot[s.place[i] as usize] == 1 {
                out.push((i as u8, s.at[i]));
            }
        }
    }

    fn perform(&self, s: &mut State, process: u8, transition: u8) {
        let i = process as usize;
        let place = s.place[i] as usize;
        match transition {
            0 => (s.place[i], s.next) = (s.next, s.next.wrapping_add(1)),
            1 if place == N - 1 => s.next = s.next.wrapping_sub(N as u8),
            1 => s.place[i] %= N as u8,
            2 => {}
            3 => s.slot[place] = 0,
            _ => s.slot[(place + 1) % N] = 1,
        }
        s.at[i] = (transition + 1) % 5;
    }
}
