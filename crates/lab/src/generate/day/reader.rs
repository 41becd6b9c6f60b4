//! Parser of household descriptions.

use super::household::{
    Activity, ActivityKind, EffectPattern, Household, ScheduleEntry, SecondsRange, Sensor, SensorEffect,
    SensorKind,
};
use crate::inputs::{Millis, ObservationError, parse_timestamp};

/// Maximum length of a time range in seconds: ten days.
const MAX_SECONDS: i64 = 864_000;

impl Household {
    /// Parses a household. `name` is used in messages.
    ///
    /// ```text
    /// day 2017-01-31 07:30 17:30
    /// late 0..60s                        # delay of every start
    /// notes 2..8s                        # delay of every annotation
    ///
    /// sensor tv: OFF, ON                 # idle and active value
    /// sensor light: 5..15, 150..200 above 40
    ///
    /// activity watching                  # a `chore` is the same without annotations
    ///     tv on after 30s before 10s     # also: beyond 60s, to outlast the activity
    ///     light off
    ///     couch, floor 20..90s every 5..15s
    ///
    /// 08:10 watching 25..30m
    /// ```
    ///
    /// # Errors
    /// Fails at the first malformed line.
    pub fn read(text: &str, name: &str) -> Result<Household, ObservationError> {
        let mut reader = Reader::default();
        for (at, line) in text.lines().enumerate() {
            let bare = line.split('#').next().unwrap_or("");
            if bare.trim().is_empty() {
                continue;
            }
            let is_indented = bare.starts_with([' ', '\t']);
            let result = if is_indented { reader.effect(bare.trim()) } else { reader.statement(bare.trim()) };
            result.map_err(|error| ObservationError::new(format_args!("{name}:{}", at + 1), error))?;
        }
        let Some(date) = reader.date else {
            return Err(ObservationError::new(name, "no day is given: write `day 2017-01-31 07:30 17:30`"));
        };
        reader.home.hours = date.1;
        Ok(reader.home)
    }
}

struct Reader {
    home: Household,
    /// The date and the recorded hours.
    date: Option<(String, std::ops::Range<Millis>)>,
    /// Whether indented lines belong to the last activity.
    is_open: bool,
}

impl Default for Reader {
    fn default() -> Reader {
        let home = Household {
            hours: 0..0,
            start_delay: SecondsRange::default(),
            annotation_delay: SecondsRange::default(),
            sensors: Vec::new(),
            activities: Vec::new(),
            schedule: Vec::new(),
        };
        Reader { home, date: None, is_open: false }
    }
}

/// Parsed value, or error with remedy.
type Parsed<T> = Result<T, String>;

