//! A remote semantics, and the requests to it.

use crate::address::Address;
use crate::answer::{self, Answer, Hello, Place, Reading};
use crate::failure::{Failure, Reason};
use crate::json::{canonical, string};
use crate::known::{Action, Config, Known};
use crate::link::Link;
use crate::options::Options;
use invigil_semantics::{Step, StepRef};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A language of another program, as a subject.
///
/// What it is asked cannot fail. So, when the other program does, the first [`failure`](Remote::failure) is kept, and
/// every answer from then on is *nothing*: no configurations, no actions. Whoever explores it must ask for the failure
/// before a deadlock or the end of the search is believed.
///
/// ```
/// use invigil_remote::{Address, Options, Remote};
/// use invigil_semantics::Semantics;
///
/// // A language can be written in anything, in two lines of the shell too.
/// let stone = r#"read hello; echo '{"id":1,"protocol":1,"name":"stone"}'
///                read ask; echo '{"id":2,"configs":[["lies there"]]}'"#;
/// let stone = Remote::start(&Address::command(["sh", "-c", stone]), Options::default())?;
/// let config = stone.initial().into_iter().next().unwrap();
/// assert_eq!(stone.text(config).unwrap(), r#""lies there""#);
/// // It ends now, and so no answer is believed.
/// assert!(stone.is_deadlocked(&config));
/// assert!(stone.failure().unwrap().to_string().contains("ended (exit status 0) instead of answering `actions`"));
/// # Ok::<(), invigil_remote::Failure>(())
/// ```
pub struct Remote {
    who: String,
    hello: Hello,
    options: Options,
    wire: Mutex<Wire>,
    failure: OnceLock<Failure>,
    trips: AtomicU64,
}

/// What one request after the other changes.
struct Wire {
    /// None once it failed.
    link: Option<Link>,
    known: Known,
    last: u64,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("who", &self.who)
            .field("name", &self.hello.name)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// Starts the program, or connects to the server, and greets it.
    pub fn start(address: &Address, options: Options) -> Result<Remote, Failure> {
        let who = address.to_string();
        let link = Link::open(address, &options).map_err(|reason| Failure {
            who: who.clone(),
            ask: "hello",
            reason,
            said: String::new(),
        })?;
        let wire = Wire { link: Some(link), known: Known::default(), last: 0 };
        let mut remote = Remote {
            who,
            hello: Hello::default(),
            options,
            wire: Mutex::new(wire),
            failure: OnceLock::new(),
            trips: AtomicU64::new(0),
        };
        let mut rest = String::from(",\"protocol\":");
        rest.push_str(&crate::PROTOCOL.to_string());
        match remote.ask("hello", |_, out| out.push_str(&rest), |answer, _| answer.hello()) {
            Some(hello) => remote.hello = hello,
            None => return Err(remote.broken()),
        }
        remote.options.cache = remote.hello.cache.unwrap_or(u64::MAX).min(remote.options.cache);
        remote.options.batch = remote.hello.batch.unwrap_or(usize::MAX).min(remote.options.batch).max(1);
        let is_by_value = remote.hello.cache == Some(0);
        remote.wire().known.is_by_value = is_by_value;
        Ok(remote)
    }

    fn broken(&self) -> Failure {
        self.failure.get().cloned().unwrap_or_else(|| Failure {
            who: self.who.clone(),
            ask: "hello",
            reason: Reason::Ended(None),
            said: String::new(),
        })
    }

    /// What the language calls itself.
    pub fn name(&self) -> &str {
        &self.hello.name
    }

    /// Why it cannot be asked any more: the first thing that went wrong.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }

    /// How many requests were answered so far.
    pub fn round_trips(&self) -> u64 {
        self.trips.load(Ordering::Relaxed)
    }

    /// How many configurations are asked for at once.
    pub fn batch(&self) -> usize {
        self.options.batch
    }

    /// Whether it offers what is called so in the protocol, as `accepting`.
    pub fn can(&self, what: &str) -> bool {
        self.hello.can.iter().any(|can| can == what)
    }

    /// The configuration of a JSON text, as from a recorded execution.
    pub fn config(&self, json: &str) -> Result<Config, String> {
        let text = canonical(json)?;
        Ok(self.wire().known.config(text))
    }

    /// The configuration of a number, if it was met before.
    pub fn numbered(&self, number: u64) -> Option<Config> {
        Some(Config(number)).filter(|config| self.wire().known.has(*config))
    }

    /// The action of a number, if it was met before.
    pub fn action(&self, number: u32) -> Option<Action> {
        Some(Action(number)).filter(|action| self.wire().known.action_text(*action).is_some())
    }

    /// The JSON text of a configuration; none for a [`fault`](Remote::fault).
    pub fn text(&self, config: Config) -> Option<String> {
        self.wire().known.text(config).map(str::to_owned)
    }

    /// What went wrong, if that is what an action led to.
    pub fn fault(&self, config: Config) -> Option<String> {
        self.wire().known.fault(config).map(str::to_owned)
    }

