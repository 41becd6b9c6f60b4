//! Languages of other programs, as they are given on the command line.

use crate::{Trouble, UNRUNNABLE};
use clap::Args;
use invigil_remote::{Address, Options, Remote};
use std::path::Path;
use std::time::Duration;

/// How to talk to a language of another program.
#[derive(Args, Clone)]
pub(crate) struct RemoteArgs {
    /// How long a language of another program may take for one answer
    #[arg(long, value_name = "SECONDS", value_parser = patience, default_value = "60")]
    patience: Duration,

    /// Allow a language on another machine: what it answers travels in the clear
    #[arg(long)]
    anywhere: bool,
}

/// The address in the place of a model's file, if it is one: `remote:COMMAND`, `unix:PATH`, `tcp:PORT`.
pub(crate) fn address(model: &Path) -> Option<Result<Address, Trouble>> {
    let text = model.to_str()?;
    match text.split_once(':')? {
        ("remote", command) => Some(match words(command) {
            Ok(words) if words.is_empty() => {
                Err(Trouble::new("`remote:` needs a command: `'remote:python3 language.py program'`"))
            }
            Ok(words) => Ok(Address::command(words)),
            Err(open) => Err(Trouble::new(format_args!("a {open} in `{command}` is not closed"))),
        }),
        ("unix" | "tcp", _) => Some(text.parse::<Address>().map_err(Trouble::new)),
        _ => None,
    }
}

/// Starts it, or connects to it.
pub(crate) fn start(address: &Address, args: &RemoteArgs) -> Result<Remote, Trouble> {
    let options = Options { timeout: args.patience, anywhere: args.anywhere, ..Options::default() };
    Remote::start(address, options).map_err(|failure| Trouble { status: UNRUNNABLE, ..Trouble::new(failure) })
}

/// The words of a command, as a shell would find them: quotes keep words together, `\` takes what follows as it is.
pub(crate) fn words(command: &str) -> Result<Vec<String>, char> {
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

pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a number of seconds, more than 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let split = |text| words(text).unwrap().join("|");
        assert_eq!(split("python3 language.py  lamp.soup "), "python3|language.py|lamp.soup");
        assert_eq!(
            split(r#"sh -c 'echo "a b"' x\ y "it's \"so\"" ''"#),
            r#"sh|-c|echo "a b"|x y|it's "so"|"#
        );
        assert_eq!(words("a 'b"), Err('\''));
    }

    #[test]
    fn files_are_no_addresses() {
        for file in ["lamp.model", "a:b.model", "remote.dve", "http:80"] {
            assert!(address(Path::new(file)).is_none(), "{file}");
        }
        assert!(matches!(address(Path::new("tcp:80")), Some(Ok(Address::Tcp(_)))));
        assert!(matches!(address(Path::new("tcp:x")), Some(Err(_))));
        assert!(matches!(address(Path::new("remote: ")), Some(Err(_))));
    }
}
