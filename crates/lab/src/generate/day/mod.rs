//! Days in a home with sensors: somebody lives there, and writes down what he does.
//!
//! A [`Household`] says which sensors there are, what activities do to them, and when they are done. [`day`] makes a day of
//! it, the same one for the same seed.

mod household;
mod reader;

pub use household::{Act, Effect, Household, Kind, Pattern, Plan, Sensor, SensorKind, Span};

use super::{Random, random};
use crate::detect::Entry;
use crate::periphery::Millis;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rand::RngExt;
use std::fmt::Write;
use std::iter::once;
use std::ops::Range;

/// A day as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Day {
    /// For each sensor of the household, in its order, the lines of its file: when it said what.
    pub sensors: Vec<Vec<(Millis, String)>>,
    /// What was written down.
    pub diary: Vec<Entry>,
}

/// Numbers of a sensor that is not a switch are told again after so many seconds.
const AGAIN: Range<Millis> = 20..240;

const SECOND: Millis = 1000;

/// A day of a household.
///
/// ```
/// use invigil_lab::generate::{Household, day};
///
/// let home = Household::read(
///     "day 2017-01-31 08:00 09:00\n\
///      notes 5s\n\
///      sensor tv: OFF, ON\n\
///      activity watching\n    tv on after 60s\n\
///      08:10 watching 20m\n",
///     "simple.home",
/// )?;
/// let lived = day(&home, 1);
/// let lines: Vec<String> = lived.lines(0).map(|line| line[11..].to_owned()).collect();
/// assert_eq!(lines, ["08:00:00,OFF", "08:11:00,ON", "08:30:00,OFF", "09:00:00,OFF"]);
/// assert!(lived.activities().ends_with("2017-01-31 08:10:05,2017-01-31 08:30:05,watching\n"));
/// # Ok::<(), invigil_lab::periphery::Trouble>(())
/// ```
pub fn day(household: &Household, seed: u64) -> Day {
    let mut random = random(seed, 0);
    let stays = schedule(household, &mut random);
    let mut on: Vec<Vec<Range<Millis>>> = vec![Vec::new(); household.sensors.len()];
    for (act, stay) in &stays {
        for effect in &household.acts[*act].effects {
            let driven = driven(effect, stay, &mut random);
            for sensor in &effect.sensors {
                match effect.pattern {
                    Pattern::Off => cut(&mut on[*sensor], stay),
                    _ => on[*sensor].extend(driven.iter().cloned()),
                }
            }
        }
    }
    let sensors = household.sensors.iter().zip(&mut on);
    let sensors = sensors.map(|(sensor, on)| told(&sensor.kind, on, &household.hours, &mut random)).collect();
    Day { sensors, diary: diary(household, &stays, &mut random) }
}

/// What is done when. Whoever begins something ends what he did before.
fn schedule(household: &Household, random: &mut Random) -> Vec<(usize, Range<Millis>)> {
    let mut stays: Vec<(usize, Range<Millis>)> = Vec::new();
    for plan in &household.plans {
        let begin = plan.begin + draw(household.late, random);
        let end = (begin + draw(plan.length, random)).min(household.hours.end);
        if let Some((_, last)) = stays.last_mut() {
            last.end = last.end.min(begin);
        }
        stays.push((plan.act, begin..end));
    }
    stays.retain(|(_, stay)| !stay.is_empty());
    stays
}

/// When something drives a sensor, as long as it lasts.
fn driven(effect: &Effect, stay: &Range<Millis>, random: &mut Random) -> Vec<Range<Millis>> {
    let begin = stay.start + draw(effect.after, random);
    let end = stay.end - draw(effect.before, random) + draw(effect.beyond, random);
    match effect.pattern {
        Pattern::Off => Vec::new(),
        Pattern::On => once(begin..end).collect(),
        Pattern::Again { on, off } => {
            let mut found = Vec::new();
            let mut at = begin + draw(off, random);
            // Both take a second at least, so this ends.
            while at < end {
                let until = at + draw(on, random);
                found.push(at..until.min(end));
                at = until + draw(off, random);
            }
            found
        }
    }
}

