//! Network access: a zenoh session and the keys of nodes.
//!
//! | key | purpose |
//! | --- | --- |
//! | `REALM/mail/TO/FROM` | messages of node `FROM` for node `TO` |
//! | `REALM/ask/NODE` | requests of clients to a node |
//! | `REALM/here/NODE` | liveliness token of a node |
//!
//! A zenoh link is reliable only while it lasts: messages sent before a disconnection may be lost although every send
//! succeeded. This is why [rounds](crate::rounds) request missing bundles again. Three zenoh defaults are changed:
//! messages are not dropped under congestion, a link is not closed when its peer has been blocked for five seconds, and
//! a lost peer is detected after two seconds instead of ten.

use crate::wire::{self, Envelope, Payload, Reply, Request, WireError};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use zenoh::bytes::ZBytes;
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::query::{Query, Queryable};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Config, Session, Wait};

/// Capacity of the queue of replies to [`Link::nodes`]. Further replies are dropped.
const QUEUE_LEN: usize = 1024;

/// Settings used where a configuration file keeps zenoh's default, or without a file.
const SETTINGS: [(&str, &str); 4] = [
    ("transport/link/tx/lease", "2000"),
    ("connect/retry", "{ period_init_ms: 100, period_max_ms: 1000, period_increase_factor: 2 }"),
    ("scouting/delay", "0"),
    // Deployments are the largest payloads.
    ("transport/link/rx/max_message_size", "134217728"),
];

/// Setting that overrides configuration files, since runs rely on it.
const WAIT_BEFORE_CLOSE: (&str, &str) =
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000");

/// Network options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Endpoints to listen on, such as `tcp/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints of other nodes.
    pub connect: Vec<String>,
    /// Zenoh configuration file, for TLS, access control and other settings.
    pub config: Option<PathBuf>,
    /// Nodes of different realms on one network do not see each other.
    pub realm: String,
}

/// Connection to the network.
pub struct Link {
    session: Session,
    realm: String,
}

/// Event for a node.
pub enum NetworkEvent {
    /// Message with the sender according to its key, for [`decode_message`].
    Message(String, ZBytes),
    /// Request that expects a [reply].
    Request(Box<Query>),
    /// A node is up.
    NodeUp(String),
    /// A node is down.
    NodeDown(String),
}

impl NetworkEvent {
    /// Returns the number of bytes of its payload.
    pub fn size(&self) -> usize {
        match self {
            NetworkEvent::Message(_, payload) => payload.len(),
            NetworkEvent::Request(query) => query.payload().map_or(0, ZBytes::len),
            NetworkEvent::NodeUp(_) | NetworkEvent::NodeDown(_) => 0,
        }
    }
}

/// Declarations of a node, which is reachable until this is dropped.
pub struct Registration {
    _mail: Subscriber<()>,
    _ask: Queryable<()>,
    _others: Subscriber<()>,
    _token: LivelinessToken,
}

impl Link {
    /// Opens a session. Without endpoints and without a file, nodes find each other by multicast.
    ///
    /// # Errors
    /// Fails if the configuration is invalid or the session cannot listen.
    pub fn open(options: &Options) -> Result<Link, String> {
        crate::deployment::check_name(&options.realm).map_err(|error| error.to_string())?;
        let mut config = match &options.config {
            Some(path) => Config::from_file(path)
                .map_err(|error| format!("{}: not a zenoh configuration: {error}", path.display()))?,
            None => Config::default(),
        };
        let default = Config::default();
        let applicable: Vec<(&str, &str)> = SETTINGS
            .into_iter()
            .filter(|(key, _)| config.get_json(key).ok() == default.get_json(key).ok())
            .collect();
        let mut set = |key: &str, value: &str| {
            config.insert_json5(key, value).map_err(|error| format!("zenoh rejects {key} = {value}: {error}"))
        };
        for (key, value) in applicable {
            set(key, value)?;
        }
        if options.config.is_none() && !(options.listen.is_empty() && options.connect.is_empty()) {
            set("scouting/multicast/enabled", "false")?;
        }
        set(WAIT_BEFORE_CLOSE.0, WAIT_BEFORE_CLOSE.1)?;
        for (key, endpoints) in
            [("listen/endpoints", &options.listen), ("connect/endpoints", &options.connect)]
        {
            if !endpoints.is_empty() {
                set(key, &serde_json::json!(endpoints).to_string())?;
            }
        }
        let session =
            zenoh::open(config).wait().map_err(|error| format!("cannot join the network: {error}"))?;
        Ok(Link { session, realm: options.realm.clone() })
    }

    fn key(&self, parts: &str) -> String {
        format!("{}/{parts}", self.realm)
    }

    /// Registers a node: `on_event` receives its events and must not block.
    ///
    /// # Errors
    /// Fails if zenoh rejects a declaration.
    pub fn register(
        &self,
        name: &str,
        on_event: impl Fn(NetworkEvent) + Clone + Send + Sync + 'static,
    ) -> Result<Registration, String> {
        let error_text = |error| format!("cannot register {name} in the network: {error}");
        let (mail, ask, others) = (on_event.clone(), on_event.clone(), on_event);
        Ok(Registration {
            _mail: self
                .session
                .declare_subscriber(self.key(&format!("mail/{name}/*")))
                .callback(move |sample| {
                    mail(NetworkEvent::Message(last_part(&sample), sample.payload().clone()))
                })
                .wait()
                .map_err(error_text)?,
            _ask: self
                .session
                .declare_queryable(self.key(&format!("ask/{name}")))
                .callback(move |query| ask(NetworkEvent::Request(Box::new(query))))
                .wait()
                .map_err(error_text)?,
            _others: self
                .session
                .liveliness()
                .declare_subscriber(self.key("here/*"))
                .history(true)
                .callback(move |sample| {
                    others(match sample.kind() {
                        SampleKind::Put => NetworkEvent::NodeUp(last_part(&sample)),
                        SampleKind::Delete => NetworkEvent::NodeDown(last_part(&sample)),
                    });
                })
                .wait()
                .map_err(error_text)?,
            _token: self
                .session
                .liveliness()
                .declare_token(self.key(&format!("here/{name}")))
                .wait()
                .map_err(error_text)?,
        })
    }

