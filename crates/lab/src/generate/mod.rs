//! Random systems, traces, formulae and days of sensor data, determined by a seed.

mod day;
mod formulae;
mod traces;

pub use day::{
    Activity, ActivityKind, Day, EffectPattern, Household, ScheduleEntry, SecondsRange, Sensor, SensorEffect,
    SensorKind, day,
};
pub use formulae::{FormulaShape, formula};
pub use traces::{Distribution, DistributionError, ValueSampler, system, trace};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Random number generator with the same results on every machine.
pub type Random = ChaCha8Rng;

/// Creates the generator for a seed. `stream` separates uses of the same seed.
pub fn random(seed: u64, stream: u64) -> Random {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}
