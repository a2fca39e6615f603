//! Arrays of more elements than 32 bits number, on the devices that can hold them.

use crate::common::gpus;
use isowarp::Error;
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::prelude::*;

const BEYOND: u64 = 77;
const N: u64 = (1 << 32) + BEYOND;

/// Element `i` is the lowest byte of `i + i / 2^20`, so every 2^20 elements hold every byte 4096 times, and those beyond 2^32 count up from 0.
const SUM: u64 = 4096 * 4096 * (255 * 256 / 2) + BEYOND * (BEYOND - 1) / 2;

#[test]
fn arrays_may_have_more_elements_than_32_bits_number() {
    let mut ran = Vec::new();
    for d in gpus() {
        let caps = d.caps();
        // The bytes, as many again, and their sums in 64 bits.
        let fits = caps.max_buffer_bytes >= 8 * N && (caps.memory_bytes == 0 || caps.memory_bytes > 10 * N);
        if !fits || !caps.supports(DType::U64) {
            continue;
        }
        ran.push(caps.device.clone());
        let bytes = d.generate(N, index64(), |i| ((i >> 20) + i).cast::<u32>().store_as::<u8>()).unwrap();
        let tail = N - BEYOND - 2;
        let expected: Vec<u8> = [0xfd, 0xfe].into_iter().chain(0..BEYOND as u8).collect();
        assert_eq!(bytes.slice(tail..).unwrap().read_blocking().unwrap(), expected);

        assert_eq!(d.reduce(bytes.map(Expr::cast::<u64>), Sum).run().unwrap().read_blocking().unwrap(), SUM);
        let beyond = d.reduce((&bytes, index64()).map(|(_, i)| i.ge(1u64 << 32).cast::<u32>()), Sum).run().unwrap();
        assert_eq!(u64::from(beyond.read_blocking().unwrap()), BEYOND);

        let sums = d.scan(bytes.map(Expr::cast::<u64>), Sum).run().unwrap();
        let last: Vec<u64> = sums.slice(N - 2..).unwrap().read_blocking().unwrap();
        assert_eq!(last, [SUM - (BEYOND - 1), SUM]);

        let short = d.generate(N, index(), Expr::store_as::<u8>);
        assert!(matches!(short, Err(Error::TooLarge { .. })), "{:?}", short.map(|x| x.len()));
        assert!(matches!(d.argmin(&sums), Err(Error::TooLarge { .. })));
    }
    println!("ran on {ran:?}");
}
