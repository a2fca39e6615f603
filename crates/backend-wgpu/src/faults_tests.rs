//! A panic of the driver at any call, from opening a device to letting it go, is a typed error and stays inside.

use crate::{Buffer, Wgpu};
use injected::after;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::Memory as _;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{Map as _, Sort as _};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does the work once for each of its driver calls (or some of many), of which that one panics; the work's error is a typed one or there is none.
fn at_every_call<S>(what: &str, step: impl Fn(u32) -> u32, prepare: impl Fn() -> S, work: impl Fn(S) -> Result<()>) -> u32 {
    let mut calls = 0;
    loop {
        let state = prepare();
        after(Some(calls));
        let outcome = catch_unwind(AssertUnwindSafe(|| work(state)));
        let left = after(None);
        let outcome = outcome.unwrap_or_else(|_| panic!("{what}: the panic of driver call {calls} left it"));
        if left > Some(0) {
            assert_eq!(outcome, Ok(()), "{what}, which nothing disturbed");
            return calls;
        }
        // A panic while something is released is no error of the call.
        assert!(
            matches!(outcome, Ok(()) | Err(Error::DeviceLost { .. } | Error::Unavailable { .. })),
            "{what}, where driver call {calls} panicked: {outcome:?}"
        );
        calls = step(calls);
    }
}

fn opened() -> Wgpu {
    Wgpu::new_blocking().expect("an adapter")
}

#[test]
fn a_panic_while_a_device_is_opened_is_a_typed_error() {
    let calls = at_every_call("opening", |n| n * 2 + 1, || (), |()| Wgpu::new_blocking().map(drop));
    // An open device leaves verdicts and its instance to the next one of the process: fewer calls then.
    assert!(calls > 3, "{calls}");
}

#[test]
fn a_panic_in_any_call_is_a_lost_device() {
    let next = |n| n + 1;
    let with_buffer = || {
        let device = opened();
        let x = device.upload(&[3u32, 1, 2]).expect("upload");
        (device, x)
    };
    at_every_call("upload", next, opened, |device| device.upload(&[1u32]).map(drop));
    at_every_call("map and read", next, with_buffer, |(device, x)| device.map(&x, |x| x + 1)?.read_blocking().map(drop));
    at_every_call("sort and wait", next, with_buffer, |(device, x)| {
        device.sort(&x).run()?;
        device.synchronize()
    });
    at_every_call("time", next, with_buffer, |(device, x)| device.time(&mut || device.copy_bytes(x.raw(), 0, x.raw(), 4, 4)).map(drop));
    at_every_call("read later", next, with_buffer, |(device, x)| pollster::block_on(device.read_bytes(x.raw(), 0, 12)).map(drop));
}

#[test]
fn a_panic_while_something_is_released_stays_inside() {
    let used = || {
        let device = opened();
        let x: Vec<Buffer> = (1..4).map(|n| device.allocate_bytes(n << 20).expect("memory")).collect();
        device.copy_bytes(&x[0], 0, &x[1], 0, 4096).expect("copied");
        (device, ManuallyDrop::new(x))
    };
    at_every_call(
        "trim",
        |n| n + 1,
        used,
        |(device, x)| {
            drop(ManuallyDrop::into_inner(x));
            device.trim();
            Ok(())
        },
    );
    at_every_call(
        "close",
        |n| n + 1,
        used,
        |(device, x)| {
            drop(device);
            drop(ManuallyDrop::into_inner(x));
            Ok(())
        },
    );
}

/// Panics that tests have the driver fail with.
pub(crate) mod injected {
    use std::cell::Cell;

    thread_local! {
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// Lets driver calls of this thread panic from the one after `calls` others on; `None` ends that, and says how many were left.
    pub(crate) fn after(calls: Option<u32>) -> Option<u32> {
        LEFT.replace(calls)
    }

    pub(crate) fn active() -> bool {
        LEFT.get().is_some()
    }

    pub(crate) fn call() {
        LEFT.with(|left| match left.get() {
            Some(0) => panic!("a driver's panic, as tests have it"),
            Some(n) => left.set(Some(n - 1)),
            None => {}
        });
    }
}
