//! Dining philosophers.

use super::Rules;

const N: usize = 15;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    fork: [u8; N],
    at: [u8; N],
}

pub(crate) struct Philosophers;

impl Rules for Philosophers {
    type State = State;

    fn enabled(&self, s: &State, out: &mut Vec<(u8, u8)>) {
        for i in 0..N {
            let can = match s.at[i] {
                0 => s.fork[i] == 0,
                1 => s.fork[(i + 1) % N] == 0,
                _ => true,
            };
            if can {
                out.push((i as u8, s.at[i]));
            }
        }
    }

    fn perform(&self, s: &mut State, process: u8, transition: u8) {
        let i = process as usize;
        match transition {
            0 => s.fork[i] = 1,
            1 => s.fork[(i + 1) % N] = 1,
            2 => s.fork[i] = 0,
            _ => s.fork[(i + 1) % N] = 0,
        }
        s.at[i] = (transition + 1) % 4;
    }
}
