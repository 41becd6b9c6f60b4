//! Observations as text: `on:t,hot:f`.

/// The observations of a line: names with `:t` or `:f`, and commas between them. Nothing is no observation.
///
/// ```
/// use invigil_decent::text::pairs;
///
/// let all = |line| pairs(line).collect::<Result<Vec<_>, _>>();
/// assert_eq!(all("on:t, hot:f"), Ok(vec![("on", true), ("hot", false)]));
/// assert_eq!(all(""), Ok(vec![]));
/// assert!(all("on:maybe").unwrap_err().contains("`t` or `f`"));
/// ```
pub fn pairs(line: &str) -> impl Iterator<Item = Result<(&str, bool), String>> {
    line.split(',').map(str::trim).filter(|part| !part.is_empty()).map(pair)
}

/// One observation: a name and its value.
fn pair(part: &str) -> Result<(&str, bool), String> {
    match part.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, "t")) => Ok((name, true)),
        Some((name, "f")) => Ok((name, false)),
        _ => Err(format!("expected a name with `t` or `f` behind a colon, as in `on:t`, found `{part}`")),
    }
}
