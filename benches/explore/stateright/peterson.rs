//! Peterson's mutual exclusion.

use super::Rules;

const N: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pos: [u8; N],
    step: [u8; N],
    at: [u8; N],
    j: [u8; N],
    k: [u8; N],
}

pub(crate) struct Peterson;

impl Rules for Peterson {
    type State = State;

    fn enabled(&self, s: &State, out: &mut Vec<(u8, u8)>) {
        for i in 0..N {
            let (j, k, me) = (s.j[i] as usize, s.k[i] as usize, i as u8);
            match s.at[i] {
                0 => out.push((me, 0)),
                1 if j < N => out.push((me, 1)),
                1 => out.push((me, 5)),
                2 => out.push((me, 2)),
                3 => {
                    if k < N && (k == i || s.pos[k] < s.j[i]) {
                        out.push((me, 3));
                    }
                    if s.step[j - 1] != me || k == N {
                        out.push((me, 4));
                    }
                }
                _ => out.push((me, 6)),
            }
        }
    }

    fn perform(&self, s: &mut State, process: u8, transition: u8) {
        let i = process as usize;
        match transition {
            0 => (s.at[i], s.j[i]) = (1, 1),
            1 => (s.at[i], s.pos[i]) = (2, s.j[i]),
            2 => {
                s.step[s.j[i] as usize - 1] = process;
                (s.at[i], s.k[i]) = (3, 0);
            }
            3 => s.k[i] += 1,
            4 => (s.at[i], s.j[i]) = (1, s.j[i] + 1),
            5 => s.at[i] = 4,
            _ => (s.at[i], s.pos[i]) = (0, 0),
        }
    }
}
