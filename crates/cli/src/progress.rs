//! Progress of a long check, shown on a terminal.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Shorter checks show no progress.
const DELAY: Duration = Duration::from_millis(400);

/// Progress display: a bar if the size of the trace is known, otherwise a spinner.
pub(crate) struct Progress {
    size: Option<u64>,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(size: Option<u64>) -> Progress {
        Progress { size, started: Instant::now(), bar: None }
    }

    pub(crate) fn show(&mut self, events: u64, bytes: u64, violations: u64) {
        let elapsed = self.started.elapsed();
        if elapsed < DELAY {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| bar(self.size));
        let rate = events as f64 / elapsed.as_secs_f64() / 1e6;
        let plural = |number: u64| if number == 1 { "" } else { "s" };
        bar.set_message(format!(
            "{} event{}, {rate:.1} million/s, {} violation{}",
            HumanCount(events),
            plural(events),
            HumanCount(violations),
            plural(violations)
        ));
        bar.set_position(bytes);
    }

    /// Removes the display from the terminal.
    pub(crate) fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(size: Option<u64>) -> ProgressBar {
    let bar = size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = match size {
        Some(_) => "{bar:30} {percent:>3}%  {msg}  {eta} left",
        None => "{spinner} {msg}  {elapsed}",
    };
    // The templates are constants that parse; indicatif's default is the fallback.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