    /// The JSON text of an action.
    pub fn action_text(&self, action: Action) -> Option<String> {
        self.wire().known.action_text(action).map(str::to_owned)
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One round trip: `write` adds what is asked about, `read` reads the answer. None once something went wrong.
    fn ask<T>(
        &self,
        ask: &'static str,
        write: impl FnOnce(&mut Known, &mut String),
        read: impl FnOnce(&Answer<'_>, &mut Known) -> Result<T, Reading>,
    ) -> Option<T> {
        let mut wire = self.wire();
        if wire.known.count() > self.options.cache {
            self.exchange(&mut wire, "forget", |_, _| {}, |_, _| Ok(()))?;
            wire.known.forget();
        }
        self.exchange(&mut wire, ask, write, read)
    }

    fn exchange<T>(
        &self,
        wire: &mut Wire,
        ask: &'static str,
        write: impl FnOnce(&mut Known, &mut String),
        read: impl FnOnce(&Answer<'_>, &mut Known) -> Result<T, Reading>,
    ) -> Option<T> {
        let Wire { link, known, last } = wire;
        let open = link.as_mut()?;
        *last += 1;
        let mut line = format!("{{\"id\":{last},\"ask\":\"{ask}\"");
        write(known, &mut line);
        line.push_str("}\n");
        let answer = open
            .exchange(line.as_bytes(), &self.options)
            .and_then(|line| answer::read(&line, *last, |answer| read(answer, known)));
        match answer {
            Ok(answer) => {
                self.trips.fetch_add(1, Ordering::Relaxed);
                Some(answer)
            }
            Err(reason) => {
                let said = link.take().map(Link::cut).unwrap_or_default();
                let _ = self.failure.set(Failure { who: self.who.clone(), ask, reason, said });
                None
            }
        }
    }

    pub(crate) fn ask_initial(&self) -> Vec<Config> {
        let settle = |answer: &Answer<'_>, known: &mut Known| Ok(settle(answer.configs()?, known)?);
        self.ask("initial", |_, _| {}, settle).unwrap_or_default()
    }

    /// The actions enabled in each of `configs`.
    pub fn actions_of(&self, configs: &[Config]) -> Vec<Vec<Action>> {
        self.each_asked("actions", configs, |answer, count, known| {
            let actions = answer.actions(count)?.into_iter();
            actions.map(|actions| actions.into_iter().map(|text| known.action(text)).collect()).collect()
        })
    }

    /// Where each action, executed in the configuration beside it, may lead.
    pub fn targets_of(&self, pairs: &[(Config, Action)]) -> Vec<Vec<Config>> {
        let mut targets = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(self.options.batch) {
            let write = |known: &mut Known, out: &mut String| {
                list(out, "pairs", pairs, |(config, action), out| {
                    out.push('[');
                    known.write(*config, out);
                    out.push(',');
                    out.push_str(known.action_text(*action).unwrap_or("null"));
                    out.push(']');
                });
            };
            let read = |answer: &Answer<'_>, known: &mut Known| {
                let targets = answer.targets(pairs.len())?.into_iter();
                Ok(targets.map(|places| settle(places, known)).collect::<Result<Vec<_>, _>>()?)
            };
            let Some(some) = self.ask("execute", write, read) else { break };
            targets.extend(some);
        }
        targets.resize(pairs.len(), Vec::new());
        targets
    }

    /// Every step from each of `configs`, in as few round trips as allowed.
    pub fn steps_of(&self, configs: &[Config]) -> Vec<Vec<(Action, Config)>> {
        if self.can("steps") {
            return self.each_asked("steps", configs, |answer, count, known| {
                let mut step =
                    |(text, place): (String, Place)| Ok((known.action(text)?, known.settle(place)?));
                let steps = answer.steps(count)?.into_iter();
                steps.map(|steps| steps.into_iter().map(&mut step).collect()).collect()
            });
        }
        let actions = self.actions_of(configs);
        let pairs: Vec<_> = configs
            .iter()
            .zip(&actions)
            .flat_map(|(config, actions)| actions.iter().map(|action| (*config, *action)))
            .collect();
        let mut targets = self.targets_of(&pairs).into_iter();
        let mut of_one = |actions: Vec<Action>| {
            let with_targets = actions.into_iter().zip(targets.by_ref());
            with_targets
                .flat_map(|(action, targets)| targets.into_iter().map(move |target| (action, target)))
                .collect()
        };
        actions.into_iter().map(&mut of_one).collect()
    }

    /// Which of `configs` are accepting; none is if the language does not tell.
    pub fn accepting_of(&self, configs: &[Config]) -> Vec<bool> {
        if !self.can("accepting") {
            return vec![false; configs.len()];
        }
        self.each_asked("accepting", configs, |answer, count, _| answer.accepting(count))
    }

    /// The named parts of each of `configs`; none where the language does not tell.
    pub(crate) fn fields_of(&self, configs: &[Config]) -> Vec<Vec<(String, String)>> {
        self.each_asked("describe", configs, |answer, count, _| answer.fields(count))
    }

    pub(crate) fn phrase(&self, action: Action) -> Option<String> {
        let write = |known: &mut Known, out: &mut String| {
            list(out, "actions", &[action], |action, out| {
                out.push_str(known.action_text(*action).unwrap_or("null"));
            });
        };
        self.ask("describe", write, |answer, _| Ok(answer.phrases(1)?.pop()))?
    }

    /// The value of an expression of the language on each step, or why there is none.
    pub fn values_of(&self, expression: &str, steps: &[StepRef<'_, Remote>]) -> Vec<Result<bool, String>> {
        if !self.can("evaluate") {
            let why = format!("the language `{}` evaluates no expressions", self.name());
            return vec![Err(why); steps.len()];
        }
        let faults: Vec<Option<String>> = {
            let known = &self.wire().known;
            let fault =
                |step: &StepRef<'_, Remote>| known.fault(*step.target).filter(|_| step.source.is_none());
            steps.iter().map(|step| fault(step).map(str::to_owned)).collect()
        };
        let sound: Vec<_> =
            steps.iter().zip(&faults).filter(|(_, fault)| fault.is_none()).map(|(step, _)| *step).collect();
        let mut values = Vec::with_capacity(sound.len());
        for some in sound.chunks(self.options.batch) {
            let write = |known: &mut Known, out: &mut String| {
                out.push_str(",\"expression\":");
                out.push_str(&string(expression));
                list(out, "steps", some, |step, out| write_step(step, known, out));
            };
            let Some(more) = self.ask("evaluate", write, |answer, _| Ok(answer.values(some.len())?)) else {
                break;
            };
            values.extend(more);
        }
        let mut values = values.into_iter();
        let mut value = |fault: Option<String>| match fault {
            Some(why) => Err(why),
            None => values.next().unwrap_or_else(|| Err(self.broken().to_string())),
        };
        faults.into_iter().map(&mut value).collect()
    }

    /// The same, but where an execution starts, an expression about steps is looked at as if nothing had changed: a
    /// language need not know a value where there was nothing before.
    pub fn values_from_start(
        &self,
        expression: &str,
        steps: &[StepRef<'_, Remote>],
    ) -> Vec<Result<bool, String>> {
        let mut values = self.values_of(expression, steps);
        let at_start = |(step, value): (&StepRef<'_, Remote>, &Result<bool, String>)| {
            step.source.is_none() && value.is_err() && self.failure().is_none()
        };
        let open: Vec<usize> =
            steps.iter().zip(&values).enumerate().filter(|(_, of)| at_start(*of)).map(|(at, _)| at).collect();
        if !open.is_empty() {
            let idle = |at: &usize| Step { source: Some(steps[*at].target), ..steps[*at] };
            let idle: Vec<_> = open.iter().map(idle).collect();
            for (at, value) in open.into_iter().zip(self.values_of(expression, &idle)) {
                values[at] = value;
            }
        }
        values
    }

    /// One answer for each configuration, asked in batches. Where something went wrong there is nothing, and of a
    /// fault nothing is asked.
    fn each_asked<T: Clone + Default>(
        &self,
        ask: &'static str,
        configs: &[Config],
        read: impl Fn(&Answer<'_>, usize, &mut Known) -> Result<Vec<T>, String>,
    ) -> Vec<T> {
        let sound: Vec<Config> = {
            let known = &self.wire().known;
            configs.iter().copied().filter(|config| known.text(*config).is_some()).collect()
        };
        let mut answers = Vec::with_capacity(sound.len());
        for some in sound.chunks(self.options.batch) {
            let write = |known: &mut Known, out: &mut String| {
                list(out, "configs", some, |config, out| known.write(*config, out));
            };
            let Some(more) = self.ask(ask, write, |answer, known| Ok(read(answer, some.len(), known)?))
            else {
                break;
            };
            answers.extend(more);
        }
        answers.resize(sound.len(), T::default());
        if sound.len() == configs.len() {
            return answers;
        }
        let known = &self.wire().known;
        let mut answers = answers.into_iter();
        let mut answer =
            |config: &Config| known.text(*config).and_then(|_| answers.next()).unwrap_or_default();
        configs.iter().map(&mut answer).collect()
    }
}

/// A step that led to a fault is looked at as one that stays where it was tried.
fn write_step(step: &StepRef<'_, Remote>, known: &mut Known, out: &mut String) {
    let target =
        if known.fault(*step.target).is_some() { step.source.unwrap_or(step.target) } else { step.target };
    out.push('[');
    match step.source {
        Some(source) => known.write(*source, out),
        None => out.push_str("null"),
    }
    out.push(',');
    out.push_str(step.action.and_then(|action| known.action_text(*action)).unwrap_or("null"));
    out.push(',');
    known.write(*target, out);
    out.push(']');
}

fn settle(places: Vec<Place>, known: &mut Known) -> Result<Vec<Config>, String> {
    places.into_iter().map(|place| known.settle(place)).collect()
}

/// A field that is an array.
fn list<T>(out: &mut String, name: &str, elements: &[T], mut write: impl FnMut(&T, &mut String)) {
    out.push_str(&format!(",\"{name}\":["));
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(element, out);
    }
    out.push(']');
}
