//! Random traces.

use super::Random;
use crate::periphery::{Run, letter};
use invigil_decent::system::{Clash, System};
use rand_distr::{Beta, Binomial, Distribution as _, Normal};
use std::fmt;
use std::str::FromStr;

/// A system of components `a`, `b`, … with propositions `a0`, `a1`, …
///
/// # Errors
/// If there are too many components.
pub fn system(components: usize, observations: usize) -> Result<System, Clash> {
    let mut system = System::default();
    for name in (0..components).map(letter) {
        let component = system.component(&name)?;
        for number in 0..observations {
            system.proposition(component, &format!("{name}{number}"))?;
        }
    }
    Ok(system)
}

/// How values are distributed. A value above one half is true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// The normal one: mean and variance.
    Normal(f64, f64),
    /// Each value is true with this probability: a trial out of a binomial one.
    Binomial(u64, f64),
    /// Beta: α and β.
    Beta(f64, f64),
}

impl Distribution {
    /// The four that the synthetic benchmark uses, with their names.
    pub const ALL: [(&str, Distribution); 4] = [
        ("normal", Distribution::Normal(0.5, 1.0)),
        ("binomial", Distribution::Binomial(100, 0.3)),
        ("beta-1", Distribution::Beta(2.0, 5.0)),
        ("beta-2", Distribution::Beta(5.0, 1.0)),
    ];

    /// How to draw from it; none if its parameters make no sense.
    pub fn values(self) -> Option<Values> {
        Some(Values(match self {
            Distribution::Normal(mean, variance) => Drawn::Normal(Normal::new(mean, variance.sqrt()).ok()?),
            Distribution::Binomial(trials, chance) => {
                Drawn::Binomial(Binomial::new(trials.min(1), chance).ok()?)
            }
            Distribution::Beta(alpha, beta) => Drawn::Beta(Beta::new(alpha, beta).ok()?),
        }))
    }
}

/// No distribution is called so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDistribution(String);

impl fmt::Display for UnknownDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no distribution is called `{}`: there are", self.0)?;
        for (at, (name, _)) in Distribution::ALL.iter().enumerate() {
            write!(f, "{} {name}", if at > 0 { "," } else { "" })?;
        }
        f.write_str(", and normal:MEAN:VARIANCE, binomial:TRIALS:CHANCE, beta:ALPHA:BETA")
    }
}

impl std::error::Error for UnknownDistribution {}

impl FromStr for Distribution {
    type Err = UnknownDistribution;

    /// One of the four by its name, or with its parameters: `beta:2:5`.
    fn from_str(text: &str) -> Result<Distribution, UnknownDistribution> {
        let unknown = || UnknownDistribution(text.to_owned());
        if let Some((_, known)) = Distribution::ALL.iter().find(|(name, _)| *name == text) {
            return Ok(*known);
        }
        let parts: Vec<&str> = text.split(':').collect();
        let [kind, first, second] = parts[..] else { return Err(unknown()) };
        let number = |text: &str| text.parse::<f64>().map_err(|_| unknown());
        let second = number(second)?;
        let found = match kind {
            "normal" => Distribution::Normal(number(first)?, second),
            "binomial" => Distribution::Binomial(first.parse().map_err(|_| unknown())?, second),
            "beta" => Distribution::Beta(number(first)?, second),
            _ => return Err(unknown()),
        };
        found.values().map(|_| found).ok_or_else(unknown)
    }
}

/// Where values are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Values(Drawn);

#[derive(Clone, Copy, Debug)]
enum Drawn {
    Normal(Normal<f64>),
    Binomial(Binomial),
    Beta(Beta<f64>),
}

impl Values {
    /// The next value.
    pub fn draw(&self, random: &mut Random) -> bool {
        let value = match &self.0 {
            Drawn::Normal(normal) => normal.sample(random),
            Drawn::Binomial(binomial) => binomial.sample(random) as f64,
            Drawn::Beta(beta) => beta.sample(random),
        };
        value > 0.5
    }
}

/// A trace: in each of so many rounds, each component observes all its propositions.
pub fn trace(system: &System, rounds: usize, values: &Values, random: &mut Random) -> Run {
    let components = system.components().map(|component| {
        let own: Vec<_> = system.propositions().filter(|known| system.owner(*known) == component).collect();
        (0..rounds).map(|_| own.iter().map(|known| (*known, values.draw(random))).collect()).collect()
    });
    components.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::random;

    #[test]
    fn values_are_true_as_often_as_their_distribution_says() {
        for ((name, distribution), chance) in Distribution::ALL.iter().zip([0.5, 0.3, 0.109, 0.969]) {
            assert_eq!(name.parse(), Ok(*distribution));
            let system = system(2, 2).unwrap();
            let run = trace(&system, 5000, &distribution.values().unwrap(), &mut random(1, 0));
            let values: Vec<bool> = run.iter().flatten().flatten().map(|(_, value)| *value).collect();
            let share = values.iter().filter(|value| **value).count() as f64 / values.len() as f64;
            assert!(values.len() == 20_000 && (share - chance).abs() < 0.015, "{name}: {share}");
            let again = trace(&system, 5000, &distribution.values().unwrap(), &mut random(1, 0));
            assert_eq!(run, again);
        }
        assert_eq!("beta:2:5".parse(), Ok(Distribution::Beta(2.0, 5.0)));
        for wrong in ["gamma", "beta:2", "beta:-1:2", "normal:a:b", "binomial:1:7"] {
            assert!(wrong.parse::<Distribution>().is_err(), "{wrong}");
        }
    }
}
