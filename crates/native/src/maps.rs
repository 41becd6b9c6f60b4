//! Memory mappings of a process.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// One line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) range: Range<u64>,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) execute: bool,
    pub(crate) shared: bool,
    /// Offset in the file.
    pub(crate) offset: u64,
    /// The file, or a name in brackets.
    pub(crate) path: Option<PathBuf>,
}

/// Reads the mappings of a process, ordered by address.
pub(crate) fn read(process: i32) -> io::Result<Vec<Mapping>> {
    let text = std::fs::read(format!("/proc/{process}/maps"))?;
    // Paths may be any bytes; users cannot name files that are not valid UTF-8 either.
    Ok(String::from_utf8_lossy(&text).lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        word
    };
    let (start, end) = word().split_once('-')?;
    let flags = word().as_bytes();
    let offset = word();
    let (_device, _inode) = (word(), word());
    let path = rest.trim_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(Mapping {
        range: number(start)?..number(end)?,
        read: flags.first() == Some(&b'r'),
        write: flags.get(1) == Some(&b'w'),
        execute: flags.get(2) == Some(&b'x'),
        shared: flags.get(3) == Some(&b's'),
        offset: number(offset)?,
        path: (!path.is_empty()).then(|| PathBuf::from(path.strip_suffix(" (deleted)").unwrap_or(path))),
    })
}

/// Reach of a jump.
const NEAR: u64 = 0x7000_0000;
/// Distance from that limit that is kept for later regions, which are placed before this one.
const HEADROOM: u64 = 0x400_0000;

/// Finds `size` free bytes as near to `address` as possible, out of the way of the heap, which grows up from the end
/// of the program, and of the stack, which grows down.
pub(crate) fn gap_near(maps: &[Mapping], address: u64, size: u64) -> Option<u64> {
    // The kernel maps nothing at the lowest addresses.
    const LOWEST: u64 = 0x1_0000;
    let ends = std::iter::once(LOWEST).chain(maps.iter().map(|map| map.range.end));
    let is_stack = |map: &Mapping| map.path.as_ref().is_some_and(|path| path.as_os_str() == "[stack]");
    let below = ends.zip(maps).filter(|(_, map)| !is_stack(map));
    let places =
        below.filter_map(|(end, map)| map.range.start.checked_sub(size).filter(|place| *place >= end));
    let nearest = places.min_by_key(|place| place.abs_diff(address));
    if nearest.is_some_and(|place| place.abs_diff(address) < NEAR) {
        return nearest;
    }
    // All low addresses are in use: use an address above the heap, which seldom grows that far.
    let above_heap = (address & !0xffff).saturating_add(NEAR - HEADROOM);
    let is_free = maps.iter().all(|map| above_heap + size <= map.range.start || map.range.end <= above_heap);
    if is_free { Some(above_heap) } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_line_is_parsed() {
        let map = parse("7f0-8f0 r-xp 00001000 08:01 42      /usr/lib/a b.so (deleted)").unwrap();
        assert_eq!((map.range, map.offset), (0x7f0..0x8f0, 0x1000));
        assert!(map.read && map.execute && !map.write && !map.shared);
        assert_eq!(map.path.unwrap(), PathBuf::from("/usr/lib/a b.so"));
        assert!(parse("7f0-8f0 rw-p 0 0:0 0").unwrap().path.is_none());
        assert!(parse("nonsense").is_none());
    }

    #[test]
    fn gap_near_finds_nearest_gap() {
        let map = |range: Range<u64>| Mapping {
            range,
            read: true,
            write: false,
            execute: false,
            shared: false,
            offset: 0,
            path: None,
        };
        let maps = [map(0x40_0000..0x50_0000), map(0x51_0000..0x60_0000)];
        assert_eq!(gap_near(&maps, 0x4f_0000, 0x1_0000), Some(0x50_0000));
        assert_eq!(gap_near(&maps, 0x4f_0000, 0x2_0000), Some(0x3e_0000));
        // With no gap below the program.
        let full = [map(0x1_0000..0x300_0000), map(0x7fff_0000_0000..0x7fff_0001_0000)];
        assert_eq!(gap_near(&full, 0x41_0000, 0x1_0000), Some(0x6c41_0000));
        let stack = Mapping { path: Some("[stack]".into()), ..map(0x51_0000..0x60_0000) };
        assert_eq!(gap_near(&[map(0x40_0000..0x50_0000), stack], 0x4f_0000, 0x1_0000), Some(0x3f_0000));
    }

    #[test]
    fn own_process_has_executable_mappings() {
        let maps = read(std::process::id() as i32).unwrap();
        assert!(maps.iter().any(|map| map.execute && map.path.is_some()));
    }
}
