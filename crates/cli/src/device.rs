//! Opening devices.

use crate::failure::{Failure, Result};
use isowarp::backend::Backend as _;
use isowarp::caps::{Caps, Numerics};
use isowarp::{Device, Selector};
use std::sync::OnceLock;

/// The backend of the device that the command computes on, once it is open.
static OPENED: OnceLock<&'static str> = OnceLock::new();

/// The device of a `--backend` option.
pub(crate) fn open(backend: &str, numerics: Numerics) -> Result<Device> {
    let selector: Selector = backend.parse()?;
    let device = Device::open(selector)?.with_numerics(numerics);
    OPENED.get_or_init(|| device.caps().backend);
    Ok(device)
}

/// Whether the command computes on the CPU, so that advice does not send there who is there.
pub(crate) fn is_cpu() -> bool {
    OPENED.get() == Some(&"cpu")
}

/// Whether a device is open: what fails before is the host's.
pub(crate) fn is_open() -> bool {
    OPENED.get().is_some()
}

/// Fails for a name that is no backend, before anything is read or computed.
pub(crate) fn check_name(backend: &str) -> Result {
    backend.parse::<Selector>().map(drop).map_err(Failure::from)
}

/// The devices of this machine that could be opened, and why others could not. With `only`, those of one backend.
pub(crate) fn all(only: Option<&str>) -> Result<(Vec<Device>, Vec<isowarp::Error>)> {
    let mut opened = Vec::new();
    let mut refused = Vec::new();
    if let Some(name) = only {
        check_name(name)?;
    }
    let only = only.filter(|n| !n.eq_ignore_ascii_case("auto"));
    for device in Device::all() {
        match device {
            Ok(d) if only.is_none_or(|n| n.eq_ignore_ascii_case(d.caps().backend)) => opened.push(d),
            Ok(_) => {}
            Err(e) => refused.push(e),
        }
    }
    match only {
        Some(name) if opened.is_empty() => {
            let reason = Device::open(name.parse()?).err();
            Err(reason.map_or_else(
                || {
                    Failure::failed(
                        format!("no device of backend `{name}`"),
                        "`isowarp devices` lists what is there, and why others are not",
                    )
                },
                Failure::from,
            ))
        }
        _ => Ok((opened, refused)),
    }
}

/// A device's name with its backend, for tables.
pub(crate) fn label(caps: &Caps) -> String {
    format!("{} ({})", caps.backend, caps.device)
}
