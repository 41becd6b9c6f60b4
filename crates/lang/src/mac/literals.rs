//! Java's number and string literals.

use super::ast::Literal;
use std::ops::Range;

/// Parses a number literal; the error is a message with its help text.
pub(super) fn number(written: &str, is_negative: bool) -> Result<Literal, (String, &'static str)> {
    const TOO_LARGE_HELP: &str = "an `int` has 32 bits; append `L` for a `long`";
    let digits: String = written.chars().filter(|c| *c != '_').collect();
    let lower = digits.to_ascii_lowercase();
    let sign = if is_negative { "-" } else { "" };
    let wrong = || {
        (format!("`{written}` is not a number"), "numbers are written as in Java: `30`, `0.5`, `1e-3`, `7L`")
    };
    let radix = match lower.as_bytes() {
        [b'0', b'x', ..] => 16,
        [b'0', b'b', ..] => 2,
        _ => 10,
    };
    let is_float = radix == 10 && lower.contains(['.', 'e', 'f', 'd']);
    if is_float {
        let number = lower.trim_end_matches(['f', 'd']);
        if lower.len() - number.len() > 1 {
            return Err(wrong());
        }
        let signed = format!("{sign}{number}");
        return match lower.ends_with('f') {
            true => signed.parse().map(Literal::Float),
            false => signed.parse().map(Literal::Double),
        }
        .map_err(|_| wrong());
    }
    let (number, is_long) = match lower.strip_suffix('l') {
        Some(number) => (number, true),
        None => (lower.as_str(), false),
    };
    let (digits, radix) = match radix {
        10 if number.len() > 1 && number.starts_with('0') => (&number[1..], 8),
        10 => (number, 10),
        radix => (&number[2..], radix),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(wrong());
    }
    let too_large = || (format!("`{sign}{written}` is too large"), TOO_LARGE_HELP);
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| too_large())?;
    // Literals that are not decimal denote bits: `0xffffffff` is -1.
    let is_bits = radix != 10;
    let value = i128::from(magnitude) * if is_negative { -1 } else { 1 };
    let fits = |low: i128, high: i128, bits: i128| {
        (low..=high).contains(&value) || is_bits && (0..=bits).contains(&i128::from(magnitude))
    };
    if is_long {
        return match fits(i64::MIN.into(), i64::MAX.into(), u64::MAX.into()) {
            true => Ok(Literal::Long(value as i64)),
            false => Err(too_large()),
        };
    }
    match fits(i32::MIN.into(), i32::MAX.into(), u32::MAX.into()) {
        true => Ok(Literal::Int(value as i32)),
        false => Err(too_large()),
    }
}

/// Decodes escape sequences to UTF-16 units. The error is the range of an unknown sequence.
pub(super) fn unescaped(inside: &str) -> Result<Vec<u16>, Range<usize>> {
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(c) = inside[at..].chars().next() {
        if c != '\\' {
            text.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            at += c.len_utf8();
            continue;
        }
        let (unit, length) = escape(&inside[at + 1..]).map_err(|length| at..at + 1 + length)?;
        text.push(unit);
        at += 1 + length;
    }
    Ok(text)
}

/// Decodes the text after a backslash; returns the unit and its length. The error is the length of the sequence.
fn escape(rest: &str) -> Result<(u16, usize), usize> {
    let Some(first) = rest.chars().next() else { return Err(0) };
    let unit = match first {
        'n' => 0x0a,
        't' => 0x09,
        'r' => 0x0d,
        'b' => 0x08,
        'f' => 0x0c,
        's' => 0x20,
        '\\' | '\'' | '"' => first as u16,
        '0'..='7' => {
            let most = if first <= '3' { 3 } else { 2 };
            let length = rest.bytes().take(most).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            return u16::from_str_radix(&rest[..length], 8).map(|unit| (unit, length)).map_err(|_| length);
        }
        'u' => {
            let digits = rest.trim_start_matches('u');
            let length = rest.len() - digits.len();
            let digits = digits.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
            return unit.map(|unit| (unit, length + 4)).ok_or(length);
        }
        _ => return Err(first.len_utf8()),
    };
    Ok((unit, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_literals_match_java() {
        for (written, is_negative, expected) in [
            ("0", false, Literal::Int(0)),
            ("30", true, Literal::Int(-30)),
            ("2147483648", true, Literal::Int(i32::MIN)),
            ("0xffffffff", false, Literal::Int(-1)),
            ("0xffff_ffff_ffff_ffffL", false, Literal::Long(-1)),
            ("017", false, Literal::Int(15)),
            ("0b101", false, Literal::Int(5)),
            ("9223372036854775807L", false, Literal::Long(i64::MAX)),
            (".5", false, Literal::Double(0.5)),
            ("1e3", true, Literal::Double(-1000.0)),
            ("1.5f", false, Literal::Float(1.5)),
            ("2d", false, Literal::Double(2.0)),
            ("0x1f", false, Literal::Int(31)),
        ] {
            assert_eq!(number(written, is_negative), Ok(expected), "{written}");
        }
        for written in ["2147483648", "08", "0x", "1abc", "1.2.3", "1ff", "0b2", "99999999999999999999", "1e"]
        {
            assert!(number(written, false).is_err(), "{written}");
        }
    }

    #[test]
    fn string_escapes_match_java() {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        for (written, says) in [
            ("plain é", "plain é"),
            (r#"a\tb\\n\""#, "a\tb\\n\""),
            (r"\u0041\uuu0042", "AB"),
            (r"\101\60\477", "A0\u{27}7"),
        ] {
            assert_eq!(unescaped(written), Ok(units(says)), "{written}");
        }
        assert_eq!(unescaped(r"ab\q"), Err(2..4));
        assert_eq!(unescaped(r"\u12"), Err(0..2));
        assert_eq!(unescaped("a\\é"), Err(1..4));
    }
}
