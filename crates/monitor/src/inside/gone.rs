//! Objects of the program that are no more.

use super::Inside;
use crate::slices::Gone;

impl Inside {
    /// How many slices there are of all properties.
    pub fn slices(&self) -> usize {
        self.inmates.iter().map(|inmate| inmate.slices.len()).sum()
    }

    /// [Forgets](crate::automaton::Automaton::forget_gone) slices of objects that are no more. Whoever steps the last events again does
    /// so with these slices, and is told of the objects for that.
    pub fn forget(&mut self, gone: &Gone) {
        for inmate in &mut self.inmates {
            inmate.automaton.forget_gone(&mut inmate.slices, gone, &inmate.concern, &mut self.newer.gone);
        }
    }
}
