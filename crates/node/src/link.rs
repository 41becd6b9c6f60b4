//! The network: a session of zenoh, and the keys under which nodes find each other.
//!
//! | key | is for |
//! | --- | --- |
//! | `REALM/mail/TO/FROM` | mail of node `FROM` for node `TO` |
//! | `REALM/ask/NODE` | requests of clients, which the node answers |
//! | `REALM/here/NODE` | the liveliness token of a node |
//!
//! A link of zenoh is reliable, but only as long as it lasts: what was sent before a cut may be lost while every send says that it
//! went well. That is why [rounds](crate::rounds) ask again. Three defaults of zenoh are changed: messages are not dropped under
//! congestion, a link is not closed because its other end has stood still for five seconds, and who is gone is missed after two
//! seconds instead of ten.

use crate::wire::{self, Envelope, Payload, Refusal, Reply, Request};
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

/// How many messages wait for a node. More are let go: what is missing is asked for again.
const WAITING: usize = 1024;

/// What is set where a file leaves zenoh's default, or where there is none.
const SETTINGS: [(&str, &str); 4] = [
    ("transport/link/tx/lease", "2000"),
    ("connect/retry", "{ period_init_ms: 100, period_max_ms: 1000, period_increase_factor: 2 }"),
    ("scouting/delay", "0"),
    // The largest payload is a deployment.
    ("transport/link/rx/max_message_size", "134217728"),
];

/// What is set in any case: it is what runs rely on.
const WAIT_BEFORE_CLOSE: (&str, &str) =
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000");

/// How to get into the network.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where to listen: `tcp/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Where others listen.
    pub connect: Vec<String>,
    /// A configuration file of zenoh, for TLS, access control and everything else.
    pub config: Option<PathBuf>,
    /// Nodes of different realms on the same network do not see each other.
    pub realm: String,
}

/// A place in the network.
pub struct Link {
    session: Session,
    realm: String,
}

/// What comes to a node.
pub enum Event {
    /// Mail, with who sent it according to the key, to be [opened](open).
    Mail(String, ZBytes),
    /// A request that wants a [reply].
    Request(Box<Query>),
    /// A node is here.
    Here(String),
    /// A node is gone.
    Gone(String),
}

impl Event {
    /// How many bytes it brings.
    pub fn size(&self) -> usize {
        match self {
            Event::Mail(_, payload) => payload.len(),
            Event::Request(query) => query.payload().map_or(0, ZBytes::len),
            Event::Here(_) | Event::Gone(_) => 0,
        }
    }
}

/// What a node has declared; it is in the network as long as this lives.
pub struct Presence {
    _mail: Subscriber<()>,
    _ask: Queryable<()>,
    _others: Subscriber<()>,
    _token: LivelinessToken,
}

