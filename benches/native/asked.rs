//! Requirements on the figures, and whether they are met.

/// The figures with requirements.
#[derive(Default)]
pub(crate) struct Asked {
    lines: Vec<(String, Answer)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Met,
    Short,
    /// Not measured.
    Unknown,
}

impl Asked {
    /// Adds a figure with a minimum.
    pub(crate) fn at_least(&mut self, what: &str, figure: f64, asked: f64, unit: &str) {
        let met = figure >= asked;
        self.add(format!("{what}: {figure:.2}{unit}, required at least {asked}{unit}"), met);
    }

    /// Adds a figure with a maximum.
    pub(crate) fn at_most(&mut self, what: &str, figure: f64, asked: f64, unit: &str) {
        let met = figure <= asked;
        self.add(format!("{what}: {figure:.3}{unit}, required at most {asked}{unit}"), met);
    }

    /// Adds a requirement that is true or false.
    pub(crate) fn holds(&mut self, what: &str, met: bool) {
        self.add(what.to_owned(), met);
    }

    /// Adds a requirement that could not be measured.
    pub(crate) fn unknown(&mut self, words: &str) {
        self.lines.push((words.to_owned(), Answer::Unknown));
    }

    fn add(&mut self, words: String, met: bool) {
        self.lines.push((words, if met { Answer::Met } else { Answer::Short }));
    }

    pub(crate) fn print(&self) {
        println!("requirements:");
        for (words, answer) in &self.lines {
            let answer = match answer {
                Answer::Met => "met      ",
                Answer::Short => "short    ",
                Answer::Unknown => "not shown",
            };
            println!("  {answer} - {words}");
        }
        let met = self.lines.iter().filter(|(_, answer)| *answer == Answer::Met).count();
        println!("  {met} of {} met", self.lines.len());
    }
}
