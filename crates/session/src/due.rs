//! Which points are due at the place where a thread stands.
//!
//! Several owners may have a point at one place. They are served one after the other, the developer first,
//! then the scenario, then the monitors, and none twice before the instruction there has been executed.
//! What has been served is part of a checkpoint, so that the event at which a checkpoint was taken does not
//! happen again after a restore.

use crate::subject::Owner;

/// A set of owners.
///
/// ```
/// use invigil_session::due::Owners;
/// use invigil_session::subject::Owner;
/// let present = Owners::of(Owner::Monitors).with(Owner::Developer);
/// let mut handled = Owners::default();
/// assert_eq!(present.next(handled), Some(Owner::Developer));
/// handled = handled.with(Owner::Developer);
/// assert_eq!(present.next(handled), Some(Owner::Monitors));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owners(u8);

impl Owners {
    /// Just this one.
    pub fn of(owner: Owner) -> Owners {
        Owners(1 << owner as u8)
    }

    /// These and one more.
    #[must_use]
    pub fn with(self, owner: Owner) -> Owners {
        Owners(self.0 | Owners::of(owner).0)
    }

    /// Whether this one is among them.
    pub fn has(self, owner: Owner) -> bool {
        self.0 & Owners::of(owner).0 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Who of these is to be served next, when `handled` have been.
    pub fn next(self, handled: Owners) -> Option<Owner> {
        [Owner::Developer, Owner::Scenario, Owner::Monitors]
            .into_iter()
            .find(|owner| self.has(*owner) && !handled.has(*owner))
    }
}