/// Takes an interval out of others.
fn cut(intervals: &mut Vec<Range<Millis>>, out: &Range<Millis>) {
    let pieces = intervals
        .iter()
        .flat_map(|each| [each.start..each.end.min(out.start), each.start.max(out.end)..each.end]);
    *intervals = pieces.filter(|piece| !piece.is_empty()).collect();
}

/// What a sensor says: at the beginning and at the end of the day, and whenever it changes.
fn told(
    kind: &SensorKind,
    on: &mut [Range<Millis>],
    hours: &Range<Millis>,
    random: &mut Random,
) -> Vec<(Millis, String)> {
    let mut changes = vec![(hours.start, false)];
    for each in merged(on, hours) {
        changes.extend([(each.start, true), (each.end, false)]);
    }
    let mut lines = Vec::new();
    for (number, &(when, value)) in changes.iter().enumerate() {
        let until = changes.get(number + 1).map_or(hours.end, |(next, _)| *next);
        let mut at = when;
        while at < until {
            lines.push((at, kind.said(value, random)));
            // A switch says nothing new.
            at = match kind {
                SensorKind::Switch { .. } => until,
                SensorKind::Level { .. } => at + SECOND * random.random_range(AGAIN),
            };
        }
    }
    let last = changes.last().is_some_and(|(_, value)| *value);
    lines.push((hours.end, kind.said(last, random)));
    lines
}

/// Intervals within the hours, in the order of time; those that touch are one.
fn merged(intervals: &mut [Range<Millis>], hours: &Range<Millis>) -> Vec<Range<Millis>> {
    intervals.sort_by_key(|each| each.start);
    let mut merged: Vec<Range<Millis>> = Vec::new();
    for each in intervals.iter().map(|each| each.start.max(hours.start)..each.end.min(hours.end)) {
        match merged.last_mut() {
            _ if each.is_empty() => {}
            Some(last) if last.end >= each.start => last.end = last.end.max(each.end),
            _ => merged.push(each),
        }
    }
    merged
}

fn diary(household: &Household, stays: &[(usize, Range<Millis>)], random: &mut Random) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (act, stay) in stays {
        let act = &household.acts[*act];
        let (begin, end) =
            (stay.start + draw(household.notes, random), stay.end + draw(household.notes, random));
        if act.kind == Kind::Chore {
            continue;
        }
        // What is written down late must not run into what was done before.
        let begin = entries.last().map_or(begin, |last| begin.max(last.end));
        let end = end.min(household.hours.end);
        if begin < end {
            entries.push(Entry { begin, end, activity: act.name.clone(), line: entries.len() + 2 });
        }
    }
    entries
}

/// A number of whole seconds out of a span.
fn draw(span: Span, random: &mut Random) -> Millis {
    SECOND * random.random_range(span.least..=span.most.max(span.least))
}

impl SensorKind {
    fn said(&self, value: bool, random: &mut Random) -> String {
        match self {
            SensorKind::Switch { words } => words[usize::from(value)].clone(),
            SensorKind::Level { ranges, .. } => {
                let (least, most) = ranges[usize::from(value)];
                format!("{:.1}", least + (most - least) * random.random::<f64>())
            }
        }
    }
}

impl Day {
    /// The lines of a sensor's file.
    pub fn lines(&self, sensor: usize) -> impl Iterator<Item = String> {
        let lines = self.sensors.get(sensor).map_or(&[][..], Vec::as_slice);
        lines.iter().map(|(when, value)| format!("{},{value}", written(*when)))
    }

    /// What was written down, as a table.
    pub fn activities(&self) -> String {
        let mut text = "begin,end,activity\n".to_owned();
        for Entry { begin, end, activity, .. } in &self.diary {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{},{},{activity}", written(*begin), written(*end));
        }
        text
    }
}

/// A moment as people write it.
fn written(moment: Millis) -> String {
    match Timestamp::from_millisecond(moment) {
        Ok(when) => when.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => moment.to_string(),
    }
}
