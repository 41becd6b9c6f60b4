//! Variables that two interleaved subjects share.

/// How the configurations of two subjects hold the same variables.
///
/// The subjects know nothing of each other and may be written in different languages; a binding reads the
/// shared variables out of either configuration and writes them into either, translating between the two
/// representations where they differ. What was written must be read back: after `set_right(r, v)`, `right(r)`
/// is `v`, and likewise on the left.
///
/// ```
/// use invigil_semantics::Binding;
///
/// /// A thermostat reads, as a temperature in degrees, what a room holds in tenths of them.
/// struct Temperature;
/// #[derive(Clone, PartialEq, Eq, Hash)]
/// struct Thermostat { reading: i32, heating: bool }
/// #[derive(Clone, PartialEq, Eq, Hash)]
/// struct Room { tenths: i32 }
///
/// impl Binding<Thermostat, Room> for Temperature {
///     type Shared = i32;
///     fn left(&self, thermostat: &Thermostat) -> i32 {
///         thermostat.reading
///     }
///     fn right(&self, room: &Room) -> i32 {
///         room.tenths.div_euclid(10)
///     }
///     fn set_left(&self, thermostat: &mut Thermostat, shared: i32) {
///         thermostat.reading = shared;
///     }
///     fn set_right(&self, room: &mut Room, shared: i32) {
///         // The thermostat does not change the temperature: keep what it cannot see.
///         if self.right(room) != shared {
///             room.tenths = shared * 10;
///         }
///     }
/// }
///
/// let (mut thermostat, room) = (Thermostat { reading: 0, heating: true }, Room { tenths: 195 });
/// Temperature.set_left(&mut thermostat, Temperature.right(&room));
/// assert_eq!(thermostat.reading, 19);
/// ```
pub trait Binding<L, R> {
    /// The values of the shared variables, together.
    type Shared: PartialEq;

    /// The shared variables as the left subject holds them.
    fn left(&self, config: &L) -> Self::Shared;

    /// The shared variables as the right subject holds them.
    fn right(&self, config: &R) -> Self::Shared;

    /// Writes the shared variables into a configuration of the left subject.
    fn set_left(&self, config: &mut L, shared: Self::Shared);

    /// Writes the shared variables into a configuration of the right subject.
    fn set_right(&self, config: &mut R, shared: Self::Shared);
}

/// The binding of subjects that share nothing.
///
/// ```
/// use invigil_semantics::{Binding, Independent};
/// let share: &dyn Binding<u8, char, Shared = ()> = &Independent;
/// let mut left = 1;
/// share.set_left(&mut left, share.right(&'x'));
/// assert_eq!(left, 1);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Independent;

impl<L, R> Binding<L, R> for Independent {
    type Shared = ();

    fn left(&self, _: &L) {}

    fn right(&self, _: &R) {}

    fn set_left(&self, _: &mut L, (): ()) {}

    fn set_right(&self, _: &mut R, (): ()) {}
}
