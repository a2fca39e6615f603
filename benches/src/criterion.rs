//! Figures that `cargo bench` left behind, as results that render like the program's own.

use crate::results::{Measured, Results};
use crate::works::works;
use serde::Deserialize;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The part of criterion's `benchmark.json` that is read.
#[derive(Deserialize)]
struct Benchmark {
    /// `pattern/variant/dtype/n`.
    group_id: String,
    /// The backend.
    function_id: Option<String>,
    /// `device` or `wall`.
    value_str: Option<String>,
    throughput: Option<Throughput>,
}

#[derive(Deserialize)]
enum Throughput {
    Bytes(u64),
    #[serde(untagged)]
    Other(serde::de::IgnoredAny),
}

/// The part of `estimates.json` that is read; times are in nanoseconds.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// Clock that a figure is of.
#[derive(Clone, Copy, PartialEq)]
enum Clock {
    Device,
    Wall,
}

/// One function of one group: a clock on a backend.
struct Figure {
    backend: String,
    name: String,
    dtype: String,
    n: u64,
    bytes: u64,
    clock: Clock,
    seconds: f64,
    range: (f64, f64),
}

/// The latest results below criterion's folder, `target/criterion`. Groups of other names than this crate's are left out.
///
/// # Errors
/// Files that cannot be read or are not criterion's; a folder without results.
pub fn read(folder: &Path) -> Result<Results, Box<dyn Error>> {
    let mut found = Vec::new();
    latest(folder, &mut found).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let figures = found.iter().filter_map(|f| figure(f).transpose()).collect::<Result<Vec<Figure>, _>>()?;
    if figures.is_empty() {
        return Err(format!("{} holds no results; `cargo bench` makes them", folder.display()).into());
    }
    let mut results = Results { version: env!("CARGO_PKG_VERSION").to_owned(), measured: together(&figures), ..Results::default() };
    results.relate_to_copy();
    Ok(results)
}

/// The folders named `new`, which hold what the last run measured.
fn latest(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.ends_with("new") && path.join("benchmark.json").is_file() {
            found.push(path);
        } else if path.is_dir() {
            latest(&path, found)?;
        }
    }
    Ok(())
}

fn figure(folder: &Path) -> Result<Option<Figure>, Box<dyn Error>> {
    let benchmark: Benchmark = json(&folder.join("benchmark.json"))?;
    let Some((name, dtype, n)) = group(&benchmark.group_id) else { return Ok(None) };
    let (Some(backend), Some(Throughput::Bytes(bytes))) = (benchmark.function_id, benchmark.throughput) else { return Ok(None) };
    let clock = match benchmark.value_str.as_deref() {
        Some("device") => Clock::Device,
        Some("wall") => Clock::Wall,
        _ => return Ok(None),
    };
    let Estimate { point_estimate, confidence_interval: interval } = json::<Estimates>(&folder.join("estimates.json"))?.median;
    Ok(Some(Figure {
        backend,
        name: name.to_owned(),
        dtype: dtype.to_owned(),
        n,
        bytes,
        clock,
        seconds: point_estimate * 1e-9,
        range: (interval.lower_bound * 1e-9, interval.upper_bound * 1e-9),
    }))
}

/// `pattern/variant`, element type and elements of a group's name.
fn group(id: &str) -> Option<(&str, &str, u64)> {
    let (rest, n) = id.rsplit_once('/')?;
    let (name, dtype) = rest.rsplit_once('/')?;
    Some((name, dtype, n.parse().ok()?))
}

fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Box<dyn Error>> {
    let about = |e: &dyn Error| format!("cannot read {}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(|e| about(&e))?;
    Ok(serde_json::from_str(&text).map_err(|e| about(&e))?)
}

/// The two clocks of a backend together, in the order of the works.
fn together(figures: &[Figure]) -> Vec<Measured> {
    let order: Vec<(&str, &str)> = works().iter().map(|w| (w.name, w.dtype.name())).collect();
    let place = |f: &Figure| order.iter().position(|o| *o == (&*f.name, &*f.dtype)).unwrap_or(order.len());
    let same = |a: &Figure, b: &Figure| (&a.backend, &a.name, &a.dtype, a.n) == (&b.backend, &b.name, &b.dtype, b.n);
    let mut walls: Vec<&Figure> = figures.iter().filter(|f| f.clock == Clock::Wall).collect();
    walls.sort_by_cached_key(|f| (place(f), f.n, f.backend.clone()));
    let measured = |wall: &&Figure| {
        // Without a clock of the device the wall's stands for it.
        let device = figures.iter().find(|f| f.clock == Clock::Device && same(f, wall));
        let best = device.unwrap_or(wall);
        Measured {
            backend: wall.backend.clone(),
            name: wall.name.clone(),
            dtype: wall.dtype.clone(),
            n: wall.n,
            device_s: best.seconds,
            device_range_s: best.range,
            device_clock: device.is_some(),
            batch: 0,
            samples: 0,
            copies: 0,
            end_to_end_s: wall.seconds,
            host_s: None,
            first_after_inputs_s: None,
            bytes_per_s: wall.bytes as f64 / best.seconds,
            of_copy: None,
            checked: Vec::new(),
        }
    };
    walls.iter().map(measured).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::render;
    use std::collections::BTreeMap;

    fn folder(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
    }

    /// The results of a folder that criterion wrote, whose files `tests/criterion.json` holds by their paths.
    pub(crate) fn written() -> Results {
        let text = fs::read_to_string(folder("criterion.json")).expect("the fixture");
        let files: BTreeMap<PathBuf, serde_json::Value> = serde_json::from_str(&text).expect("files by their paths");
        let written = tempfile::tempdir().expect("a folder");
        for (path, content) in files {
            let path = written.path().join(path);
            fs::create_dir_all(path.parent().expect("a file's folder")).expect("a folder");
            fs::write(path, content.to_string()).expect("a file");
        }
        read(written.path()).expect("criterion's results")
    }

    #[test]
    fn what_criterion_wrote_becomes_the_table_and_the_drawing() {
        let results = [written()];
        let table = render::markdown(&results);
        assert_eq!(table, fs::read_to_string(folder("criterion.md")).expect("the expected table"));
        let svg = render::svg(&results).expect("a drawing");
        for text in ["copy f32 2^16", "reduce/sum f32 2^16", "cpu", "wgpu"] {
            assert!(svg.contains(text), "{text} is not in {svg}");
        }
    }

    #[test]
    fn a_folder_without_results_says_what_makes_them() {
        let nothing = read(&folder("nothing")).expect_err("there is no such folder").to_string();
        assert!(nothing.starts_with("cannot read ") && nothing.contains("nothing"), "{nothing}");
        let none = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect_err("sources are no results").to_string();
        assert!(none.contains("`cargo bench` makes them"), "{none}");
    }

    #[test]
    fn groups_are_taken_apart_from_the_right() {
        assert_eq!(group("map/axpy/f32/65536"), Some(("map/axpy", "f32", 65536)));
        assert_eq!(group("copy/f32/1048576"), Some(("copy", "f32", 1 << 20)));
        assert_eq!(group("somebody's group"), None);
    }
}
