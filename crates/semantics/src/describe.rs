//! Configurations and actions as text for people.

use crate::Language;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::{self, Vec};
use core::{fmt, slice};

/// A language that shows its configurations and actions to people.
///
/// ```
/// use invigil_semantics::{Describe, Fields, Language};
///
/// struct Lift;
/// impl Language for Lift {
///     type Config = (u8, bool);
///     type Action = char;
/// }
/// impl Describe for Lift {
///     fn describe_config(&self, (floor, open): &(u8, bool)) -> Fields {
///         Fields::new().with("floor", floor).with("door", if *open { "open" } else { "closed" })
///     }
///     fn describe_action(&self, action: &char) -> String {
///         format!("press {action}")
///     }
/// }
/// assert_eq!(Lift.describe_config(&(2, false)).to_string(), "floor = 2, door = closed");
/// ```
pub trait Describe: Language {
    /// The parts of `config` by name, the same names in the same order for every configuration.
    fn describe_config(&self, config: &Self::Config) -> Fields;

    /// What `action` does, in a few words.
    fn describe_action(&self, action: &Self::Action) -> String;
}

impl<T: Describe + ?Sized> Describe for &T {
    fn describe_config(&self, config: &Self::Config) -> Fields {
        (**self).describe_config(config)
    }

    fn describe_action(&self, action: &Self::Action) -> String {
        (**self).describe_action(action)
    }
}

/// One named part of a configuration, as text.
///
/// ```
/// use invigil_semantics::{Field, Fields};
/// let fields = Fields::new().with("floor", 2);
/// assert_eq!(fields.iter().next(), Some(&Field { name: "floor".into(), value: "2".into() }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// What it is called; dots separate the levels of a composition.
    pub name: String,
    /// What it holds.
    pub value: String,
}

/// The named parts of a configuration, in the order to show them; two of the same subject can be compared
/// part by part.
///
/// ```
/// use invigil_semantics::Fields;
/// let before = Fields::new().with("x", 1).with("y", 2);
/// let after = Fields::new().with("x", 1).with("y", 3);
/// let changed: Vec<_> = before.iter().zip(&after).filter(|(b, a)| b != a).map(|(b, _)| &b.name).collect();
/// assert_eq!(changed, ["y"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields(Vec<Field>);

impl Fields {
    /// No parts.
    ///
    /// ```
    /// # use invigil_semantics::Fields;
    /// assert_eq!(Fields::new().to_string(), "");
    /// ```
    pub fn new() -> Self {
        Fields::default()
    }

    /// These parts and one more.
    ///
    /// ```
    /// # use invigil_semantics::Fields;
    /// assert_eq!(Fields::new().with("x", 1).with("y", 2).to_string(), "x = 1, y = 2");
    /// ```
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.0.push(Field { name: name.into(), value: value.to_string() });
        self
    }

    /// These parts and those of `group`, named after it.
    ///
    /// If there is such a group already, as in a subject watched by two properties, the new one gets a
    /// number, so that names stay unique and those that were there before stay what they were.
    ///
    /// ```
    /// # use invigil_semantics::Fields;
    /// let state = || Fields::new().with("state", "idle");
    /// let watched = Fields::new().with("x", 1).with_group("property", state());
    /// assert_eq!(watched.to_string(), "x = 1, property.state = idle");
    /// let twice = watched.with_group("property", state());
    /// assert_eq!(twice.to_string(), "x = 1, property.state = idle, property2.state = idle");
    /// ```
    #[must_use]
    pub fn with_group(mut self, group: &str, parts: Fields) -> Self {
        let mut prefix = format!("{group}.");
        let mut number = 1;
        while self.iter().any(|field| field.name.starts_with(&prefix)) {
            number += 1;
            prefix = format!("{group}{number}.");
        }
        self.0.extend(
            parts.into_iter().map(|Field { name, value }| Field { name: format!("{prefix}{name}"), value }),
        );
        self
    }

    /// The value of the part called `name`.
    ///
    /// ```
    /// # use invigil_semantics::Fields;
    /// assert_eq!(Fields::new().with("x", 1).get("x"), Some("1"));
    /// ```
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|field| field.name == name).map(|field| field.value.as_str())
    }

    /// The parts in order.
    ///
    /// ```
    /// # use invigil_semantics::Fields;
    /// assert_eq!(Fields::new().with("x", 1).iter().count(), 1);
    /// ```
    pub fn iter(&self) -> slice::Iter<'_, Field> {
        self.0.iter()
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Field { name, value }) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{name} = {value}")?;
        }
        Ok(())
    }
}

impl IntoIterator for Fields {
    type Item = Field;
    type IntoIter = vec::IntoIter<Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a Field;
    type IntoIter = slice::Iter<'a, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
