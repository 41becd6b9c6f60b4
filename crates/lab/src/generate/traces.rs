//! Random traces.

use super::Random;
use crate::inputs::{RecordedRun, component_letter};
use invigil_decent::system::{System, SystemError};
use rand_distr::{Beta, Binomial, Distribution as _, Normal};
use std::fmt;
use std::str::FromStr;

/// Creates a system of components `a`, `b`, … with propositions `a0`, `a1`, …
///
/// # Errors
/// Fails if there are too many components.
pub fn system(components: usize, observations: usize) -> Result<System, SystemError> {
    let mut system = System::default();
    for name in (0..components).map(component_letter) {
        let component = system.component(&name)?;
        for number in 0..observations {
            system.proposition(component, &format!("{name}{number}"))?;
        }
    }
    Ok(system)
}

/// Distribution of values. A value above one half is true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Normal distribution: mean and variance.
    Normal(f64, f64),
    /// Each value is true with this probability: one trial of a binomial distribution.
    Binomial(u64, f64),
    /// Beta distribution: α and β.
    Beta(f64, f64),
}

impl Distribution {
    /// The four distributions of the synthetic benchmark, with their names.
    pub const ALL: [(&str, Distribution); 4] = [
        ("normal", Distribution::Normal(0.5, 1.0)),
        ("binomial", Distribution::Binomial(100, 0.3)),
        ("beta-1", Distribution::Beta(2.0, 5.0)),
        ("beta-2", Distribution::Beta(5.0, 1.0)),
    ];

    /// Returns a sampler.
    ///
    /// # Errors
    /// Fails if the parameters are invalid.
    pub fn sampler(self) -> Result<ValueSampler, DistributionError> {
        let invalid = DistributionError::InvalidParameters;
        Ok(ValueSampler(match self {
            Distribution::Normal(mean, variance) => {
                let normal = Normal::new(mean, variance.sqrt());
                Sampler::Normal(normal.map_err(|_| invalid("the variance must not be negative"))?)
            }
            Distribution::Binomial(trials, chance) => {
                let binomial = Binomial::new(trials.min(1), chance);
                Sampler::Binomial(binomial.map_err(|_| invalid("the chance must be between 0 and 1"))?)
            }
            Distribution::Beta(alpha, beta) => {
                let beta = Beta::new(alpha, beta);
                Sampler::Beta(beta.map_err(|_| invalid("alpha and beta must be positive"))?)
            }
        }))
    }
}

/// Reason why a distribution cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DistributionError {
    /// No distribution has this name.
    Unknown(String),
    /// The parameters do not meet this requirement.
    InvalidParameters(&'static str),
}

impl fmt::Display for DistributionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            DistributionError::Unknown(name) => name,
            DistributionError::InvalidParameters(requirement) => {
                return write!(f, "invalid parameters; {requirement}");
            }
        };
        write!(f, "unknown distribution `{name}`; use one of")?;
        for (at, (name, _)) in Distribution::ALL.iter().enumerate() {
            write!(f, "{} {name}", if at > 0 { "," } else { "" })?;
        }
        f.write_str(", normal:MEAN:VARIANCE, binomial:TRIALS:CHANCE, beta:ALPHA:BETA")
    }
}

impl std::error::Error for DistributionError {}

impl FromStr for Distribution {
    type Err = DistributionError;

    /// Parses a name, or a distribution with its parameters such as `beta:2:5`.
    fn from_str(text: &str) -> Result<Distribution, DistributionError> {
        let unknown = || DistributionError::Unknown(text.to_owned());
        if let Some((_, distribution)) = Distribution::ALL.iter().find(|(name, _)| *name == text) {
            return Ok(*distribution);
        }
        let parts: Vec<&str> = text.split(':').collect();
        let [kind, first, second] = parts[..] else { return Err(unknown()) };
        let number = |text: &str| text.parse::<f64>().map_err(|_| unknown());
        let second = number(second)?;
        let distribution = match kind {
            "normal" => Distribution::Normal(number(first)?, second),
            "binomial" => Distribution::Binomial(first.parse().map_err(|_| unknown())?, second),
            "beta" => Distribution::Beta(number(first)?, second),
            _ => return Err(unknown()),
        };
        distribution.sampler().map(|_| distribution)
    }
}

/// Sampler of values.
#[derive(Clone, Copy, Debug)]
pub struct ValueSampler(Sampler);

#[derive(Clone, Copy, Debug)]
enum Sampler {
    Normal(Normal<f64>),
    Binomial(Binomial),
    Beta(Beta<f64>),
}

impl ValueSampler {
    /// Draws a value.
    pub fn draw(&self, random: &mut Random) -> bool {
        let value = match &self.0 {
            Sampler::Normal(normal) => normal.sample(random),
            Sampler::Binomial(binomial) => binomial.sample(random) as f64,
            Sampler::Beta(beta) => beta.sample(random),
        };
        value > 0.5
    }
}

/// Generates a trace: in each round each component observes all of its propositions.
pub fn trace(system: &System, rounds: usize, sampler: &ValueSampler, random: &mut Random) -> RecordedRun {
    let components = system.components().map(|component| {
        let propositions = system.propositions().filter(|id| system.owner(*id) == component);
        let propositions: Vec<_> = propositions.collect();
        (0..rounds).map(|_| propositions.iter().map(|id| (*id, sampler.draw(random))).collect()).collect()
    });
    components.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::random;

    #[test]
    fn sampled_values_match_the_distribution() {
        for ((name, distribution), chance) in Distribution::ALL.iter().zip([0.5, 0.3, 0.109, 0.969]) {
            assert_eq!(name.parse(), Ok(*distribution));
            let system = system(2, 2).unwrap();
            let run = trace(&system, 5000, &distribution.sampler().unwrap(), &mut random(1, 0));
            let values: Vec<bool> = run.iter().flatten().flatten().map(|(_, value)| *value).collect();
            let share = values.iter().filter(|value| **value).count() as f64 / values.len() as f64;
            assert!(values.len() == 20_000 && (share - chance).abs() < 0.015, "{name}: {share}");
            let again = trace(&system, 5000, &distribution.sampler().unwrap(), &mut random(1, 0));
            assert_eq!(run, again);
        }
        assert_eq!("beta:2:5".parse(), Ok(Distribution::Beta(2.0, 5.0)));
        for wrong in ["gamma", "beta:2", "beta:-1:2", "normal:a:b", "binomial:1:7"] {
            assert!(wrong.parse::<Distribution>().is_err(), "{wrong}");
        }
    }
}
