//! Lists of named formulae.

/// Formula of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFormula {
    /// Its name; the formula itself if it has none.
    pub name: String,
    /// The formula.
    pub formula: String,
}

impl NamedFormula {
    /// Parses a list: one formula per line, `FORMULA` or `NAME = FORMULA`. Empty lines and lines that start with `#`
    /// are skipped.
    ///
    /// ```
    /// use invigil_lab::experiment::NamedFormula;
    ///
    /// let list = NamedFormula::read("# what must hold\n15b = G(a0 -> X b0)\n\nF<=3 a0 => b0\n");
    /// let names: Vec<(&str, &str)> = list.iter().map(|one| (one.name.as_str(), one.formula.as_str())).collect();
    /// assert_eq!(names, [("15b", "G(a0 -> X b0)"), ("F<=3 a0 => b0", "F<=3 a0 => b0")]);
    /// ```
    pub fn read(text: &str) -> Vec<NamedFormula> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(NamedFormula::line).collect()
    }

    fn line(line: &str) -> NamedFormula {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        // `a => b` is a formula.
        let named = line.split_once('=').map(|(name, formula)| (name.trim(), formula.trim()));
        match named.filter(|(name, formula)| is_name(name) && !formula.starts_with(['>', '='])) {
            Some((name, formula)) => NamedFormula { name: name.to_owned(), formula: formula.to_owned() },
            None => NamedFormula { name: line.to_owned(), formula: line.to_owned() },
        }
    }

    /// Returns the line of the formula in a list, with normalized blanks.
    pub fn to_line(&self) -> String {
        if self.name == self.formula {
            self.formula.clone()
        } else {
            format!("{} = {}", self.name, self.formula)
        }
    }
}
