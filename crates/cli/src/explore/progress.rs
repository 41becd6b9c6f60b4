//! How far a search is, shown on a terminal while it takes long.

use crate::interrupt::Interrupt;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use invigil_explore::{Pulse, Totals};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is done sooner needs no progress.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);

/// A line with what was seen; Ctrl-C ends the search.
pub(crate) struct Progress<'a> {
    interrupt: &'a Interrupt,
    line: Option<Mutex<Line>>,
}

struct Line {
    started: Instant,
    shown: Instant,
    bar: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(interrupt: &'a Interrupt, is_shown: bool) -> Progress<'a> {
        let now = Instant::now();
        let line = is_shown.then(|| Mutex::new(Line { started: now, shown: now, bar: None }));
        Progress { interrupt, line }
    }

    /// Takes it off the screen.
    pub(crate) fn clear(&self) {
        if let Some(line) = &self.line
            && let Some(bar) = line.lock().unwrap_or_else(PoisonError::into_inner).bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

impl Pulse for Progress<'_> {
    fn beat(&self, totals: &Totals) {
        // Whoever comes while another shows something goes on with its search.
        let Some(mut line) = self.line.as_ref().and_then(|line| line.try_lock().ok()) else { return };
        if line.started.elapsed() < PATIENCE || (line.bar.is_some() && line.shown.elapsed() < EVERY) {
            return;
        }
        line.shown = Instant::now();
        let rate = totals.states as f64 / line.started.elapsed().as_secs_f64() / 1e6;
        let bar = line.bar.get_or_insert_with(spinner);
        bar.set_message(format!(
            "{} configurations, {} transitions, depth {}, {} waiting, {rate:.2} million/s, {}",
            HumanCount(totals.states),
            HumanCount(totals.transitions),
            HumanCount(totals.depth),
            HumanCount(totals.waiting),
            HumanBytes(totals.memory)
        ));
        bar.tick();
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.is_set()
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    // The template is fixed: if it did not parse, indicatif's own would do.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
        bar.set_style(style);
    }
    bar
}
