//! One text for each JSON value: what makes two configurations the same.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Deeper values are refused: what nests them need not be bounded by anything else.
const DEEPEST: usize = 100;

/// The value without spaces, the keys of objects sorted. Numbers and strings stay as they are written, so that none
/// loses its last digits.
///
/// ```
/// use invigil_remote::canonical;
/// assert_eq!(canonical(r#"{ "y": [1.0, 2], "x": null }"#).unwrap(), r#"{"x":null,"y":[1.0,2]}"#);
/// assert!(canonical("[1").is_err());
/// ```
pub fn canonical(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let value: &RawValue = serde_json::from_str(text).map_err(words)?;
    append(value, 0, &mut out)?;
    Ok(out)
}

/// Adds the one text of `value` to `out`.
pub(crate) fn append(value: &RawValue, depth: usize, out: &mut String) -> Result<(), String> {
    let text = value.get();
    if depth > DEEPEST {
        return Err(format!("a value is nested more than {DEEPEST} deep"));
    }
    match text.as_bytes().first() {
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(words)?;
            out.push('[');
            for (at, element) in elements.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                append(element, depth + 1, out)?;
            }
            out.push(']');
        }
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(words)?;
            out.push('{');
            for (at, (name, field)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&string(&name));
                out.push(':');
                append(field, depth + 1, out)?;
            }
            out.push('}');
        }
        _ => out.push_str(text),
    }
    Ok(())
}

/// A string as JSON.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What the JSON reader says, without the line: there is just one.
pub(crate) fn words(error: serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn numbers_keep_their_digits() {
        for text in ["123456789012345678901234567890", "0.1000000000000000055", "1e400", "-0", "\"\\u00e9\""]
        {
            assert_eq!(canonical(text).unwrap(), text);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(canonical(&nested(DEEPEST)).is_ok());
        assert!(canonical(&nested(DEEPEST + 2)).unwrap_err().contains("nested more than"));
        assert!(canonical(&nested(1_000_000)).is_err());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c\"]{0,2}", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equal_values_have_one_text(value in value()) {
            let pretty = canonical(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
            prop_assert_eq!(&pretty, &canonical(&value.to_string()).unwrap());
            prop_assert_eq!(canonical(&pretty).unwrap(), pretty.clone());
            prop_assert_eq!(serde_json::from_str::<Value>(&pretty).unwrap(), value);
        }
    }
}
