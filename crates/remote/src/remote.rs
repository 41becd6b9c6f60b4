//! A remote subject and the requests to it.

use crate::address::Address;
use crate::connection::Connection;
use crate::error::{RemoteError, RemoteErrorKind};
use crate::json::{canonical, json_string};
use crate::options::RemoteOptions;
use crate::registry::{Registry, RemoteAction, RemoteConfig};
use crate::reply::{self, ConfigRef, Hello, Reply, ReplyError};
use invigil_semantics::{Step, StepRef};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A language implemented by another program, as a subject.
///
/// The semantic interface has no errors. So after the first [`error`](Remote::error), which is kept, every query
/// returns nothing: no configurations, no actions. Callers must check for the error before they report a deadlock or
/// the end of a search.
///
/// ```
/// use invigil_remote::{Address, RemoteOptions, Remote};
/// use invigil_semantics::Semantics;
///
/// // A language can be written in anything, even in two lines of shell.
/// let stone = r#"read hello; echo '{"id":1,"protocol":1,"name":"stone"}'
///                read ask; echo '{"id":2,"configs":[["lies there"]]}'"#;
/// let stone = Remote::start(&Address::command(["sh", "-c", stone]), RemoteOptions::default())?;
/// let config = stone.initial().into_iter().next().unwrap();
/// assert_eq!(stone.text(config).unwrap(), r#""lies there""#);
/// // The program has exited, so the missing reply is an error and not a deadlock.
/// assert!(stone.is_deadlocked(&config));
/// assert!(stone.error().unwrap().to_string().contains("ended (exit status 0) instead of answering `actions`"));
/// # Ok::<(), invigil_remote::RemoteError>(())
/// ```
pub struct Remote {
    address: String,
    hello: Hello,
    options: RemoteOptions,
    state: Mutex<ConnectionState>,
    error: OnceLock<RemoteError>,
    trips: AtomicU64,
}

/// State that each request changes.
struct ConnectionState {
    /// None after an error.
    connection: Option<Connection>,
    registry: Registry,
    last_request: u64,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("address", &self.address)
            .field("name", &self.hello.name)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// Starts the program or connects to the server, and sends `hello`.
    pub fn start(address: &Address, options: RemoteOptions) -> Result<Remote, RemoteError> {
        let name = address.to_string();
        let connection = Connection::open(address, &options).map_err(|kind| RemoteError {
            address: name.clone(),
            request: "hello",
            kind,
            stderr: String::new(),
        })?;
        let state =
            ConnectionState { connection: Some(connection), registry: Registry::default(), last_request: 0 };
        let mut remote = Remote {
            address: name,
            hello: Hello::default(),
            options,
            state: Mutex::new(state),
            error: OnceLock::new(),
            trips: AtomicU64::new(0),
        };
        let mut rest = String::from(",\"protocol\":");
        rest.push_str(&crate::PROTOCOL.to_string());
        match remote.request("hello", |_, out| out.push_str(&rest), |reply, _| reply.hello()) {
            Some(hello) => remote.hello = hello,
            None => return Err(remote.error_or_closed()),
        }
        remote.options.max_cached = remote.hello.cache.unwrap_or(u64::MAX).min(remote.options.max_cached);
        remote.options.max_batch =
            remote.hello.batch.unwrap_or(usize::MAX).min(remote.options.max_batch).max(1);
        let is_by_value = remote.hello.cache == Some(0);
        remote.lock_state().registry.is_by_value = is_by_value;
        Ok(remote)
    }

    fn error_or_closed(&self) -> RemoteError {
        self.error.get().cloned().unwrap_or_else(|| RemoteError {
            address: self.address.clone(),
            request: "hello",
            kind: RemoteErrorKind::Ended(None),
            stderr: String::new(),
        })
    }

    /// The name of the language.
    pub fn name(&self) -> &str {
        &self.hello.name
    }

    /// The first error, after which the program is no longer queried.
    pub fn error(&self) -> Option<&RemoteError> {
        self.error.get()
    }

