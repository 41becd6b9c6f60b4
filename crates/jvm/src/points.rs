//! The points of the developer and the scenario.

use crate::target::Target;
use invigil_jvm_agent::protocol::{Answer, Ask, Datum, Key, Moment, Request, Source, Spot, Type};
use invigil_session::subject::{Done, Owner, Point, PointId, PointSpec, Stop, Trouble, What};
use std::collections::BTreeMap;

/// The number of the point that `until` sets for itself.
pub(crate) const UNTIL: u32 = u32::MAX;

struct Set {
    owner: Owner,
    spec: PointSpec,
    enabled: bool,
    hits: u64,
    /// How many more hits are passed over.
    ignore: u64,
    /// Its name, as the agent knows it.
    name: String,
    /// Empty as long as no class was loaded that has it.
    places: Vec<String>,
}

/// The points that are set.
#[derive(Default)]
pub(crate) struct Points {
    all: BTreeMap<PointId, Set>,
    last: u32,
    /// Whether `until` has set one.
    until: bool,
}

impl Points {
    /// Whose a point is, if it is on.
    pub(crate) fn owner(&self, id: PointId) -> Option<Owner> {
        self.all.get(&id).filter(|point| point.enabled).map(|point| point.owner)
    }
}

/// Whether a name is a line: `Queue.java:12`.
fn is_line(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(file, line)| file.ends_with(".java") && line.parse::<u32>().is_ok())
}

/// A place in words.
pub(crate) fn place_words(spot: &Spot) -> String {
    match spot.line {
        0 => format!("{}.{}", spot.class, spot.method),
        line => format!("{}.{} ({}:{line})", spot.class, spot.method, spot.file),
    }
}

impl Target {
    pub(crate) fn add_point(&mut self, owner: Owner, spec: &PointSpec) -> Done<PointId> {
        let id = PointId(self.points.last + 1);
        let (name, places) =
            self.place_point(Key::Point { number: id.0 }, &spec.what, spec.condition.as_deref())?;
        let spec = spec.clone();
        let set = Set { owner, enabled: true, hits: 0, ignore: spec.ignore, spec, name, places };
        self.points.last = id.0;
        self.points.all.insert(id, set);
        Ok(id)
    }

    /// Has the agent set a point; gives its name, and its places in words.
    fn place_point(&mut self, key: Key, what: &What, condition: Option<&str>) -> Done<(String, Vec<String>)> {
        let (moment, name) = match what {
            What::Reach(name) if name.trim().starts_with('*') => {
                return Err(Trouble::Request(
                    "a Java program has no addresses: name a method or a line".to_owned(),
                ));
            }
            What::Reach(name) => match name.trim().parse::<u32>() {
                Ok(line) => (Moment::Line, format!("{}:{line}", self.current_file()?)),
                // Classes know the names of their files, and not where those are.
                Err(_) if is_line(name) => {
                    (Moment::Line, name.rsplit('/').next().unwrap_or_default().to_owned())
                }
                Err(_) => (Moment::Enter, self.whole_name(name)),
            },
            What::Leave(name) => (Moment::Leave, self.whole_name(name)),
            What::Access { of, read: false, write: true } => {
                let field = of.strip_prefix("this.").unwrap_or(of);
                (Moment::Write, self.whole_name(field))
            }
            What::Access { of, .. } => {
                return Err(Trouble::Request(format!(
                    "reading `{of}` cannot be watched in a Java program; `watch {of}` stops where it is written"
                )));
            }
        };
        let condition = condition
            .map(|text| Ask { source: Source::Expression { text: text.to_owned() }, ty: Some(Type::Bool) });
        let want = self.want(key, moment, &name, condition.into_iter().collect());
        let places = match self.ask(&Request::SetPoint { want })? {
            Answer::Spots { spots } => spots.iter().map(place_words).collect(),
            Answer::Problems { problems } => {
                if let Some(problem) = problems.iter().find(|problem| !problem.pending) {
                    let help =
                        if problem.help.is_empty() { String::new() } else { format!("; {}", problem.help) };
                    return Err(Trouble::Request(format!("{}{help}", problem.reason)));
                }
                self.places_of(&name)
            }
            _ => Vec::new(),
        };
        Ok((name, places))
    }

