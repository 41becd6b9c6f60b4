//! Households as people write them.

use super::household::{Act, Effect, Household, Kind, Pattern, Plan, Sensor, SensorKind, Span};
use crate::periphery::{Millis, Trouble, moment};

/// No span is longer, in seconds: ten days.
const LONGEST: i64 = 864_000;

impl Household {
    /// Reads a household. `name` is for messages.
    ///
    /// ```text
    /// day 2017-01-31 07:30 17:30
    /// late 0..60s                        # how late things begin
    /// notes 2..8s                        # how late it is written down that they begin and end
    ///
    /// sensor tv: OFF, ON                 # when nothing happens, and when something does
    /// sensor light: 5..15, 150..200 above 40
    ///
    /// activity watching                  # a `chore` is the same, and is not written down
    ///     tv on after 30s before 10s     # also: beyond 60s, for longer than it lasts
    ///     light off
    ///     couch, floor 20..90s every 5..15s
    ///
    /// 08:10 watching 25..30m
    /// ```
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn read(text: &str, name: &str) -> Result<Household, Trouble> {
        let mut reader = Reader::default();
        for (at, line) in text.lines().enumerate() {
            let bare = line.split('#').next().unwrap_or("");
            if bare.trim().is_empty() {
                continue;
            }
            let is_below = bare.starts_with([' ', '\t']);
            let done = if is_below { reader.effect(bare.trim()) } else { reader.statement(bare.trim()) };
            done.map_err(|words| Trouble::new(format_args!("{name}:{}", at + 1), words))?;
        }
        let Some(date) = reader.date else {
            return Err(Trouble::new(
                name,
                "nobody says which day it is: write `day 2017-01-31 07:30 17:30`",
            ));
        };
        reader.home.hours = date.1;
        Ok(reader.home)
    }
}

struct Reader {
    home: Household,
    /// The day, and its hours.
    date: Option<(String, std::ops::Range<Millis>)>,
    /// Whether lines below belong to the last act.
    is_open: bool,
}

impl Default for Reader {
    fn default() -> Reader {
        let home = Household {
            hours: 0..0,
            late: Span::default(),
            notes: Span::default(),
            sensors: Vec::new(),
            acts: Vec::new(),
            plans: Vec::new(),
        };
        Reader { home, date: None, is_open: false }
    }
}

/// What is wrong, and what would be right.
type Read<T> = Result<T, String>;

