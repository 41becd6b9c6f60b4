//! Rendering of stops, frames, sources, event history and checkpoints as text.

pub(crate) mod frame;
pub(crate) mod history;
pub(crate) mod source;
pub(crate) mod stop;
pub(crate) mod tree;

/// Formats a number of bytes with a binary unit.
pub(crate) fn bytes(amount: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if amount < 1024 {
        return format!("{amount} {}", if amount == 1 { "byte" } else { "bytes" });
    }
    let mut value = amount as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Lays out rows as left-aligned columns, one line per row.
pub(crate) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Appends the hexadecimal form to numbers large enough to be addresses: `q = 93824992252576 (0x5555555592a0)`.
pub(crate) fn with_addresses(text: &str) -> String {
    const SMALLEST: u64 = 1 << 32;
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - at);
        let (number, after) = (&rest[at..at + length], &rest[at + length..]);
        out.push_str(&rest[..at + length]);
        let is_whole = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || "._'".contains(c))
            && !after.starts_with(|c: char| c.is_alphanumeric() || "._".contains(c));
        if let Ok(address) = number.parse::<u64>()
            && address >= SMALLEST
            && is_whole
        {
            out.push_str(&format!(" ({address:#x})"));
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::with_addresses;

    #[test]
    fn with_addresses_large_integers_get_hexadecimal_form() {
        assert_eq!(
            with_addresses("q = 93824992252576, n = 16"),
            "q = 93824992252576 (0x5555555592a0), n = 16"
        );
        for plain in ["n = 16", "x = 93824992252576.5", "s = 'id93824992252576'", "any", ""] {
            assert_eq!(with_addresses(plain), plain);
        }
    }
}