impl Reader {
    fn statement(&mut self, line: &str) -> Parsed<()> {
        self.is_open = false;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "day" => self.day(rest),
            "late" => span(rest).map(|delay| self.home.start_delay = delay),
            "notes" => span(rest).map(|delay| self.home.annotation_delay = delay),
            "sensor" => self.sensor(rest),
            "activity" => self.activity(rest, ActivityKind::Activity),
            "chore" => self.activity(rest, ActivityKind::Chore),
            _ if word.contains(':') => self.plan(word, rest),
            _ => Err(format!(
                "unknown statement `{word}`: use day, late, notes, sensor, activity, chore, or a time of day"
            )),
        }
    }

    fn day(&mut self, rest: &str) -> Parsed<()> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let &[date, begin, end] = &words[..] else {
            return Err("expected a date and two times: `day 2017-01-31 07:30 17:30`".to_owned());
        };
        let (begin, end) = (time(date, begin)?, time(date, end)?);
        if end <= begin {
            return Err("the day ends before it begins: swap the two times".to_owned());
        }
        self.date = Some((date.to_owned(), begin..end));
        Ok(())
    }

    fn sensor(&mut self, rest: &str) -> Parsed<()> {
        let usage = "write `sensor NAME: OFF, ON` or `sensor NAME: 0..5, 60..90 above 20`";
        let (name, values) = rest.split_once(':').ok_or_else(|| format!("expected a sensor: {usage}"))?;
        let (name, values) = (name.trim(), values.trim());
        if !is_name(name) {
            return Err(format!("`{name}` is not a valid sensor name: use letters, digits and `_`"));
        }
        if self.home.sensors.iter().any(|known| known.name == name) {
            return Err(format!("duplicate sensor `{name}`: rename one of them"));
        }
        let (idle, busy) = values
            .split_once(',')
            .ok_or_else(|| format!("expected two values, found `{values}`: {usage}"))?;
        let kind = match busy.split_once("above") {
            Some((busy, threshold)) => level(idle, busy, threshold)?,
            None => switch(idle.trim(), busy.trim())?,
        };
        self.home.sensors.push(Sensor { name: name.to_owned(), kind });
        Ok(())
    }

    fn activity(&mut self, name: &str, kind: ActivityKind) -> Parsed<()> {
        if !is_name(name) {
            return Err(format!("`{name}` is not a valid activity name: use letters, digits and `_`"));
        }
        if self.home.activities.iter().any(|known| known.name == name) {
            return Err(format!("duplicate activity `{name}`: rename one of them"));
        }
        self.home.activities.push(Activity { name: name.to_owned(), kind, effects: Vec::new() });
        self.is_open = true;
        Ok(())
    }

    /// Parses a line below an activity: sensors and their pattern.
    fn effect(&mut self, line: &str) -> Parsed<()> {
        let Some(activity) = self.home.activities.last_mut().filter(|_| self.is_open) else {
            return Err(
                "this line is indented but belongs to no activity: write one above, or remove the indentation".to_owned()
            );
        };
        let mut words = line.split_whitespace();
        let mut sensors = Vec::new();
        for word in words.by_ref() {
            let name = word.trim_end_matches(',');
            let known = self.home.sensors.iter().position(|sensor| sensor.name == name);
            sensors.push(
                known.ok_or_else(|| {
                    format!("unknown sensor `{name}`: write `sensor {name}: OFF, ON` above")
                })?,
            );
            if name == word {
                break;
            }
        }
        let pattern = match words.next() {
            Some("on") => EffectPattern::On,
            Some("off") => EffectPattern::Off,
            Some(word) if words.next() == Some("every") => {
                let off = words.next().ok_or("expected the length of the pause: `20..60s every 5..10s`")?;
                let (on, off) = (span(word)?, span(off)?);
                if on.min < 1 || off.min < 1 {
                    return Err("a periodic effect and its pauses must last at least one second".to_owned());
                }
                EffectPattern::Periodic { on, off }
            }
            _ => {
                return Err(
                    "expected the pattern of the sensor: `on`, `off`, or for example `20..60s every 5..10s`"
                        .to_owned(),
                );
            }
        };
        let [mut after, mut before, mut beyond] = [SecondsRange::default(); 3];
        while let Some(word) = words.next() {
            let place = match word {
                "after" => &mut after,
                "before" => &mut before,
                "beyond" => &mut beyond,
                _ => {
                    return Err(format!(
                        "unexpected `{word}`: use after, before or beyond with a range of time"
                    ));
                }
            };
            *place = span(words.next().unwrap_or(""))?;
        }
        activity.effects.push(SensorEffect { sensors, pattern, after, before, beyond });
        Ok(())
    }

    /// Parses a line of the schedule: time, activity, duration.
    fn plan(&mut self, when: &str, rest: &str) -> Parsed<()> {
        let Some((date, hours)) = &self.date else {
            return Err("no day is given: write `day 2017-01-31 07:30 17:30` above".to_owned());
        };
        let begin = time(date, when)?;
        let (name, length) =
            rest.split_once(' ').ok_or("expected an activity and its duration: `08:10 napping 25..30m`")?;
        let activity = self.home.activities.iter().position(|activity| activity.name == name);
        let activity =
            activity.ok_or_else(|| format!("unknown activity `{name}`: write `activity {name}` above"))?;
        if !hours.contains(&begin) {
            return Err(format!("{when} is outside the hours of the day"));
        }
        if self.home.schedule.last().is_some_and(|last| begin <= last.begin) {
            return Err(format!("{when} is not later than the line above: sort the schedule by time"));
        }
        self.home.schedule.push(ScheduleEntry { begin, activity, length: span(length.trim())? });
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn time(date: &str, time: &str) -> Parsed<Millis> {
    let seconds = if time.matches(':').count() == 1 { ":00" } else { "" };
    parse_timestamp(&format!("{date} {time}{seconds}"))
        .ok_or_else(|| format!("`{date} {time}` is not a time: write for example `2017-01-31` and `07:30`"))
}

/// Parses a range of time: `20s`, `20..60s`, `25..35m`.
fn span(text: &str) -> Parsed<SecondsRange> {
    let found = || {
        let (numbers, unit) = match text.strip_suffix('m') {
            Some(numbers) => (numbers, 60),
            None => (text.strip_suffix('s')?, 1),
        };
        let (min, max) = numbers.split_once("..").unwrap_or((numbers, numbers));
        let number = |text: &str| text.parse::<u32>().ok().map(|number| i64::from(number) * unit);
        let span = SecondsRange { min: number(min)?, max: number(max)? };
        (span.min <= span.max && span.max <= MAX_SECONDS).then_some(span)
    };
    found().ok_or_else(|| {
        format!("`{text}` is not a range of time: write for example `40s`, `20..60s` or `25..35m`")
    })
}

fn switch(idle: &str, busy: &str) -> Parsed<SensorKind> {
    let words = [idle, busy].map(str::to_owned);
    match [idle, busy] {
        ["OFF", "ON"] | ["CLOSED", "OPEN"] => Ok(SensorKind::Switch { words }),
        _ => Err(format!(
            "`{idle}, {busy}` is neither `OFF, ON` nor `CLOSED, OPEN`, nor two ranges with `above NUMBER`"
        )),
    }
}

fn level(idle: &str, busy: &str, threshold: &str) -> Parsed<SensorKind> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("`{}` is not a number", text.trim()))
    };
    let range = |text: &str| {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        Ok::<_, String>((number(min)?, number(max)?))
    };
    let (ranges, threshold) = ([range(idle)?, range(busy)?], number(threshold)?);
    // Sensor files have one decimal.
    if !(ranges[0].0 <= ranges[0].1
        && ranges[0].1 <= threshold - 0.1
        && threshold + 0.1 <= ranges[1].0
        && ranges[1].0 <= ranges[1].1)
    {
        return Err(format!("the first range must be below {threshold}, the second above it"));
    }
    Ok(SensorKind::Level { ranges, threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "day 2017-01-31 07:30 17:30\nsensor tv: OFF, ON\nactivity watching\n";

    #[test]
    fn malformed_household_is_reported_with_line_and_remedy() {
        for (text, words) in [
            ("", "h: no day is given"),
            ("day monday 07:30 17:30", "h:1: `monday 07:30` is not a time"),
            ("day 2017-01-31 17:30 07:30", "h:1: the day ends before it begins"),
            ("day 2017-01-31", "h:1: expected a date and two times"),
            ("weather fine", "h:1: unknown statement `weather`"),
            ("late soon", "h:1: `soon` is not a range of time"),
            ("late 60..20s", "h:1: `60..20s` is not a range"),
            ("late 99999999m", "h:1: `99999999m` is not a range"),
            ("sensor tv", "h:1: expected a sensor"),
            ("sensor t v: OFF, ON", "h:1: `t v` is not a valid"),
            ("sensor tv: OFF", "h:1: expected two values, found `OFF`"),
            ("sensor tv: ON, OFF", "h:1: `ON, OFF` is neither"),
            ("sensor tv: 0..5, 3..9 above 4", "h:1: the first range must be below 4"),
            ("sensor tv: 0..x, 8..9 above 6", "h:1: `x` is not a number"),
            ("sensor tv: 0..nan, 8..9 above 6", "h:1: `nan` is not a number"),
            ("sensor tv: OFF, ON\nsensor tv: OFF, ON", "h:2: duplicate sensor `tv`"),
            ("    tv on", "h:1: this line is indented"),
            ("activity a\nactivity a", "h:2: duplicate activity `a`"),
            ("08:10 watching 3m", "h:1: no day is given"),
        ] {
            let wrong = Household::read(text, "h").unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{text}: {wrong}");
        }
        for (line, words) in [
            ("    radio on", "h:4: unknown sensor `radio`"),
            ("    tv", "h:4: expected the pattern of the sensor"),
            ("    tv 20s sometimes", "h:4: expected the pattern of the sensor"),
            ("    tv 0..3s every 5s", "h:4: a periodic effect"),
            ("    tv on until 5s", "h:4: unexpected `until`"),
            ("    tv on after", "h:4: `` is not a range"),
            ("08:10 sleeping 3m", "h:4: unknown activity `sleeping`"),
            ("07:10 watching 3m", "h:4: 07:10 is outside the hours"),
            ("08:10 watching", "h:4: expected an activity and its duration"),
            ("08:10 watching 3m\n08:10 watching 3m", "h:5: 08:10 is not later"),
        ] {
            let wrong = Household::read(&format!("{HEAD}{line}"), "h").unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{line}: {wrong}");
        }
    }
}