impl Reader {
    fn statement(&mut self, line: &str) -> Read<()> {
        self.is_open = false;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "day" => self.day(rest),
            "late" => span(rest).map(|late| self.home.late = late),
            "notes" => span(rest).map(|notes| self.home.notes = notes),
            "sensor" => self.sensor(rest),
            "activity" => self.act(rest, Kind::Activity),
            "chore" => self.act(rest, Kind::Chore),
            _ if word.contains(':') => self.plan(word, rest),
            _ => Err(format!(
                "`{word}` is no statement: there are day, late, notes, sensor, activity, chore, and a time of day"
            )),
        }
    }

    fn day(&mut self, rest: &str) -> Read<()> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let &[date, begin, end] = &words[..] else {
            return Err("expected a date and two times: `day 2017-01-31 07:30 17:30`".to_owned());
        };
        let (begin, end) = (time(date, begin)?, time(date, end)?);
        if end <= begin {
            return Err("the day ends before it begins: exchange the two times".to_owned());
        }
        self.date = Some((date.to_owned(), begin..end));
        Ok(())
    }

    fn sensor(&mut self, rest: &str) -> Read<()> {
        let wanted = "write `sensor NAME: OFF, ON` or `sensor NAME: 0..5, 60..90 above 20`";
        let (name, values) = rest.split_once(':').ok_or_else(|| format!("expected a sensor: {wanted}"))?;
        let (name, values) = (name.trim(), values.trim());
        if !is_name(name) {
            return Err(format!("`{name}` is no name for a sensor: letters, digits and `_` are"));
        }
        if self.home.sensors.iter().any(|known| known.name == name) {
            return Err(format!("there are two sensors `{name}`: rename one of them"));
        }
        let (idle, busy) =
            values.split_once(',').ok_or_else(|| format!("`{values}` are not two values: {wanted}"))?;
        let kind = match busy.split_once("above") {
            Some((busy, threshold)) => level(idle, busy, threshold)?,
            None => switch(idle.trim(), busy.trim())?,
        };
        self.home.sensors.push(Sensor { name: name.to_owned(), kind });
        Ok(())
    }

    fn act(&mut self, name: &str, kind: Kind) -> Read<()> {
        if !is_name(name) {
            return Err(format!("`{name}` is no name for what is done: letters, digits and `_` are"));
        }
        if self.home.acts.iter().any(|known| known.name == name) {
            return Err(format!("`{name}` is there already: rename one of them"));
        }
        self.home.acts.push(Act { name: name.to_owned(), kind, effects: Vec::new() });
        self.is_open = true;
        Ok(())
    }

    /// A line below an activity: sensors, and how they are driven.
    fn effect(&mut self, line: &str) -> Read<()> {
        let Some(act) = self.home.acts.last_mut().filter(|_| self.is_open) else {
            return Err(
                "this line is indented, but belongs to no activity: write one above, or no blanks".to_owned()
            );
        };
        let mut words = line.split_whitespace();
        let mut sensors = Vec::new();
        for word in words.by_ref() {
            let name = word.trim_end_matches(',');
            let known = self.home.sensors.iter().position(|sensor| sensor.name == name);
            sensors.push(known.ok_or_else(|| {
                format!("there is no sensor `{name}`: write `sensor {name}: OFF, ON` above")
            })?);
            if name == word {
                break;
            }
        }
        let pattern = match words.next() {
            Some("on") => Pattern::On,
            Some("off") => Pattern::Off,
            Some(word) if words.next() == Some("every") => {
                let off = words.next().ok_or("expected how long it pauses: `20..60s every 5..10s`")?;
                let (on, off) = (span(word)?, span(off)?);
                if on.least < 1 || off.least < 1 {
                    return Err(
                        "what comes again and again lasts and pauses for a second at least".to_owned()
                    );
                }
                Pattern::Again { on, off }
            }
            _ => {
                return Err(
                    "expected what the sensor does: `on`, `off`, or as in `20..60s every 5..10s`".to_owned()
                );
            }
        };
        let [mut after, mut before, mut beyond] = [Span::default(); 3];
        while let Some(word) = words.next() {
            let place = match word {
                "after" => &mut after,
                "before" => &mut before,
                "beyond" => &mut beyond,
                _ => {
                    return Err(format!(
                        "`{word}` means nothing here: there are after, before and beyond, with a span"
                    ));
                }
            };
            *place = span(words.next().unwrap_or(""))?;
        }
        act.effects.push(Effect { sensors, pattern, after, before, beyond });
        Ok(())
    }

    /// A line of the schedule: when, what, for how long.
    fn plan(&mut self, when: &str, rest: &str) -> Read<()> {
        let Some((date, hours)) = &self.date else {
            return Err("nobody says which day it is: write `day 2017-01-31 07:30 17:30` above".to_owned());
        };
        let begin = time(date, when)?;
        let (name, length) =
            rest.split_once(' ').ok_or("expected what is done and for how long: `08:10 napping 25..30m`")?;
        let act = self.home.acts.iter().position(|act| act.name == name);
        let act = act.ok_or_else(|| format!("nothing is called `{name}`: write `activity {name}` above"))?;
        if !hours.contains(&begin) {
            return Err(format!("{when} is not within the hours of the day"));
        }
        if self.home.plans.last().is_some_and(|last| begin <= last.begin) {
            return Err(format!("{when} is not later than the line above: put them into the order of time"));
        }
        self.home.plans.push(Plan { begin, act, length: span(length.trim())? });
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn time(date: &str, time: &str) -> Read<Millis> {
    let seconds = if time.matches(':').count() == 1 { ":00" } else { "" };
    moment(&format!("{date} {time}{seconds}"))
        .ok_or_else(|| format!("`{date} {time}` is no time: write as in `2017-01-31` and `07:30`"))
}

/// `20s`, `20..60s`, `25..35m`.
fn span(text: &str) -> Read<Span> {
    let found = || {
        let (numbers, unit) = match text.strip_suffix('m') {
            Some(numbers) => (numbers, 60),
            None => (text.strip_suffix('s')?, 1),
        };
        let (least, most) = numbers.split_once("..").unwrap_or((numbers, numbers));
        let number = |text: &str| text.parse::<u32>().ok().map(|number| i64::from(number) * unit);
        let span = Span { least: number(least)?, most: number(most)? };
        (span.least <= span.most && span.most <= LONGEST).then_some(span)
    };
    found().ok_or_else(|| format!("`{text}` is no span of time: write as in `40s`, `20..60s` or `25..35m`"))
}

fn switch(idle: &str, busy: &str) -> Read<SensorKind> {
    let words = [idle, busy].map(str::to_owned);
    match [idle, busy] {
        ["OFF", "ON"] | ["CLOSED", "OPEN"] => Ok(SensorKind::Switch { words }),
        _ => Err(format!(
            "`{idle}, {busy}` is neither `OFF, ON` nor `CLOSED, OPEN`, nor two ranges with `above NUMBER`"
        )),
    }
}

fn level(idle: &str, busy: &str, threshold: &str) -> Read<SensorKind> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("`{}` is no number", text.trim()))
    };
    let range = |text: &str| {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        Ok::<_, String>((number(least)?, number(most)?))
    };
    let (ranges, threshold) = ([range(idle)?, range(busy)?], number(threshold)?);
    // One digit is written down.
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
    fn mistakes_have_a_place_and_a_remedy() {
        for (text, words) in [
            ("", "h: nobody says which day it is"),
            ("day monday 07:30 17:30", "h:1: `monday 07:30` is no time"),
            ("day 2017-01-31 17:30 07:30", "h:1: the day ends before it begins"),
            ("day 2017-01-31", "h:1: expected a date and two times"),
            ("weather fine", "h:1: `weather` is no statement"),
            ("late soon", "h:1: `soon` is no span of time"),
            ("late 60..20s", "h:1: `60..20s` is no span"),
            ("late 99999999m", "h:1: `99999999m` is no span"),
            ("sensor tv", "h:1: expected a sensor"),
            ("sensor t v: OFF, ON", "h:1: `t v` is no name"),
            ("sensor tv: OFF", "h:1: `OFF` are not two values"),
            ("sensor tv: ON, OFF", "h:1: `ON, OFF` is neither"),
            ("sensor tv: 0..5, 3..9 above 4", "h:1: the first range must be below 4"),
            ("sensor tv: 0..x, 8..9 above 6", "h:1: `x` is no number"),
            ("sensor tv: 0..nan, 8..9 above 6", "h:1: `nan` is no number"),
            ("sensor tv: OFF, ON\nsensor tv: OFF, ON", "h:2: there are two sensors"),
            ("    tv on", "h:1: this line is indented"),
            ("activity a\nactivity a", "h:2: `a` is there already"),
            ("08:10 watching 3m", "h:1: nobody says which day"),
        ] {
            let wrong = Household::read(text, "h").unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{text}: {wrong}");
        }
        for (line, words) in [
            ("    radio on", "h:4: there is no sensor `radio`"),
            ("    tv", "h:4: expected what the sensor does"),
            ("    tv 20s sometimes", "h:4: expected what the sensor does"),
            ("    tv 0..3s every 5s", "h:4: what comes again and again"),
            ("    tv on until 5s", "h:4: `until` means nothing here"),
            ("    tv on after", "h:4: `` is no span"),
            ("08:10 sleeping 3m", "h:4: nothing is called `sleeping`"),
            ("07:10 watching 3m", "h:4: 07:10 is not within the hours"),
            ("08:10 watching", "h:4: expected what is done and for how long"),
            ("08:10 watching 3m\n08:10 watching 3m", "h:5: 08:10 is not later"),
        ] {
            let wrong = Household::read(&format!("{HEAD}{line}"), "h").unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{line}: {wrong}");
        }
    }
}
