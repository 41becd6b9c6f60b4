//! Remote languages: modelling languages whose servers are named on the command line.

use crate::{CliError, SUBJECT_FAILED};
use clap::Args;
use invigil_remote::{Address, Remote, RemoteOptions};
use std::path::Path;
use std::time::Duration;

/// Options for the connection to a remote language.
#[derive(Args, Clone)]
pub(crate) struct RemoteArgs {
    /// Time-out for one answer of a remote language
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout, default_value = "60")]
    patience: Duration,

    /// Allow the server of a remote language to run on another machine; the connection is not encrypted
    #[arg(long)]
    anywhere: bool,
}

/// The address of a remote language, if the model argument is one: `remote:COMMAND`, `unix:PATH`, `tcp:PORT`.
pub(crate) fn address(model: &Path) -> Option<Result<Address, CliError>> {
    let text = model.to_str()?;
    match text.split_once(':')? {
        ("remote", command) => Some(match split_words(command) {
            Ok(words) if words.is_empty() => {
                Err(CliError::new("`remote:` needs a command: `'remote:python3 language.py program'`"))
            }
            Ok(words) => Ok(Address::command(words)),
            Err(open) => Err(CliError::new(format_args!("unclosed {open} in `{command}`"))),
        }),
        ("unix" | "tcp", _) => Some(text.parse::<Address>().map_err(CliError::new)),
        _ => None,
    }
}

/// Starts the server of a remote language, or connects to it.
pub(crate) fn start(address: &Address, args: &RemoteArgs) -> Result<Remote, CliError> {
    let options = RemoteOptions {
        timeout: args.patience,
        allow_other_hosts: args.anywhere,
        ..RemoteOptions::default()
    };
    Remote::start(address, options)
        .map_err(|failure| CliError { status: SUBJECT_FAILED, ..CliError::new(failure) })
}

/// Splits a command into words as a shell does: quotes group words, `\` quotes the next character. The error is the
/// quotation mark that is not closed.
pub(crate) fn split_words(command: &str) -> Result<Vec<String>, char> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.map_or(Ok(words), Err)
}

/// Parses a positive number of seconds.
pub(crate) fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a positive number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_quotes_split_as_in_shell() {
        let split = |text| split_words(text).unwrap().join("|");
        assert_eq!(split("python3 language.py  lamp.soup "), "python3|language.py|lamp.soup");
        assert_eq!(
            split(r#"sh -c 'echo "a b"' x\ y "it's \"so\"" ''"#),
            r#"sh|-c|echo "a b"|x y|it's "so"|"#
        );
        assert_eq!(split_words("a 'b"), Err('\''));
    }

    #[test]
    fn address_of_model_file_is_none() {
        for file in ["lamp.model", "a:b.model", "remote.dve", "http:80"] {
            assert!(address(Path::new(file)).is_none(), "{file}");
        }
        assert!(matches!(address(Path::new("tcp:80")), Some(Ok(Address::Tcp(_)))));
        assert!(matches!(address(Path::new("tcp:x")), Some(Err(_))));
        assert!(matches!(address(Path::new("remote: ")), Some(Err(_))));
    }
}
