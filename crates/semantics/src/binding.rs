//! Variables that two interleaved subjects share.

/// Access to the variables that two subjects share.
///
/// The subjects are independent and may be written in different languages. A binding reads the shared
/// variables from either configuration and writes them into either; it converts between the two
/// representations if they differ. **Invariant:** after `set_right(r, v)`, `right(r)` is `v`; likewise on the
/// left.
///
/// ```
/// use invigil_semantics::Binding;
///
/// /// A thermostat reads the temperature of a room in degrees; the room stores tenths of degrees.
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
///         // The thermostat does not change the temperature: keep the precision it does not see.
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
    /// The values of all shared variables.
    type Shared: PartialEq;

    /// Reads the shared variables from a configuration of the left subject.
    fn left(&self, config: &L) -> Self::Shared;

    /// Reads the shared variables from a configuration of the right subject.
    fn right(&self, config: &R) -> Self::Shared;

    /// Writes the shared variables into a configuration of the left subject.
    fn set_left(&self, config: &mut L, shared: Self::Shared);

    /// Writes the shared variables into a configuration of the right subject.
    fn set_right(&self, config: &mut R, shared: Self::Shared);
}

/// The binding of subjects without shared variables.
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