    /// Where something is in the classes that are loaded, in words.
    fn places_of(&mut self, name: &str) -> Vec<String> {
        match self.ask(&Request::Find { name: name.to_owned() }) {
            Ok(Answer::Spots { spots }) => spots.iter().map(place_words).collect(),
            _ => Vec::new(),
        }
    }

    /// A name without a class is of the class in whose code the selected thread stands.
    fn whole_name(&mut self, name: &str) -> String {
        let name = name.trim();
        let path = name.split('(').next().unwrap_or_default();
        if path.contains('.') {
            return name.to_owned();
        }
        let depth = self.frame;
        match self.current_frames(depth + 1).ok().and_then(|frames| frames.into_iter().nth(depth)) {
            Some(frame) => format!("{}.{name}", frame.spot.class),
            None => name.to_owned(),
        }
    }

    fn current_file(&mut self) -> Done<String> {
        let depth = self.frame;
        let frame = self.current_frames(depth + 1)?.into_iter().nth(depth);
        match frame.map(|frame| frame.spot.file) {
            Some(file) if !file.is_empty() => Ok(file),
            _ => Err(Trouble::Request("of which file? Name it, too: `Queue.java:12`".to_owned())),
        }
    }

    pub(crate) fn drop_point(&mut self, id: PointId) -> Done {
        if self.points.all.remove(&id).is_none() {
            return Err(Trouble::Request(format!("there is no point {}", id.0)));
        }
        match self.ask(&Request::RemovePoint { number: id.0 }) {
            // What is gone has no points.
            Ok(_) | Err(Trouble::Ended(_)) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    pub(crate) fn switch_point(&mut self, id: PointId, enabled: bool) -> Done {
        let Some(point) = self.points.all.get_mut(&id) else {
            return Err(Trouble::Request(format!("there is no point {}", id.0)));
        };
        point.enabled = enabled;
        match self.ask(&Request::EnablePoint { number: id.0, enabled }) {
            Ok(_) | Err(Trouble::Ended(_)) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    pub(crate) fn list_points(&mut self) -> Vec<Point> {
        // Classes may have been loaded since.
        let lacking: Vec<(PointId, String)> = self
            .points
            .all
            .iter()
            .filter(|(_, set)| set.places.is_empty())
            .map(|(id, set)| (*id, set.name.clone()))
            .collect();
        for (id, name) in lacking {
            let places = self.places_of(&name);
            if let Some(set) = self.points.all.get_mut(&id) {
                set.places = places;
            }
        }
        let all = self.points.all.iter().map(|(id, set)| Point {
            id: *id,
            owner: set.owner,
            spec: set.spec.clone(),
            places: set.places.clone(),
            hits: set.hits,
            enabled: set.enabled,
        });
        all.collect()
    }

    /// The points of an owner that were reached where a thread waits, and count.
    pub(crate) fn points_hit(&mut self, owner: Owner) -> Done<Option<Stop>> {
        let Some(waiting) = &self.waiting else { return Ok(None) };
        let (mut points, mut once, mut until) = (Vec::new(), Vec::new(), false);
        for hit in &waiting.hits {
            let Key::Point { number } = hit.key else { continue };
            until |= number == UNTIL && owner == Owner::Developer;
            let id = PointId(number);
            let Some(set) = self.points.all.get_mut(&id).filter(|set| set.owner == owner && set.enabled)
            else {
                continue;
            };
            if set.spec.condition.is_some() && hit.values.first() != Some(&(Datum::Bool { value: true })) {
                continue;
            }
            set.hits += 1;
            if set.ignore > 0 {
                set.ignore -= 1;
                continue;
            }
            if set.spec.once {
                once.push(id);
            }
            points.push(id);
        }
        for id in once {
            self.drop_point(id)?;
        }
        Ok(match (points.is_empty(), until) {
            (false, _) => Some(Stop::Points { owner, points }),
            (true, true) => Some(Stop::Stepped { returned: None }),
            (true, false) => None,
        })
    }

    /// Sets the point of `until`.
    pub(crate) fn set_until(&mut self, place: &str) -> Done {
        self.place_point(Key::Point { number: UNTIL }, &What::Reach(place.to_owned()), None)?;
        self.points.until = true;
        Ok(())
    }

    pub(crate) fn remove_until(&mut self) -> Done {
        if std::mem::take(&mut self.points.until) {
            self.ask(&Request::RemovePoint { number: UNTIL })?;
        }
        Ok(())
    }
}
