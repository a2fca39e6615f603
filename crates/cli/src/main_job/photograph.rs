//! One photograph through the filters on every device: the same bytes, of which one picture is written.

use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::screen::say;
use crate::{device, table};
use ::image::{GrayImage, ImageFormat};
use isowarp::backend::Backend as _;
use isowarp::buffer::Memory as _;
use isowarp::patterns::{Border, Filter as _, FilterKind, Image};
use isowarp::{Device, Error};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A photograph by Lav Varshney, CC0; see assets/README.md.
const PHOTOGRAPH: &[u8] = include_bytes!("../../assets/camera.png");

/// File that is written: its edges.
const WRITTEN: &str = "isowarp-photograph.png";
/// The filter that finds them.
const EDGES: FilterKind = FilterKind::Sobel;

/// A filter with the border rule that it is run with.
struct Job {
    name: String,
    kind: FilterKind,
    border: Border,
}

/// Results of the photograph on the devices.
struct Comparison {
    /// By filter: its name, and by device whether its bytes are the CPU's.
    rows: Vec<Vec<String>>,
    /// Filters on devices whose bytes are not the CPU's.
    differing: Vec<String>,
    /// Devices that cannot promise the bits, and so have none to compare.
    not_run: Vec<Error>,
    /// The edges.
    edges: Vec<u8>,
}

/// Filters on every device, says what came of it and writes the edges; an error unless all bytes agree.
pub(super) fn filter_everywhere(verbose: bool) -> Result {
    let photograph = ::image::load_from_memory(PHOTOGRAPH).map_err(|e| Failure::defect(format!("the bundled photograph: {e}")))?;
    let photograph = photograph.into_luma8();
    let progress = Progress::new("opening devices", 0);
    let (devices, _) = device::all(None)?;
    let jobs = jobs()?;
    progress.expect((devices.len() * jobs.len()) as u64);
    let found = compare(&devices, &photograph, &jobs, &progress)?;
    drop(progress);
    if verbose {
        let names: Vec<String> = devices.iter().map(|d| device::label(d.caps())).collect();
        let header: Vec<&str> = ["filter, border"].into_iter().chain(names.iter().map(String::as_str)).collect();
        say(table::table(&header, &[], &found.rows))?;
    }
    let (width, height) = photograph.dimensions();
    let what = format!("Photograph: {width}x{height} pixels through {} filters", jobs.len());
    say(conclusion(&what, devices.len() - found.not_run.len(), &found.differing)?)?;
    for e in found.not_run {
        say(Failure::from(e).to_string().replacen("error: ", "Not run: ", 1))?;
    }
    let edges = GrayImage::from_raw(width, height, found.edges).ok_or_else(|| Failure::defect("a filter changed the size"))?;
    say(format!("Written: {} (its edges)", write(&edges, Path::new("."))?.display()))
}

/// Every border rule, so that edges of the picture are compared too.
fn jobs() -> Result<Vec<Job>> {
    let kinds = [
        ("gaussian 3x3", FilterKind::gaussian3()),
        ("gaussian 5x5", FilterKind::gaussian5()),
        ("sharpen", FilterKind::sharpen(0.5)?),
        ("sobel", EDGES),
        ("laplacian", FilterKind::laplacian()),
        ("median", FilterKind::Median3),
    ];
    let job = |((name, kind), border): ((&str, FilterKind), Border)| Job {
        name: format!("{name}, {}", format!("{border:?}").to_lowercase()),
        kind,
        border,
    };
    Ok(kinds.into_iter().zip(Border::ALL.into_iter().cycle()).map(job).collect())
}

