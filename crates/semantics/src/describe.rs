//! Configurations and actions as text.

use crate::Language;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::{self, Vec};
use core::{fmt, slice};

/// A language that renders its configurations and actions as text.
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
    /// The named parts of `config`. The names and their order are the same for every configuration.
    fn describe_config(&self, config: &Self::Config) -> Fields;

    /// A short description of `action`.
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
    /// The name; dots separate the levels of a composition.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The named parts of a configuration in display order.
///
/// Two configurations of the same subject can be compared part by part.
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
    /// An empty list.
    ///
    /// ```
    /// # use invigil_semantics::Fields;
    /// assert_eq!(Fields::new().to_string(), "");
    /// ```
    pub fn new() -> Self {
        Fields::default()
    }

    /// Appends one part.
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

    /// Appends `parts`, their names prefixed with `group`.
    ///
    /// If the group exists, as in a product with two properties, the new one gets a number. Names stay unique,
    /// and existing names do not change.
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
