//! Our own search.

use invigil_benches::{Time, timed};
use invigil_compile::Compiled;
use invigil_explore::{Search, Wanted, breadth};
use invigil_expr::diag::SourceId;
use invigil_lang::{dve, model};
use invigil_model::Model;

/// What our search found.
pub(crate) struct Ours {
    pub(crate) states: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Time,
}

impl Ours {
    /// Takes the times of another run of the same where they are shorter.
    pub(crate) fn keep_better(&mut self, again: &Ours) {
        self.time.cpu = self.time.cpu.min(again.time.cpu);
        self.time.wall = self.time.wall.min(again.time.wall);
    }
}

/// Compiles and explores a model; both are timed.
pub(crate) fn explore(model: &Model, threads: usize) -> Ours {
    let wanted = Wanted { deadlocks: false, bad: false, faults: false };
    let search = Search { threads, wanted, whole: true, ..Search::default() };
    let (time, report) = timed(|| {
        let compiled =
            Compiled::new(model, &[]).unwrap_or_else(|why| panic!("the model cannot be compiled: {}", why.0));
        breadth(&compiled, &search, &())
    });
    Ours { states: report.totals.states, bytes: report.totals.memory, time }
}

/// A model in DVE.
pub(crate) fn dve(text: &str) -> Model {
    let (loaded, problems) = dve::load(SourceId(0), text, &dve::Options::default());
    loaded.unwrap_or_else(|| panic!("the model is wrong: {problems:?}")).model
}

/// The model of this name in our language.
pub(crate) fn language(name: &str) -> Model {
    let text = match name {
        "peterson.4" => include_str!("models/peterson.model"),
        "buffer" => include_str!("models/buffer.model"),
        "at.4" => include_str!("models/at.model"),
        "bakery.5" => include_str!("models/bakery.model"),
        "phils.6" => include_str!("models/phils.model"),
        _ => include_str!("models/anderson.model"),
    };
    let (loaded, problems) = model::load(SourceId(0), text);
    loaded.unwrap_or_else(|| panic!("the model is wrong: {problems:?}")).model
}