    /// The number of requests answered so far.
    pub fn round_trips(&self) -> u64 {
        self.trips.load(Ordering::Relaxed)
    }

    /// Maximum number of configurations in one request.
    pub fn max_batch(&self) -> usize {
        self.options.max_batch
    }

    /// Whether the program offers an optional request of the protocol, such as `accepting`.
    pub fn supports(&self, request: &str) -> bool {
        self.hello.optional_requests.iter().any(|offered| offered == request)
    }

    /// The configuration with a JSON text, as from a recorded execution.
    pub fn config(&self, json: &str) -> Result<RemoteConfig, String> {
        let text = canonical(json)?;
        Ok(self.lock_state().registry.config(text))
    }

    /// The configuration with a number, if it is known.
    pub fn config_by_number(&self, number: u64) -> Option<RemoteConfig> {
        Some(RemoteConfig(number)).filter(|config| self.lock_state().registry.contains(*config))
    }

    /// The action with a number, if it is known.
    pub fn action(&self, number: u32) -> Option<RemoteAction> {
        Some(RemoteAction(number)).filter(|action| self.lock_state().registry.action_text(*action).is_some())
    }

    /// The JSON text of a configuration; none for a [`fault`](Remote::fault).
    pub fn text(&self, config: RemoteConfig) -> Option<String> {
        self.lock_state().registry.text(config).map(str::to_owned)
    }

    /// The reason of the fault, if an action led to one.
    pub fn fault(&self, config: RemoteConfig) -> Option<String> {
        self.lock_state().registry.fault(config).map(str::to_owned)
    }

    /// The JSON text of an action.
    pub fn action_text(&self, action: RemoteAction) -> Option<String> {
        self.lock_state().registry.action_text(action).map(str::to_owned)
    }

