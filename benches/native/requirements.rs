//! Requirements on the figures, and whether they are met.

/// The figures with requirements.
#[derive(Default)]
pub(crate) struct Requirements {
    lines: Vec<(String, Status)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Met,
    Short,
    /// Not measured.
    Unknown,
}

impl Requirements {
    /// Adds a figure with a minimum.
    pub(crate) fn at_least(&mut self, what: &str, figure: f64, required: f64, unit: &str) {
        let met = figure >= required;
        self.add(format!("{what}: {figure:.2}{unit}, required at least {required}{unit}"), met);
    }

    /// Adds a figure with a maximum.
    pub(crate) fn at_most(&mut self, what: &str, figure: f64, required: f64, unit: &str) {
        let met = figure <= required;
        self.add(format!("{what}: {figure:.3}{unit}, required at most {required}{unit}"), met);
    }

    /// Adds a requirement that is true or false.
    pub(crate) fn holds(&mut self, what: &str, met: bool) {
        self.add(what.to_owned(), met);
    }

    /// Adds a requirement that could not be measured.
    pub(crate) fn unknown(&mut self, text: &str) {
        self.lines.push((text.to_owned(), Status::Unknown));
    }

    fn add(&mut self, text: String, met: bool) {
        self.lines.push((text, if met { Status::Met } else { Status::Short }));
    }

    pub(crate) fn print(&self) {
        println!("requirements:");
        for (text, status) in &self.lines {
            let status = match status {
                Status::Met => "met      ",
                Status::Short => "short    ",
                Status::Unknown => "not shown",
            };
            println!("  {status} - {text}");
        }
        let met = self.lines.iter().filter(|(_, status)| *status == Status::Met).count();
        println!("  {met} of {} met", self.lines.len());
    }
}
