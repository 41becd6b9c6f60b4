//! Lists of formulae, each with a name if it has one.

/// A formula of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What it is called, which may be the formula itself.
    pub name: String,
    /// The formula.
    pub formula: String,
}

impl Listed {
    /// The formulae of a text: one in each line, `FORMULA` or `NAME = FORMULA`. Empty lines and those that begin with `#` are
    /// left out.
    ///
    /// ```
    /// use invigil_lab::experiment::Listed;
    ///
    /// let list = Listed::read("# what must hold\n15b = G(a0 -> X b0)\n\nF<=3 a0 => b0\n");
    /// let names: Vec<(&str, &str)> = list.iter().map(|one| (one.name.as_str(), one.formula.as_str())).collect();
    /// assert_eq!(names, [("15b", "G(a0 -> X b0)"), ("F<=3 a0 => b0", "F<=3 a0 => b0")]);
    /// ```
    pub fn read(text: &str) -> Vec<Listed> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(Listed::line).collect()
    }

    fn line(line: &str) -> Listed {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        // `a => b` is a formula.
        let named = line.split_once('=').map(|(name, formula)| (name.trim(), formula.trim()));
        match named.filter(|(name, formula)| is_name(name) && !formula.starts_with(['>', '='])) {
            Some((name, formula)) => Listed { name: name.to_owned(), formula: formula.to_owned() },
            None => Listed { name: line.to_owned(), formula: line.to_owned() },
        }
    }

    /// The line that it was read from, without blanks that do not matter.
    pub fn written(&self) -> String {
        if self.name == self.formula {
            self.formula.clone()
        } else {
            format!("{} = {}", self.name, self.formula)
        }
    }
}