    fn lock_state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs one round trip: `write` appends the arguments, `read` reads the reply. Returns none after an error.
    fn request<T>(
        &self,
        request: &'static str,
        write: impl FnOnce(&mut Registry, &mut String),
        read: impl FnOnce(&Reply<'_>, &mut Registry) -> Result<T, ReplyError>,
    ) -> Option<T> {
        let mut state = self.lock_state();
        if state.registry.count() > self.options.max_cached {
            self.exchange(&mut state, "forget", |_, _| {}, |_, _| Ok(()))?;
            state.registry.clear_numbers();
        }
        self.exchange(&mut state, request, write, read)
    }

    fn exchange<T>(
        &self,
        state: &mut ConnectionState,
        request: &'static str,
        write: impl FnOnce(&mut Registry, &mut String),
        read: impl FnOnce(&Reply<'_>, &mut Registry) -> Result<T, ReplyError>,
    ) -> Option<T> {
        let ConnectionState { connection, registry, last_request } = state;
        let connected = connection.as_mut()?;
        *last_request += 1;
        let mut line = format!("{{\"id\":{last_request},\"ask\":\"{request}\"");
        write(registry, &mut line);
        line.push_str("}\n");
        let reply = connected
            .exchange(line.as_bytes(), &self.options)
            .and_then(|line| reply::read(&line, *last_request, |reply| read(reply, registry)));
        match reply {
            Ok(reply) => {
                self.trips.fetch_add(1, Ordering::Relaxed);
                Some(reply)
            }
            Err(kind) => {
                let stderr = connection.take().map(Connection::abort).unwrap_or_default();
                let _ = self.error.set(RemoteError { address: self.address.clone(), request, kind, stderr });
                None
            }
        }
    }

    pub(crate) fn initial_configs(&self) -> Vec<RemoteConfig> {
        let read = |reply: &Reply<'_>, registry: &mut Registry| Ok(resolve_all(reply.configs()?, registry)?);
        self.request("initial", |_, _| {}, read).unwrap_or_default()
    }

    /// The enabled actions of each of `configs`.
    pub fn actions_of(&self, configs: &[RemoteConfig]) -> Vec<Vec<RemoteAction>> {
        self.request_each("actions", configs, |reply, count, registry| {
            let actions = reply.actions(count)?.into_iter();
            actions.map(|actions| actions.into_iter().map(|text| registry.action(text)).collect()).collect()
        })
    }

    /// The outcomes of each action in the configuration that it is paired with.
    pub fn targets_of(&self, pairs: &[(RemoteConfig, RemoteAction)]) -> Vec<Vec<RemoteConfig>> {
        let mut targets = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(self.options.max_batch) {
            let write = |registry: &mut Registry, out: &mut String| {
                write_list(out, "pairs", pairs, |(config, action), out| {
                    out.push('[');
                    registry.write(*config, out);
                    out.push(',');
                    out.push_str(registry.action_text(*action).unwrap_or("null"));
                    out.push(']');
                });
            };
            let read = |reply: &Reply<'_>, registry: &mut Registry| {
                let targets = reply.targets(pairs.len())?.into_iter();
                Ok(targets
                    .map(|references| resolve_all(references, registry))
                    .collect::<Result<Vec<_>, _>>()?)
            };
            let Some(batch_targets) = self.request("execute", write, read) else { break };
            targets.extend(batch_targets);
        }
        targets.resize(pairs.len(), Vec::new());
        targets
    }

    /// Every step from each of `configs`, in as few round trips as possible.
    pub fn steps_of(&self, configs: &[RemoteConfig]) -> Vec<Vec<(RemoteAction, RemoteConfig)>> {
        if self.supports("steps") {
            return self.request_each("steps", configs, |reply, count, registry| {
                let mut step = |(text, reference): (String, ConfigRef)| {
                    Ok((registry.action(text)?, registry.resolve(reference)?))
                };
                let steps = reply.steps(count)?.into_iter();
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
        let mut of_one = |actions: Vec<RemoteAction>| {
            let with_targets = actions.into_iter().zip(targets.by_ref());
            with_targets
                .flat_map(|(action, targets)| targets.into_iter().map(move |target| (action, target)))
                .collect()
        };
        actions.into_iter().map(&mut of_one).collect()
    }

    /// Which of `configs` are accepting; none if the program does not offer this.
    pub fn accepting_of(&self, configs: &[RemoteConfig]) -> Vec<bool> {
        if !self.supports("accepting") {
            return vec![false; configs.len()];
        }
        self.request_each("accepting", configs, |reply, count, _| reply.accepting(count))
    }

    /// The named parts of each of `configs`; empty if the program does not offer this.
    pub(crate) fn fields_of(&self, configs: &[RemoteConfig]) -> Vec<Vec<(String, String)>> {
        self.request_each("describe", configs, |reply, count, _| reply.fields(count))
    }

    pub(crate) fn action_description(&self, action: RemoteAction) -> Option<String> {
        let write = |registry: &mut Registry, out: &mut String| {
            write_list(out, "actions", &[action], |action, out| {
                out.push_str(registry.action_text(*action).unwrap_or("null"));
            });
        };
        self.request("describe", write, |reply, _| Ok(reply.action_texts(1)?.pop()))?
    }

    /// The value of an expression on each step, or why it has none.
    pub fn values_of(&self, expression: &str, steps: &[StepRef<'_, Remote>]) -> Vec<Result<bool, String>> {
        if !self.supports("evaluate") {
            let why = format!("the language `{}` cannot evaluate expressions", self.name());
            return vec![Err(why); steps.len()];
        }
        let faults: Vec<Option<String>> = {
            let registry = &self.lock_state().registry;
            let fault =
                |step: &StepRef<'_, Remote>| registry.fault(*step.target).filter(|_| step.source.is_none());
            steps.iter().map(|step| fault(step).map(str::to_owned)).collect()
        };
        let without_fault: Vec<_> =
            steps.iter().zip(&faults).filter(|(_, fault)| fault.is_none()).map(|(step, _)| *step).collect();
        let mut values = Vec::with_capacity(without_fault.len());
        for batch in without_fault.chunks(self.options.max_batch) {
            let write = |registry: &mut Registry, out: &mut String| {
                out.push_str(",\"expression\":");
                out.push_str(&json_string(expression));
                write_list(out, "steps", batch, |step, out| write_step(step, registry, out));
            };
            let Some(batch_values) =
                self.request("evaluate", write, |reply, _| Ok(reply.values(batch.len())?))
            else {
                break;
            };
            values.extend(batch_values);
        }
        let mut values = values.into_iter();
        let mut value = |fault: Option<String>| match fault {
            Some(why) => Err(why),
            None => values.next().unwrap_or_else(|| Err(self.error_or_closed().to_string())),
        };
        faults.into_iter().map(&mut value).collect()
    }

    /// Like [`values_of`](Remote::values_of), but an expression without a value on an initial step is evaluated on an
    /// idle step instead: a language need not define expressions about steps without a previous configuration.
    pub fn values_from_start(
        &self,
        expression: &str,
        steps: &[StepRef<'_, Remote>],
    ) -> Vec<Result<bool, String>> {
        let mut values = self.values_of(expression, steps);
        let fails_at_start = |(step, value): (&StepRef<'_, Remote>, &Result<bool, String>)| {
            step.source.is_none() && value.is_err() && self.error().is_none()
        };
        let retried: Vec<usize> = steps
            .iter()
            .zip(&values)
            .enumerate()
            .filter(|(_, pair)| fails_at_start(*pair))
            .map(|(at, _)| at)
            .collect();
        if !retried.is_empty() {
            let idle = |at: &usize| Step { source: Some(steps[*at].target), ..steps[*at] };
            let idle: Vec<_> = retried.iter().map(idle).collect();
            for (at, value) in retried.into_iter().zip(self.values_of(expression, &idle)) {
                values[at] = value;
            }
        }
        values
    }

    /// Sends a request for each configuration, in batches. The default value stands for faults, which are not sent,
    /// and for replies after an error.
    fn request_each<T: Clone + Default>(
        &self,
        request: &'static str,
        configs: &[RemoteConfig],
        read: impl Fn(&Reply<'_>, usize, &mut Registry) -> Result<Vec<T>, String>,
    ) -> Vec<T> {
        let without_fault: Vec<RemoteConfig> = {
            let registry = &self.lock_state().registry;
            configs.iter().copied().filter(|config| registry.text(*config).is_some()).collect()
        };
        let mut replies = Vec::with_capacity(without_fault.len());
        for batch in without_fault.chunks(self.options.max_batch) {
            let write = |registry: &mut Registry, out: &mut String| {
                write_list(out, "configs", batch, |config, out| registry.write(*config, out));
            };
            let Some(batch_replies) =
                self.request(request, write, |reply, registry| Ok(read(reply, batch.len(), registry)?))
            else {
                break;
            };
            replies.extend(batch_replies);
        }
        replies.resize(without_fault.len(), T::default());
        if without_fault.len() == configs.len() {
            return replies;
        }
        let registry = &self.lock_state().registry;
        let mut replies = replies.into_iter();
        let mut reply =
            |config: &RemoteConfig| registry.text(*config).and_then(|_| replies.next()).unwrap_or_default();
        configs.iter().map(&mut reply).collect()
    }
}

/// Writes a step for evaluation. A step to a fault stays in its source.
fn write_step(step: &StepRef<'_, Remote>, registry: &mut Registry, out: &mut String) {
    let target =
        if registry.fault(*step.target).is_some() { step.source.unwrap_or(step.target) } else { step.target };
    out.push('[');
    match step.source {
        Some(source) => registry.write(*source, out),
        None => out.push_str("null"),
    }
    out.push(',');
    out.push_str(step.action.and_then(|action| registry.action_text(*action)).unwrap_or("null"));
    out.push(',');
    registry.write(*target, out);
    out.push(']');
}

fn resolve_all(references: Vec<ConfigRef>, registry: &mut Registry) -> Result<Vec<RemoteConfig>, String> {
    references.into_iter().map(|reference| registry.resolve(reference)).collect()
}

/// Writes a field with an array.
fn write_list<T>(out: &mut String, name: &str, elements: &[T], mut write: impl FnMut(&T, &mut String)) {
    out.push_str(&format!(",\"{name}\":["));
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(element, out);
    }
    out.push(']');
}
