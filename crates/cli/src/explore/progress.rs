//! Progress of a long search, shown on a terminal.

use crate::interrupt::InterruptFlag;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use invigil_explore::{ProgressListener, Totals};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shorter searches show no progress.
const DELAY: Duration = Duration::from_millis(400);
/// How often the line is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Line with the search's totals. Ctrl-C stops the search.
pub(crate) struct Progress<'a> {
    interrupt: &'a InterruptFlag,
    line: Option<Mutex<Line>>,
}

struct Line {
    started: Instant,
    shown: Instant,
    bar: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(interrupt: &'a InterruptFlag, is_shown: bool) -> Progress<'a> {
        let now = Instant::now();
        let line = is_shown.then(|| Mutex::new(Line { started: now, shown: now, bar: None }));
        Progress { interrupt, line }
    }

    /// Removes the line from the terminal.
    pub(crate) fn clear(&self) {
        if let Some(line) = &self.line
            && let Some(bar) = line.lock().unwrap_or_else(PoisonError::into_inner).bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

impl ProgressListener for Progress<'_> {
    fn progress(&self, totals: &Totals) {
        // While another worker draws, this one continues its search.
        let Some(mut line) = self.line.as_ref().and_then(|line| line.try_lock().ok()) else { return };
        if line.started.elapsed() < DELAY || (line.bar.is_some() && line.shown.elapsed() < REDRAW_INTERVAL) {
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
    // The template is a constant that parses; indicatif's default is the fallback.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
        bar.set_style(style);
    }
    bar
}
