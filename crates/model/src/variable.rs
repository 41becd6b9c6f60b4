//! Variables, and what they can hold.

/// A variable, by its number in the model.
pub type VariableId = u32;

/// What one element of a variable can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer from `low` to `high`, both included.
    Integer {
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
    },
    /// False or true, which are 0 and 1.
    Boolean,
    /// One of some names, numbered from 0.
    Names(Vec<String>),
}

impl Kind {
    /// The smallest and the largest value.
    ///
    /// ```
    /// use invigil_model::Kind;
    /// assert_eq!(Kind::Boolean.range(), (0, 1));
    /// ```
    pub fn range(&self) -> (i64, i64) {
        match self {
            Kind::Integer { low, high } => (*low, *high),
            Kind::Boolean => (0, 1),
            Kind::Names(names) => (0, names.len() as i64 - 1),
        }
    }

    /// Whether `value` is one of the values.
    ///
    /// ```
    /// use invigil_model::Kind;
    /// assert!(!Kind::Integer { low: 0, high: 255 }.holds(256));
    /// ```
    pub fn holds(&self, value: i64) -> bool {
        let (low, high) = self.range();
        (low..=high).contains(&value)
    }

    /// How a value is shown to people.
    ///
    /// ```
    /// use invigil_model::Kind;
    /// assert_eq!(Kind::Names(vec!["idle".into(), "busy".into()]).show(1), "busy");
    /// ```
    pub fn show(&self, value: i64) -> String {
        match self {
            Kind::Boolean if value == 0 => "false".to_owned(),
            Kind::Boolean if value == 1 => "true".to_owned(),
            Kind::Names(names) => match usize::try_from(value).ok().and_then(|at| names.get(at)) {
                Some(name) => name.clone(),
                None => value.to_string(),
            },
            _ => value.to_string(),
        }
    }
}

/// A variable: one value, or a fixed number of them in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its full name, as people read it: `turn`, `P[2].my_place`.
    pub name: String,
    /// What each element can hold.
    pub kind: Kind,
    /// The number of elements, if it is an array.
    pub length: Option<u32>,
    /// The first values, one for each element.
    pub initial: Vec<i64>,
    /// Whether people want to see it: what a front end invents for its own use is hidden from them.
    pub is_hidden: bool,
}

impl Variable {
    /// A variable of one value.
    ///
    /// ```
    /// use invigil_model::{Kind, Variable};
    /// assert_eq!(Variable::scalar("busy", Kind::Boolean, 0).elements(), 1);
    /// ```
    pub fn scalar(name: impl Into<String>, kind: Kind, initial: i64) -> Variable {
        Variable { name: name.into(), kind, length: None, initial: vec![initial], is_hidden: false }
    }

    /// An array, with the first values of its elements.
    ///
    /// ```
    /// use invigil_model::{Kind, Variable};
    /// assert_eq!(Variable::array("slot", Kind::Boolean, vec![1, 0, 0]).elements(), 3);
    /// ```
    pub fn array(name: impl Into<String>, kind: Kind, initial: Vec<i64>) -> Variable {
        // Lengths beyond 32 bits do not fit into any state; `Model::new` refuses such an array.
        let length = u32::try_from(initial.len()).unwrap_or(u32::MAX);
        Variable { name: name.into(), kind, length: Some(length), initial, is_hidden: false }
    }

    /// The number of elements.
    ///
    /// ```
    /// use invigil_model::{Kind, Variable};
    /// assert_eq!(Variable::array("slot", Kind::Boolean, vec![0; 8]).elements(), 8);
    /// ```
    pub fn elements(&self) -> u32 {
        self.length.unwrap_or(1)
    }
}
