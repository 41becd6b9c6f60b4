//! What is asked of the figures, and whether they meet it.

/// The figures that something is asked of.
#[derive(Default)]
pub(crate) struct Asked {
    lines: Vec<(String, Answer)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Met,
    Short,
    /// There was nothing to compare with.
    Unknown,
}

impl Asked {
    /// A figure that must not be smaller than this.
    pub(crate) fn at_least(&mut self, what: &str, figure: f64, asked: f64, unit: &str) {
        let met = figure >= asked;
        self.add(format!("{what}: {figure:.2}{unit}, asked at least {asked}{unit}"), met);
    }

    /// A figure that must not be larger than this.
    pub(crate) fn at_most(&mut self, what: &str, figure: f64, asked: f64, unit: &str) {
        let met = figure <= asked;
        self.add(format!("{what}: {figure:.3}{unit}, asked at most {asked}{unit}"), met);
    }

    /// Something that must hold.
    pub(crate) fn holds(&mut self, what: &str, met: bool) {
        self.add(what.to_owned(), met);
    }

    /// Something that could not be measured here.
    pub(crate) fn unknown(&mut self, words: &str) {
        self.lines.push((words.to_owned(), Answer::Unknown));
    }

    fn add(&mut self, words: String, met: bool) {
        self.lines.push((words, if met { Answer::Met } else { Answer::Short }));
    }

    pub(crate) fn print(&self) {
        println!("asked for:");
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