/// Every job on every device, beside the CPU's results.
fn compare(devices: &[Device], photograph: &GrayImage, jobs: &[Job], progress: &Progress) -> Result<Comparison> {
    let Some(cpu) = devices.iter().find(|d| d.caps().backend == "cpu") else { return Err(Failure::defect("the CPU backend is missing")) };
    let reference = filtered(cpu, photograph, jobs, progress)?;
    let edges = jobs.iter().position(|j| j.kind == EDGES).map_or_else(Vec::new, |k| reference[k].clone());
    let rows = jobs.iter().map(|j| vec![j.name.clone()]).collect();
    let mut found = Comparison { rows, differing: Vec::new(), not_run: Vec::new(), edges };
    for d in devices {
        let name = device::label(d.caps());
        progress.say(format!("filtering on {name}"));
        let results = match filtered(d, photograph, jobs, progress) {
            Ok(r) => r,
            Err(Failure::Library(e @ (Error::NotStrict { .. } | Error::Unsupported { .. }))) => {
                found.rows.iter_mut().for_each(|row| row.push("not run".to_owned()));
                found.not_run.push(e);
                continue;
            }
            Err(e) => return Err(e),
        };
        for ((row, got), want) in found.rows.iter_mut().zip(&results).zip(&reference) {
            let count = got.iter().zip(want).filter(|(a, b)| a != b).count();
            if count > 0 {
                found.differing.push(format!("{} on {name}", row[0]));
            }
            row.push(if count == 0 { "equal".to_owned() } else { format!("{count} bytes differ") });
        }
    }
    Ok(found)
}

fn filtered(device: &Device, photograph: &GrayImage, jobs: &[Job], progress: &Progress) -> Result<Vec<Vec<u8>>> {
    let input = Image::new(device.upload(photograph.as_raw())?, photograph.width(), photograph.height(), 1)?;
    let mut all = Vec::new();
    for job in jobs {
        all.push(device.filter(&input, job.kind.clone(), job.border)?.buffer().read_blocking()?);
        progress.advance(1);
    }
    Ok(all)
}

/// Concludes the comparison of so many devices, the CPU among them.
fn conclusion(what: &str, devices: usize, differing: &[String]) -> Result<String> {
    match (differing, devices) {
        ([], 1) => Ok(format!("{what}: only the CPU could run, so there was nothing to compare it with.")),
        ([], n) => Ok(format!("{what}: the same bytes on {n} devices.")),
        (all, _) => Err(Failure::failed(
            format!("{what}: the bytes differ from the CPU's: {}", all.join("; ")),
            "update that device's driver; `isowarp validate --full --pattern filter` says where they differ",
        )),
    }
}

/// Writes the picture into this folder, or where that fails into the one for temporary files; returns its absolute path.
fn write(picture: &GrayImage, folder: &Path) -> Result<PathBuf> {
    let (here, elsewhere) = (folder.join(WRITTEN), std::env::temp_dir().join(WRITTEN));
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).map_err(|e| Failure::defect(format!("the photograph's file: {e}")))?;
    let whole = |path: &Path| Output::new(path)?.write(|to| to.write_all(file.get_ref()));
    let path = match whole(&here) {
        Ok(()) => here,
        Err(_) => whole(&elsewhere).map(|()| elsewhere)?,
    };
    Ok(path.canonicalize().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_photograph_is_the_same_on_every_device_of_this_machine() {
        let (devices, _) = device::all(None).unwrap_or_else(|e| panic!("{e}"));
        let photograph = ::image::load_from_memory(PHOTOGRAPH).expect("a picture").into_luma8();
        let jobs = jobs().unwrap_or_else(|e| panic!("{e}"));
        let found = compare(&devices, &photograph, &jobs, &Progress::new("", 0)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found.differing, [""; 0]);
        assert_eq!(found.edges.len(), photograph.as_raw().len());
    }

    #[test]
    fn a_picture_is_written_here_or_where_temporary_files_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let picture = GrayImage::from_pixel(3, 2, ::image::Luma([7]));
        let place = |folder: &Path| write(&picture, folder).unwrap_or_else(|e| panic!("{e}"));
        let path = place(folder.path());
        assert_eq!(path, folder.path().canonicalize().expect("it is there").join(WRITTEN));
        assert_eq!(::image::open(&path).expect("a picture").into_luma8(), picture);
        assert!(place(&folder.path().join("missing")).starts_with(std::env::temp_dir().canonicalize().expect("it is there")));
    }

    #[test]
    fn bytes_that_differ_are_a_failure_and_the_cpu_alone_is_named() {
        let text = |devices, differing: &[&str]| {
            conclusion("P", devices, &differing.iter().map(ToString::to_string).collect::<Vec<_>>()).map_err(|e| e.to_string())
        };
        assert_eq!(text(3, &[]), Ok("P: the same bytes on 3 devices.".to_owned()));
        assert!(text(1, &[]).expect("no failure").contains("only the CPU"));
        assert!(text(2, &["sobel on wgpu"]).expect_err("a failure").contains("sobel on wgpu"));
    }
}
