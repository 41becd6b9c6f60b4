//! Variables and their domains.

/// Index of a variable in the model.
pub type VariableId = u32;

/// The values that an element of a variable can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// An integer from `low` to `high`, both included.
    Integer {
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
    },
    /// `false` or `true`, stored as 0 and 1.
    Boolean,
    /// One of several names, numbered from 0.
    Names(Vec<String>),
}

impl Domain {
    /// The smallest and the largest value.
    ///
    /// ```
    /// use invigil_model::Domain;
    /// assert_eq!(Domain::Boolean.range(), (0, 1));
    /// ```
    pub fn range(&self) -> (i64, i64) {
        match self {
            Domain::Integer { low, high } => (*low, *high),
            Domain::Boolean => (0, 1),
            Domain::Names(names) => (0, names.len() as i64 - 1),
        }
    }

    /// Whether `value` is in the domain.
    ///
    /// ```
    /// use invigil_model::Domain;
    /// assert!(!Domain::Integer { low: 0, high: 255 }.holds(256));
    /// ```
    pub fn holds(&self, value: i64) -> bool {
        let (low, high) = self.range();
        (low..=high).contains(&value)
    }

    /// Formats a value of the domain.
    ///
    /// ```
    /// use invigil_model::Domain;
    /// assert_eq!(Domain::Names(vec!["idle".into(), "busy".into()]).show(1), "busy");
    /// ```
    pub fn show(&self, value: i64) -> String {
        match self {
            Domain::Boolean if value == 0 => "false".to_owned(),
            Domain::Boolean if value == 1 => "true".to_owned(),
            Domain::Names(names) => match usize::try_from(value).ok().and_then(|at| names.get(at)) {
                Some(name) => name.clone(),
                None => value.to_string(),
            },
            _ => value.to_string(),
        }
    }
}

/// A variable: a scalar or an array of fixed length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The full name for display: `turn`, `P[2].my_place`.
    pub name: String,
    /// The domain of each element.
    pub domain: Domain,
    /// The number of elements, if it is an array.
    pub length: Option<u32>,
    /// The initial values, one for each element.
    pub initial: Vec<i64>,
    /// Whether the variable is hidden from users, because a front end introduced it for its own use.
    pub is_hidden: bool,
}

impl Variable {
    /// A scalar variable.
    ///
    /// ```
    /// use invigil_model::{Domain, Variable};
    /// assert_eq!(Variable::scalar("busy", Domain::Boolean, 0).elements(), 1);
    /// ```
    pub fn scalar(name: impl Into<String>, domain: Domain, initial: i64) -> Variable {
        Variable { name: name.into(), domain, length: None, initial: vec![initial], is_hidden: false }
    }

    /// An array, given the initial values of its elements.
    ///
    /// ```
    /// use invigil_model::{Domain, Variable};
    /// assert_eq!(Variable::array("slot", Domain::Boolean, vec![1, 0, 0]).elements(), 3);
    /// ```
    pub fn array(name: impl Into<String>, domain: Domain, initial: Vec<i64>) -> Variable {
        // Lengths beyond 32 bits do not fit into any state; `Model::new` rejects such an array.
        let length = u32::try_from(initial.len()).unwrap_or(u32::MAX);
        Variable { name: name.into(), domain, length: Some(length), initial, is_hidden: false }
    }

    /// The number of elements.
    ///
    /// ```
    /// use invigil_model::{Domain, Variable};
    /// assert_eq!(Variable::array("slot", Domain::Boolean, vec![0; 8]).elements(), 8);
    /// ```
    pub fn elements(&self) -> u32 {
        self.length.unwrap_or(1)
    }
}
