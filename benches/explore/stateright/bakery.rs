//! Lamport's bakery.

use super::Rules;

const N: usize = 4;
const MAX_TICKET: u8 = 7;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    choosing: [u8; N],
    number: [u8; N],
    at: [u8; N],
    j: [u8; N],
    max: [u8; N],
}

pub(crate) struct Bakery;

impl Rules for Bakery {
    type State = State;

    fn enabled(&self, s: &State, out: &mut Vec<(u8, u8)>) {
        for i in 0..N {
            let j = s.j[i] as usize;
            let transition = match s.at[i] {
                0 => Some(0),
                1 if j < N => Some(if s.number[j] > s.max[i] { 1 } else { 2 }),
                1 => (s.max[i] < MAX_TICKET).then_some(3),
                2 if j < N => (s.choosing[j] == 0).then_some(4),
                2 => Some(6),
                3 => {
                    let (theirs, mine) = (s.number[j], s.number[i]);
                    (theirs == 0 || theirs > mine || (theirs == mine && i <= j)).then_some(5)
                }
                _ => Some(7),
            };
            if let Some(transition) = transition {
                out.push((i as u8, transition));
            }
        }
    }

    fn perform(&self, s: &mut State, process: u8, transition: u8) {
        let i = process as usize;
        match transition {
            0 => (s.at[i], s.choosing[i], s.j[i], s.max[i]) = (1, 1, 0, 0),
            1 => (s.max[i], s.j[i]) = (s.number[s.j[i] as usize], s.j[i] + 1),
            2 => s.j[i] += 1,
            3 => (s.at[i], s.number[i], s.j[i], s.choosing[i]) = (2, s.max[i] + 1, 0, 0),
            4 => s.at[i] = 3,
            5 => (s.at[i], s.j[i]) = (2, s.j[i] + 1),
            6 => s.at[i] = 4,
            _ => (s.at[i], s.number[i]) = (0, 0),
        }
    }
}
