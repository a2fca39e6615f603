//! Files of Pillow's, whole and damaged.

use super::walk;
use std::io::{Cursor, Read as _};
use std::sync::LazyLock;

/// Whole files: baseline, progressive, with restarts, of four inks, with metadata.
static WHOLE: LazyLock<[Vec<u8>; 5]> = LazyLock::new(|| {
    let archive = include_bytes!("../../../tests/data/images.zip");
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).expect("the archive");
    ["baseline", "progressive", "restarts", "inks", "exif6"].map(|name| {
        let mut bytes = Vec::new();
        archive.by_name(&format!("images/{name}.jpg")).expect(name).read_to_end(&mut bytes).expect(name);
        bytes
    })
});

/// Where segments start: behind their markers.
fn segments(bytes: &[u8], marker: u8) -> Vec<usize> {
    (0..bytes.len() - 1).filter(|&k| bytes[k] == 0xff && bytes[k + 1] == marker).map(|k| k + 2).collect()
}

#[test]
fn whole_files_are_walked_to_their_end() {
    for (bytes, components) in WHOLE.iter().zip([3, 3, 3, 4, 3]) {
        let seen = walk(bytes).expect("a whole file");
        assert_eq!((seen.components, seen.behind), (components, 0));
        assert_eq!(walk(&[bytes, &b"more"[..]].concat()).expect("a whole file").behind, 4);
    }
}

#[test]
fn files_that_are_cut_anywhere_are_refused() {
    for bytes in &*WHOLE {
        for end in 2..bytes.len() {
            assert!(walk(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn an_end_that_comes_early_is_found() {
    for bytes in [&WHOLE[0], &WHOLE[2], &WHOLE[3], &WHOLE[4]] {
        let scan = segments(bytes, 0xda)[0];
        let data = scan + super::be(&bytes[scan..scan + 2]);
        for end in data..bytes.len() - 3 {
            assert!(walk(&[&bytes[..end], &[0xff, 0xd9]].concat()).is_err(), "{end} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn colours_that_are_sampled_more_finely_than_brightness_are_refused() {
    let frame = segments(&WHOLE[0], 0xc0)[0];
    // Behind length, precision, size and count each component has its number, its factors and its table.
    let factors = |k: usize| frame + 8 + 3 * k + 1;
    for (k, of) in [(1, 0x41), (2, 0x14), (1, 0x44)] {
        let mut bytes = WHOLE[0].clone();
        bytes[factors(k)] = of;
        assert!(walk(&bytes).is_err_and(|why| why.contains("sampled more finely")), "{k} {of:x}");
    }
}

#[test]
fn what_is_missing_or_too_much_is_found() {
    let with = |bytes: &[u8], at: usize, more: &[u8]| walk(&[&bytes[..at], more, &bytes[at..]].concat());
    let baseline = &WHOLE[0][..];
    let end = baseline.len() - 2;
    assert!(with(baseline, end, &[0x12, 0x34]).is_err_and(|why| why.contains("more than the image takes")));
    assert!(with(baseline, end, &[0xff, 0xff]).is_ok(), "markers may be filled up");
    assert!(with(baseline, 2, b"\0").is_err_and(|why| why.contains("no marker")));
    let restarts = &WHOLE[2][..];
    let first = segments(restarts, 0xd0)[0];
    assert!(walk(&[&restarts[..first - 2], &restarts[first..]].concat()).is_err());
    let mut wrong = restarts.to_vec();
    wrong[first - 1] = 0xd3;
    assert!(walk(&wrong).is_err_and(|why| why.contains("a restart is missing")));
    // A progressive image without its first scan has no first coefficients.
    let progressive = &WHOLE[1][..];
    let scans = segments(progressive, 0xda);
    let tables = segments(progressive, 0xc4);
    let second = *tables.iter().find(|&&at| at > scans[0]).expect("tables of the second scan");
    assert!(walk(&[&progressive[..scans[0] - 2], &progressive[second - 2..]].concat()).is_err());
}

#[test]
fn changed_bytes_never_panic() {
    for bytes in &*WHOLE {
        for k in 2..bytes.len() {
            for byte in [0, 0xff, bytes[k] ^ 1, bytes[k] ^ 0x80] {
                let mut damaged = bytes.to_vec();
                damaged[k] = byte;
                let _ = walk(&damaged);
            }
        }
    }
}
