//! What components observe as it comes, while monitors run.

use super::{Inputs, Observation, Periphery, Trouble};
use crate::boxes::Boxes;
use invigil_decent::simulate::{Observations, Trace};
use invigil_decent::system::{ComponentId, Instant, System};

/// Rounds as the peripheries of the components give them: a round is one of each. It is over when all of them are.
///
/// ```
/// use invigil_decent::simulate::Observations;
/// use invigil_decent::system::System;
/// use invigil_lab::boxes::Boxes;
/// use invigil_lab::periphery::{Live, Text};
///
/// let mut system = System::default();
/// let (lamp, door) = (system.component("lamp")?, system.component("door")?);
/// let (on, open) = (system.proposition(lamp, "on")?, system.proposition(door, "open")?);
/// let mut live = Live::new(&system, Boxes::default(), false);
/// live.add(lamp, Text::new("on:t", &system).unwrap());
/// live.add(door, Text::new("open:f>open:t", &system).unwrap());
/// assert!(live.advance(1) && live.seen(lamp) == Some(&[(on, true)]));
/// assert!(live.advance(2) && live.seen(door) == Some(&[(open, true)]));
/// assert!(!live.advance(3) && live.trouble().is_none());
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
pub struct Live {
    inputs: Vec<Inputs>,
    boxes: Boxes,
    /// How many rounds each component gave.
    rounds: Vec<Instant>,
    now: Vec<Vec<Observation>>,
    /// All of it, if it is to be observed again.
    past: Trace,
    keeps: bool,
    at: Instant,
    /// The last round that came, once there are no more.
    last: Option<Instant>,
    trouble: Option<Trouble>,
}

impl Live {
    /// Before the first round. If it `keeps` what comes, it can be observed again from the beginning.
    pub fn new(system: &System, boxes: Boxes, keeps: bool) -> Live {
        let components = system.components().len();
        Live {
            inputs: (0..components).map(|_| Inputs::default()).collect(),
            boxes,
            rounds: vec![0; components],
            now: vec![Vec::new(); components],
            past: Trace::new(system),
            keeps,
            at: 0,
            last: None,
            trouble: None,
        }
    }

    /// Adds a periphery of a component.
    pub fn add(&mut self, component: ComponentId, periphery: impl Periphery + 'static) {
        self.inputs[component.index()].add(periphery);
    }

    /// Why it ended, if something went wrong.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// How peripheries ended, as far as somebody should know: of whom, after how many rounds, in which words.
    pub fn endings(&self) -> impl Iterator<Item = (ComponentId, Instant, String)> {
        let all = (0..).map(ComponentId).zip(&self.inputs).zip(&self.rounds);
        all.flat_map(|((id, inputs), rounds)| inputs.endings().map(move |words| (id, *rounds, words)))
    }

    /// The next round. False if there is none.
    fn pull(&mut self) -> Result<bool, Trouble> {
        let mut has_more = false;
        for (at, (inputs, now)) in self.inputs.iter_mut().zip(&mut self.now).enumerate() {
            now.clear();
            if let Some(seen) = inputs.observe()? {
                *now = seen;
                self.rounds[at] += 1;
                self.boxes.observe(ComponentId(at as u16), now)?;
                has_more = true;
            }
        }
        Ok(has_more)
    }
}

impl Observations for Live {
    fn advance(&mut self, at: Instant) -> bool {
        self.at = at;
        if let Some(last) = self.last {
            return at <= last && self.keeps;
        }
        if at <= self.past.rounds() {
            return true;
        }
        match self.pull() {
            Ok(true) => {
                if self.keeps {
                    self.past.push(self.now.iter().map(Vec::as_slice));
                }
                return true;
            }
            Ok(false) => {}
            Err(trouble) => self.trouble = Some(trouble),
        }
        self.last = Some(at - 1);
        false
    }

    fn seen(&self, component: ComponentId) -> Option<&[Observation]> {
        match self.last {
            Some(last) if self.at > last => None,
            _ if self.keeps => self.past.seen(component.index(), self.at),
            _ => self.now.get(component.index()).map(Vec::as_slice),
        }
    }
}
