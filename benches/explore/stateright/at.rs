//! Mutual exclusion by Alur and Taubenfeld. Process number `N` is the timer.

use super::Rules;

const N: usize = 5;
/// No timer runs.
const OFF: u8 = 255;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    x: u8,
    y: u8,
    z: u8,
    t: [u8; N],
    at: [u8; N],
}

pub(crate) struct At;

impl Rules for At {
    type State = State;

    fn first(&self) -> State {
        State { y: OFF, t: [OFF; N], ..State::default() }
    }

    fn enabled(&self, s: &State, out: &mut Vec<(u8, u8)>) {
        if s.t.iter().all(|t| *t != 0) {
            out.push((N as u8, 0));
        }
        for i in 0..N {
            let me = i as u8;
            // Locations: NCS p3 p4 p5 p6 p7 p8 p9 CS p12 p13.
            let transition = match s.at[i] {
                0 => Some(0),
                1 => (s.y == OFF).then_some(1),
                2 => Some(2),
                3 if s.x == me => Some(3),
                3 => Some(5),
                4 => (s.t[i] == 0).then_some(6),
                5 if s.y != me => Some(7),
                5 => Some(8),
                6 => (s.z == 0).then_some(9),
                7 => Some(4),
                8 => Some(10),
                9 if s.y != me => Some(11),
                9 => Some(12),
                _ => Some(13),
            };
            if let Some(transition) = transition {
                out.push((me, transition));
            }
        }
    }

    fn perform(&self, s: &mut State, process: u8, transition: u8) {
        let i = process as usize;
        if i == N {
            for t in s.t.iter_mut().filter(|t| **t != OFF) {
                *t -= 1;
            }
            return;
        }
        let (to, timer) = match transition {
            0 => (1, OFF),
            1 => (2, 1),
            2 => (3, 1),
            3 => (7, 1),
            4 => (8, OFF),
            5 => (4, 3),
            6 => (5, 1),
            7 => (0, 1),
            8 => (6, OFF),
            9 => (8, s.t[i]),
            10 => (9, 1),
            11 => (0, OFF),
            12 => (10, 1),
            _ => (0, OFF),
        };
        (s.at[i], s.t[i]) = (to, timer);
        match transition {
            0 => s.x = process,
            2 => s.y = process,
            4 => s.z = 1,
            10 => s.z = 0,
            13 => s.y = OFF,
            _ => {}
        }
    }
}
