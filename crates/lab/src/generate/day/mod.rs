//! Random days in a home with sensors: sensor files, and annotations of the activities.
//!
//! A [`Household`] specifies the sensors, the effects of activities on them and the schedule. [`day`] generates a day
//! from it, determined by a seed.

mod household;
mod reader;

pub use household::{
    Activity, ActivityKind, EffectPattern, Household, ScheduleEntry, SecondsRange, Sensor, SensorEffect,
    SensorKind,
};

use super::{Random, random};
use crate::detect::Annotation;
use crate::inputs::Millis;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rand::RngExt;
use std::fmt::Write;
use std::iter::once;
use std::ops::Range;

/// Generated day.
#[derive(Clone, Debug, PartialEq)]
pub struct Day {
    /// Lines of each sensor's file, in the order of the household: time and value.
    pub sensors: Vec<Vec<(Millis, String)>>,
    /// Annotated activities.
    pub annotations: Vec<Annotation>,
}

/// Range of seconds after which a level sensor reports its next reading.
const REPORT_SECONDS: Range<i64> = 20..240;

const SECOND: Millis = 1000;

/// Generates a day of a household.
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
/// assert!(lived.annotations_csv().ends_with("2017-01-31 08:10:05,2017-01-31 08:30:05,watching\n"));
/// # Ok::<(), invigil_lab::inputs::ObservationError>(())
/// ```
pub fn day(household: &Household, seed: u64) -> Day {
    let mut random = random(seed, 0);
    let intervals = schedule(household, &mut random);
    let mut on: Vec<Vec<Range<Millis>>> = vec![Vec::new(); household.sensors.len()];
    for (activity, interval) in &intervals {
        for effect in &household.activities[*activity].effects {
            let active_intervals = active_intervals(effect, interval, &mut random);
            for sensor in &effect.sensors {
                match effect.pattern {
                    EffectPattern::Off => cut(&mut on[*sensor], interval),
                    _ => on[*sensor].extend(active_intervals.iter().cloned()),
                }
            }
        }
    }
    let sensors = household.sensors.iter().zip(&mut on);
    let sensors =
        sensors.map(|(sensor, on)| sensor_lines(&sensor.kind, on, &household.hours, &mut random)).collect();
    Day { sensors, annotations: annotations(household, &intervals, &mut random) }
}

/// Computes when activities take place. An activity ends after its own length, or when the next one begins.
fn schedule(household: &Household, random: &mut Random) -> Vec<(usize, Range<Millis>)> {
    let mut intervals: Vec<(usize, Range<Millis>)> = Vec::new();
    for plan in &household.schedule {
        let begin = plan.begin + draw(household.start_delay, random);
        let end = (begin + draw(plan.length, random)).min(household.hours.end);
        if let Some((_, last)) = intervals.last_mut() {
            last.end = last.end.min(begin);
        }
        intervals.push((plan.activity, begin..end));
    }
    intervals.retain(|(_, interval)| !interval.is_empty());
    intervals
}

/// Returns when an effect of an activity makes sensors active.
fn active_intervals(
    effect: &SensorEffect,
    interval: &Range<Millis>,
    random: &mut Random,
) -> Vec<Range<Millis>> {
    let begin = interval.start + draw(effect.after, random);
    let end = interval.end - draw(effect.before, random) + draw(effect.beyond, random);
    match effect.pattern {
        EffectPattern::Off => Vec::new(),
        EffectPattern::On => once(begin..end).collect(),
        EffectPattern::Periodic { on, off } => {
            let mut found = Vec::new();
            let mut at = begin + draw(off, random);
            // Terminates: both ranges are at least one second.
            while at < end {
                let until = at + draw(on, random);
                found.push(at..until.min(end));
                at = until + draw(off, random);
            }
            found
        }
    }
}

/// Removes an interval from others.
fn cut(intervals: &mut Vec<Range<Millis>>, removed: &Range<Millis>) {
    let pieces = intervals
        .iter()
        .flat_map(|each| [each.start..each.end.min(removed.start), each.start.max(removed.end)..each.end]);
    *intervals = pieces.filter(|piece| !piece.is_empty()).collect();
}

/// Returns the lines of a sensor: at the start and end of the day, and at every change.
fn sensor_lines(
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
            lines.push((at, kind.reading(value, random)));
            // A switch does not repeat its value.
            at = match kind {
                SensorKind::Switch { .. } => until,
                SensorKind::Level { .. } => at + SECOND * random.random_range(REPORT_SECONDS),
            };
        }
    }
    let last = changes.last().is_some_and(|(_, value)| *value);
    lines.push((hours.end, kind.reading(last, random)));
    lines
}

/// Merges overlapping and adjacent intervals and clips them to the hours.
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

fn annotations(
    household: &Household,
    intervals: &[(usize, Range<Millis>)],
    random: &mut Random,
) -> Vec<Annotation> {
    let mut entries: Vec<Annotation> = Vec::new();
    for (activity, interval) in intervals {
        let activity = &household.activities[*activity];
        let (begin, end) = (
            interval.start + draw(household.annotation_delay, random),
            interval.end + draw(household.annotation_delay, random),
        );
        if activity.kind == ActivityKind::Chore {
            continue;
        }
        // A delayed annotation must not overlap the previous one.
        let begin = entries.last().map_or(begin, |last| begin.max(last.end));
        let end = end.min(household.hours.end);
        if begin < end {
            entries.push(Annotation { begin, end, activity: activity.name.clone(), line: entries.len() + 2 });
        }
    }
    entries
}

/// Draws whole seconds from a range, in milliseconds.
fn draw(span: SecondsRange, random: &mut Random) -> Millis {
    SECOND * random.random_range(span.min..=span.max.max(span.min))
}

impl SensorKind {
    fn reading(&self, value: bool, random: &mut Random) -> String {
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
    /// Returns the lines of a sensor's file.
    pub fn lines(&self, sensor: usize) -> impl Iterator<Item = String> {
        let lines = self.sensors.get(sensor).map_or(&[][..], Vec::as_slice);
        lines.iter().map(|(when, value)| format!("{},{value}", format_timestamp(*when)))
    }

    /// Returns the annotations as a table.
    pub fn annotations_csv(&self) -> String {
        let mut text = "begin,end,activity\n".to_owned();
        for Annotation { begin, end, activity, .. } in &self.annotations {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{},{},{activity}", format_timestamp(*begin), format_timestamp(*end));
        }
        text
    }
}

/// Formats a time as date and time.
fn format_timestamp(time: Millis) -> String {
    match Timestamp::from_millisecond(time) {
        Ok(when) => when.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => time.to_string(),
    }
}
