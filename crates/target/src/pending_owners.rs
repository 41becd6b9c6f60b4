//! The order in which owners are notified at one location.
//!
//! Several owners may have a breakpoint or a needed event at the location of a thread. They are notified one after the
//! other: the user first, then the scenario, then the monitors, and none of them twice before the instruction there has
//! executed.
//! Which ones have been notified is part of a checkpoint, so that the event at which a checkpoint was taken does not
//! occur again after a restore.

use crate::Owner;

/// A set of owners.
///
/// ```
/// use invigil_target::pending_owners::OwnerSet;
/// use invigil_target::Owner;
/// let present = OwnerSet::of(Owner::Monitors).with(Owner::User);
/// let mut handled = OwnerSet::default();
/// assert_eq!(present.next_pending(handled), Some(Owner::User));
/// handled = handled.with(Owner::User);
/// assert_eq!(present.next_pending(handled), Some(Owner::Monitors));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnerSet(u8);

impl OwnerSet {
    /// The set of one owner.
    pub fn of(owner: Owner) -> OwnerSet {
        OwnerSet(1 << owner as u8)
    }

    /// This set and one more owner.
    #[must_use]
    pub fn with(self, owner: Owner) -> OwnerSet {
        OwnerSet(self.0 | OwnerSet::of(owner).0)
    }

    /// Whether an owner is in the set.
    pub fn contains(self, owner: Owner) -> bool {
        self.0 & OwnerSet::of(owner).0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The owner of this set that is to be notified next, after those in `handled`.
    pub fn next_pending(self, handled: OwnerSet) -> Option<Owner> {
        [Owner::User, Owner::Scenario, Owner::Monitors]
            .into_iter()
            .find(|owner| self.contains(*owner) && !handled.contains(*owner))
    }
}