impl Link {
    /// Gets into the network. Where neither an endpoint nor a file is given, nodes find each other by multicast.
    ///
    /// # Errors
    /// If the configuration is wrong, or if it cannot listen.
    pub fn open(options: &Options) -> Result<Link, String> {
        crate::deployment::check_name(&options.realm).map_err(|unfit| unfit.to_string())?;
        let mut config = match &options.config {
            Some(path) => Config::from_file(path)
                .map_err(|error| format!("{}: it is no configuration of zenoh: {error}", path.display()))?,
            None => Config::default(),
        };
        let usual = Config::default();
        let left: Vec<(&str, &str)> = SETTINGS
            .into_iter()
            .filter(|(key, _)| config.get_json(key).ok() == usual.get_json(key).ok())
            .collect();
        let mut set = |key: &str, value: &str| {
            config
                .insert_json5(key, value)
                .map_err(|error| format!("zenoh does not take {key} = {value}: {error}"))
        };
        for (key, value) in left {
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
        let session = zenoh::open(config)
            .wait()
            .map_err(|error| format!("there is no way into the network: {error}"))?;
        Ok(Link { session, realm: options.realm.clone() })
    }

    fn key(&self, parts: &str) -> String {
        format!("{}/{parts}", self.realm)
    }

    /// Becomes a node: from now on `tell` is told what comes. It must not wait.
    ///
    /// # Errors
    /// If zenoh cannot.
    pub fn appear(
        &self,
        name: &str,
        tell: impl Fn(Event) + Clone + Send + Sync + 'static,
    ) -> Result<Presence, String> {
        let trouble = |error| format!("{name} cannot appear in the network: {error}");
        let (mail, ask, others) = (tell.clone(), tell.clone(), tell);
        Ok(Presence {
            _mail: self
                .session
                .declare_subscriber(self.key(&format!("mail/{name}/*")))
                .callback(move |sample| mail(Event::Mail(last(&sample), sample.payload().clone())))
                .wait()
                .map_err(trouble)?,
            _ask: self
                .session
                .declare_queryable(self.key(&format!("ask/{name}")))
                .callback(move |query| ask(Event::Request(Box::new(query))))
                .wait()
                .map_err(trouble)?,
            _others: self
                .session
                .liveliness()
                .declare_subscriber(self.key("here/*"))
                .history(true)
                .callback(move |sample| {
                    others(match sample.kind() {
                        SampleKind::Put => Event::Here(last(&sample)),
                        SampleKind::Delete => Event::Gone(last(&sample)),
                    });
                })
                .wait()
                .map_err(trouble)?,
            _token: self
                .session
                .liveliness()
                .declare_token(self.key(&format!("here/{name}")))
                .wait()
                .map_err(trouble)?,
        })
    }

    /// The nodes that are here, sorted.
    ///
    /// # Errors
    /// If zenoh cannot tell.
    pub fn nodes(&self, timeout: Duration) -> Result<Vec<String>, String> {
        let replies = self.session.liveliness().get(self.key("here/*")).timeout(timeout);
        let replies: FifoChannelHandler<_> =
            replies.with(FifoChannel::new(WAITING)).wait().map_err(|error| error.to_string())?;
        let mut names: Vec<String> =
            replies.iter().filter_map(|reply| reply.result().ok().map(last)).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Waits for so many links, and until what is declared at their ends is known. Says whether they came.
    pub fn settle(&self, links: usize, patience: Duration) -> bool {
        let info = self.session.info();
        let began = Instant::now();
        loop {
            let come = info.peers_zid().wait().count() + info.routers_zid().wait().count();
            if come > 0 && come >= links {
                // Declarations follow at once; this is long for them.
                std::thread::sleep(Duration::from_millis(100));
                return true;
            }
            if links == 0 || began.elapsed() >= patience {
                return come > 0;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks a node for something. None if it does not answer.
    ///
    /// # Errors
    /// If what is asked is too large, or if the answer is nonsense.
    pub fn request(&self, node: &str, request: &Request, timeout: Duration) -> Result<Option<Reply>, String> {
        let bytes = wire::encode(request).map_err(|refusal| {
            format!("it cannot be sent to {node}: {refusal}; traces may also lie on the nodes (--own-traces)")
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
                return reply.map(Some).map_err(|refusal| format!("{node} answers, but {refusal}"));
            }
        }
        Ok(None)
    }

    /// Leaves the network.
    pub fn close(&self) {
        // Who cannot say goodbye is missed a little later.
        let _ = self.session.close().wait();
    }

    /// For mail of a node to others.
    pub fn post(&self, from: &str) -> Post<'_> {
        Post { link: self, from: from.to_owned(), boxes: HashMap::new() }
    }
}

/// Mail that goes out.
pub struct Post<'a> {
    link: &'a Link,
    from: String,
    boxes: HashMap<String, Publisher<'static>>,
}

impl Post<'_> {
    /// Sends something that was encoded. That it went well does not mean that it comes.
    ///
    /// # Errors
    /// If zenoh cannot.
    pub fn send(&mut self, to: &str, bytes: Vec<u8>) -> Result<(), String> {
        if !self.boxes.contains_key(to) {
            let key = self.link.key(&format!("mail/{to}/{}", self.from));
            let new = self.link.session.declare_publisher(key);
            let new = new.congestion_control(CongestionControl::Block).express(true);
            self.boxes.insert(to.to_owned(), new.wait().map_err(|error| error.to_string())?);
        }
        self.boxes
            .get(to)
            .map_or(Ok(()), |publisher| publisher.put(bytes).wait().map_err(|error| error.to_string()))
    }

    /// Sends something to somebody who may be anybody: nothing is kept for them, and they are not waited for.
    ///
    /// # Errors
    /// If zenoh cannot.
    pub fn send_once(&self, to: &str, bytes: Vec<u8>) -> Result<(), String> {
        let key = self.link.key(&format!("mail/{to}/{}", self.from));
        self.link.session.put(key, bytes).wait().map_err(|error| error.to_string())
    }
}

/// What mail says.
///
/// # Errors
/// If it is too large, or nonsense.
pub fn open(mail: &ZBytes) -> Result<Envelope, Refusal> {
    read(mail)
}

/// What a client asks for.
///
/// # Errors
/// If it is too large, or nonsense.
pub fn request(query: &Query) -> Result<Request, Refusal> {
    query.payload().map_or(Err(Refusal::Foreign), read)
}

fn read<P: Payload>(payload: &ZBytes) -> Result<P, Refusal> {
    // What is too large is not even put together.
    wire::within(payload.len(), P::LIMIT)?;
    wire::decode(&payload.to_bytes())
}

/// Answers a client.
///
/// # Errors
/// If the answer is too large, or if zenoh cannot.
pub fn reply(query: &Query, reply: &Reply) -> Result<(), String> {
    let bytes = wire::encode(reply).map_err(|refusal| refusal.to_string())?;
    query.reply(query.key_expr().clone(), bytes).wait().map_err(|error| error.to_string())
}

/// The last part of a key.
fn last(sample: &Sample) -> String {
    sample.key_expr().as_str().rsplit('/').next().unwrap_or_default().to_owned()
}