    /// Returns the nodes that are up, sorted.
    ///
    /// # Errors
    /// Fails if the query fails.
    pub fn nodes(&self, timeout: Duration) -> Result<Vec<String>, String> {
        let replies = self.session.liveliness().get(self.key("here/*")).timeout(timeout);
        let replies: FifoChannelHandler<_> =
            replies.with(FifoChannel::new(QUEUE_LEN)).wait().map_err(|error| error.to_string())?;
        let mut names: Vec<String> =
            replies.iter().filter_map(|reply| reply.result().ok().map(last_part)).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Waits for a number of links and the declarations of their peers. Returns whether there are any.
    pub fn wait_for_links(&self, links: usize, timeout: Duration) -> bool {
        let info = self.session.info();
        let began = Instant::now();
        loop {
            let count = info.peers_zid().wait().count() + info.routers_zid().wait().count();
            if count > 0 && count >= links {
                // Declarations follow immediately; this is ample time for them.
                std::thread::sleep(Duration::from_millis(100));
                return true;
            }
            if links == 0 || began.elapsed() >= timeout {
                return count > 0;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a request to a node. Returns `None` if it does not answer.
    ///
    /// # Errors
    /// Fails if the request is too large or the reply is malformed.
    pub fn request(&self, node: &str, request: &Request, timeout: Duration) -> Result<Option<Reply>, String> {
        let bytes = wire::encode(request).map_err(|error| {
            format!("cannot send the request to {node}: {error}; traces can be stored on the nodes instead (--own-traces)")
        })?;
        let replies = self
            .session
            .get(self.key(&format!("ask/{node}")))
            .payload(bytes)
            .congestion_control(CongestionControl::Block)
            .timeout(timeout)
            .with(FifoChannel::new(16))
            .wait()
            .map_err(|error| error.to_string())?;
        for reply in replies.iter() {
            if let Ok(sample) = reply.result() {
                let reply = read(sample.payload());
                return reply.map(Some).map_err(|error| format!("malformed reply from {node}: {error}"));
            }
        }
        Ok(None)
    }

    /// Leaves the network.
    pub fn close(&self) {
        // Without an orderly close, peers notice the loss a little later.
        let _ = self.session.close().wait();
    }

    /// Returns a sender for messages of a node.
    pub fn outgoing(&self, from: &str) -> Outgoing<'_> {
        Outgoing { link: self, from: from.to_owned(), publishers: HashMap::new() }
    }
}

/// Sender of messages to other nodes.
pub struct Outgoing<'a> {
    link: &'a Link,
    from: String,
    publishers: HashMap<String, Publisher<'static>>,
}

impl Outgoing<'_> {
    /// Sends an encoded message. Success does not imply delivery.
    ///
    /// # Errors
    /// Fails if zenoh cannot send.
    pub fn send(&mut self, to: &str, bytes: Vec<u8>) -> Result<(), String> {
        if !self.publishers.contains_key(to) {
            let key = self.link.key(&format!("mail/{to}/{}", self.from));
            let publisher = self.link.session.declare_publisher(key);
            let publisher = publisher.congestion_control(CongestionControl::Block).express(true);
            self.publishers.insert(to.to_owned(), publisher.wait().map_err(|error| error.to_string())?);
        }
        self.publishers
            .get(to)
            .map_or(Ok(()), |publisher| publisher.put(bytes).wait().map_err(|error| error.to_string()))
    }

    /// Sends a message to an arbitrary node: keeps no publisher and does not wait for congestion.
    ///
    /// # Errors
    /// Fails if zenoh cannot send.
    pub fn send_once(&self, to: &str, bytes: Vec<u8>) -> Result<(), String> {
        let key = self.link.key(&format!("mail/{to}/{}", self.from));
        self.link.session.put(key, bytes).wait().map_err(|error| error.to_string())
    }
}

/// Decodes a message from a node.
///
/// # Errors
/// Fails if it is too large or malformed.
pub fn decode_message(payload: &ZBytes) -> Result<Envelope, WireError> {
    read(payload)
}

/// Decodes a request of a client.
///
/// # Errors
/// Fails if it is too large or malformed.
pub fn decode_request(query: &Query) -> Result<Request, WireError> {
    query.payload().map_or(Err(WireError::UnknownProtocol), read)
}

fn read<P: Payload>(payload: &ZBytes) -> Result<P, WireError> {
    // The limit is checked before the payload is assembled.
    wire::check_size(payload.len(), P::LIMIT)?;
    wire::decode(&payload.to_bytes())
}

/// Replies to a client.
///
/// # Errors
/// Fails if the reply is too large or zenoh cannot send.
pub fn reply(query: &Query, reply: &Reply) -> Result<(), String> {
    let bytes = wire::encode(reply).map_err(|error| error.to_string())?;
    query.reply(query.key_expr().clone(), bytes).wait().map_err(|error| error.to_string())
}

/// Returns the last part of a key.
fn last_part(sample: &Sample) -> String {
    sample.key_expr().as_str().rsplit('/').next().unwrap_or_default().to_owned()
}
