//! Random systems, traces, formulae and days of sensors, the same ones for the same seed.

mod day;
mod formulae;
mod traces;

pub use day::{Act, Day, Effect, Household, Kind, Pattern, Plan, Sensor, SensorKind, Span, day};
pub use formulae::{Shape, formula};
pub use traces::{Distribution, UnknownDistribution, Values, system, trace};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Random numbers that are the same on every machine.
pub type Random = ChaCha8Rng;

/// The random numbers of a seed. `stream` keeps apart what is made of the same seed.
pub fn random(seed: u64, stream: u64) -> Random {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}
