//! What `isowarp` does with no argument: shows that this machine's devices return the same bits.

use crate::failure::{Failure, Result};
use crate::image::{Picture, decode, upload};
use crate::progress::Progress;
use crate::{device, table, validate};
use isowarp::backend::Backend as _;
use isowarp::patterns::{Border, Filter as _, FilterKind};
use isowarp::{Device, Error};

/// A photograph by Lav Varshney, CC0; see assets/README.md.
const PHOTOGRAPH: &[u8] = include_bytes!("../assets/camera.png");

/// Validates, then filters the photograph on every device and compares the results.
pub(crate) fn main_job() -> Result {
    validate::quick()?;
    println!();
    filter_everywhere()
}

/// Filters with every border rule, so that edges are compared too.
fn filters() -> Result<Vec<(String, FilterKind, Border)>> {
    let kinds = [
        ("gaussian 3x3", FilterKind::gaussian3()),
        ("gaussian 5x5", FilterKind::gaussian5()),
        ("sharpen", FilterKind::sharpen(0.5)?),
        ("sobel", FilterKind::Sobel),
        ("laplacian", FilterKind::laplacian()),
        ("median", FilterKind::Median3),
    ];
    Ok(kinds.into_iter().zip(Border::ALL.into_iter().cycle()).map(|((n, k), b)| (format!("{n}, {b:?}").to_lowercase(), k, b)).collect())
}

/// The same photograph and filters on every device; an error unless all bytes agree.
fn filter_everywhere() -> Result {
    let picture = decode(PHOTOGRAPH, "the bundled photograph")?;
    let progress = Progress::new("opening devices", 0);
    let (devices, _) = device::all(None)?;
    let Some(cpu) = devices.iter().find(|d| d.caps().backend == "cpu") else { return Err(Failure::defect("the CPU backend is missing")) };
    let filters = filters()?;
    progress.say("filtering the photograph");
    progress.expect((devices.len() * filters.len()) as u64);
    let reference = filtered(cpu, &picture, &filters, &progress)?;
    let mut rows: Vec<Vec<String>> = filters.iter().map(|f| vec![f.0.clone()]).collect();
    let (mut differing, mut not_run) = (Vec::new(), Vec::new());
    for d in &devices {
        let name = device::label(d.caps());
        progress.say(format!("filtering on {name}"));
        let results = match filtered(d, &picture, &filters, &progress) {
            Ok(r) => r,
            // A device that cannot promise the bits says so, and has none to compare.
            Err(Failure::Library(e @ (Error::NotStrict { .. } | Error::Unsupported { .. }))) => {
                rows.iter_mut().for_each(|row| row.push("not run".to_owned()));
                not_run.push(e);
                continue;
            }
            Err(e) => return Err(e),
        };
        for ((row, got), want) in rows.iter_mut().zip(&results).zip(&reference) {
            let count = got.iter().zip(want).filter(|(a, b)| a != b).count();
            if count > 0 {
                differing.push(format!("{} on {name}", row[0]));
            }
            row.push(if count == 0 { "equal".to_owned() } else { format!("{count} bytes differ") });
        }
    }
    drop(progress);
    let names: Vec<String> = devices.iter().map(|d| device::label(d.caps())).collect();
    let header: Vec<&str> = ["filter, border"].into_iter().chain(names.iter().map(String::as_str)).collect();
    println!("{}", table::table(&header, &[], &rows));
    let compared = devices.len() - not_run.len();
    for e in not_run {
        println!("{}", Failure::from(e).to_string().replacen("error: ", "not run: ", 1));
    }
    conclude(&picture, compared, filters.len(), &differing)
}

fn filtered(device: &Device, picture: &Picture, filters: &[(String, FilterKind, Border)], progress: &Progress) -> Result<Vec<Vec<u8>>> {
    let input = upload(device, picture)?;
    let mut all = Vec::new();
    for (_, kind, border) in filters {
        all.push(device.filter(&input, kind.clone(), *border)?.buffer().read_blocking()?);
        progress.advance(1);
    }
    Ok(all)
}

fn conclude(picture: &Picture, devices: usize, filters: usize, differing: &[String]) -> Result {
    let what = format!("the photograph ({}x{}) through {filters} filters", picture.width, picture.height);
    match (differing, devices) {
        ([], 1) => println!("{what}: only the CPU backend could run, so there was nothing to compare it with"),
        ([], n) => println!("{what}: the outputs of {n} devices are equal, byte for byte"),
        (all, _) => {
            let message = format!("{what}: outputs differ from the CPU's: {}", all.join("; "));
            return Err(Failure::failed(
                message,
                "update that device's driver; `isowarp validate --full --pattern filter` says where they differ",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_photograph_is_the_same_on_every_device_of_this_machine() {
        super::filter_everywhere().unwrap_or_else(|e| panic!("{e}"));
    }
}
