//! Canonical JSON texts, by which configurations are compared.
//!
//! Hand-written because RFC 8785 (`serde_jcs`) rewrites numbers, which must stay as the remote subject wrote them.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Maximum nesting depth, because recursion on input from another program must be bounded.
const MAX_DEPTH: usize = 100;

/// The canonical text of a JSON value: without spaces, and with sorted keys. Numbers and strings are copied verbatim,
/// so that no digits are lost.
///
/// ```
/// use invigil_remote::canonical;
/// assert_eq!(canonical(r#"{ "y": [1.0, 2], "x": null }"#).unwrap(), r#"{"x":null,"y":[1.0,2]}"#);
/// assert!(canonical("[1").is_err());
/// ```
pub fn canonical(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let value: &RawValue = serde_json::from_str(text).map_err(json_error)?;
    append_canonical(value, 0, &mut out)?;
    Ok(out)
}

/// Appends the canonical text of `value` to `out`.
pub(crate) fn append_canonical(value: &RawValue, depth: usize, out: &mut String) -> Result<(), String> {
    let text = value.get();
    if depth > MAX_DEPTH {
        return Err(format!("a value is nested more than {MAX_DEPTH} deep"));
    }
    match text.as_bytes().first() {
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(json_error)?;
            out.push('[');
            for (at, element) in elements.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                append_canonical(element, depth + 1, out)?;
            }
            out.push(']');
        }
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(json_error)?;
            out.push('{');
            for (at, (name, field)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&json_string(&name));
                out.push(':');
                append_canonical(field, depth + 1, out)?;
            }
            out.push('}');
        }
        _ => out.push_str(text),
    }
    Ok(())
}

/// A string as JSON.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The message of a JSON error. The line is omitted, because there is only one.
pub(crate) fn json_error(error: serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn canonical_numbers_keep_all_digits() {
        for text in ["123456789012345678901234567890", "0.1000000000000000055", "1e400", "-0", "\"\\u00e9\""]
        {
            assert_eq!(canonical(text).unwrap(), text);
        }
    }

    #[test]
    fn nesting_depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(canonical(&nested(MAX_DEPTH)).is_ok());
        assert!(canonical(&nested(MAX_DEPTH + 2)).unwrap_err().contains("nested more than"));
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
        fn equal_values_have_equal_canonical_text(value in value()) {
            let pretty = canonical(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
            prop_assert_eq!(&pretty, &canonical(&value.to_string()).unwrap());
            prop_assert_eq!(canonical(&pretty).unwrap(), pretty.clone());
            prop_assert_eq!(serde_json::from_str::<Value>(&pretty).unwrap(), value);
        }
    }
}
