//! Addresses of remote subjects.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a remote subject.
///
/// ```
/// use invigil_remote::Address;
/// assert_eq!("tcp:9000".parse(), Ok(Address::Tcp("127.0.0.1:9000".into())));
/// assert_eq!("unix:/tmp/soup".parse(), Ok(Address::Unix("/tmp/soup".into())));
/// let started = Address::command(["python3", "language.py", "lamp.soup"]);
/// assert_eq!(started.to_string(), "`python3 language.py lamp.soup`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A program to start, with its arguments; communication uses its standard streams.
    Command(Vec<OsString>),
    /// The path of a UNIX socket with a listening server.
    Unix(PathBuf),
    /// The host and port of a TCP server, separated by a colon.
    Tcp(String),
}

impl Address {
    /// The address of a program with its arguments.
    pub fn command<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Address {
        Address::Command(words.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Command(words) => {
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                write!(f, "`{}`", words.join(" "))
            }
            Address::Unix(path) => write!(f, "`unix:{}`", path.display()),
            Address::Tcp(host_port) => write!(f, "`tcp:{host_port}`"),
        }
    }
}

/// Parses `unix:PATH`, `tcp:PORT` (on this machine) and `tcp:HOST:PORT`.
impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let error = || {
            format!(
                "`{text}` is not an address of a remote subject; write `unix:PATH`, `tcp:PORT` or `tcp:HOST:PORT`"
            )
        };
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(path.into())),
            Some(("tcp", host_port)) => {
                let (host, port) = host_port.rsplit_once(':').unwrap_or(("127.0.0.1", host_port));
                if host.is_empty() || port.parse::<u16>().is_err() {
                    return Err(error());
                }
                Ok(Address::Tcp(format!("{host}:{port}")))
            }
            _ => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip_through_display() {
        for text in ["unix:/tmp/a:b", "tcp:localhost:80", "tcp:[::1]:80", "tcp:127.0.0.1:65535"] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), format!("`{text}`"));
        }
    }

    #[test]
    fn malformed_addresses_are_rejected() {
        for text in ["", "unix:", "tcp:", "tcp::80", "tcp:host:", "tcp:65536", "http:80", "soup"] {
            assert!(text.parse::<Address>().unwrap_err().contains("write `unix:PATH`"), "{text}");
        }
    }
}
