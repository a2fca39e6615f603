//! Uploads to any place: bytes that share a word with others leave those alone, in stream order.

use isowarp_core::backend::Backend;
use isowarp_core::error::Error;
use isowarp_wgpu::{Buffer, Wgpu};
use std::sync::OnceLock;

/// One device for all tests: drivers deadlock where many are closed by many threads at once.
fn device() -> Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter")).clone()
}

/// A buffer of these bytes, and the bytes.
fn filled(device: &Wgpu, len: u64) -> (Buffer, Vec<u8>) {
    let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 11) as u8).collect();
    let buffer = device.allocate_bytes(len).expect("memory");
    device.write_bytes(&buffer, 0, &bytes).expect("upload");
    (buffer, bytes)
}

fn all(device: &Wgpu, buffer: &Buffer, len: u64) -> Vec<u8> {
    device.read_bytes_blocking(buffer, 0, len).expect("read")
}

/// Bytes that are not those of [`filled`].
fn other(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(91) ^ seed).collect()
}

#[test]
fn every_offset_and_length_keeps_its_neighbours() {
    let device = device();
    for size in 29..=32 {
        for offset in 0..12_usize {
            for len in 0..=12_usize {
                let (buffer, mut expected) = filled(&device, size);
                let data = other(len, 0xA5);
                device.write_bytes(&buffer, offset as u64, &data).expect("upload");
                expected[offset..offset + len].copy_from_slice(&data);
                assert_eq!(all(&device, &buffer, size), expected, "{len} bytes at {offset} of {size}");
            }
        }
    }
}

#[test]
fn every_end_of_a_buffer_is_reached() {
    let device = device();
    for size in 1..=13_u64 {
        for len in 1..=size {
            let (buffer, mut expected) = filled(&device, size);
            let data = other(len as usize, 0x3C);
            device.write_bytes(&buffer, size - len, &data).expect("upload");
            expected[(size - len) as usize..].copy_from_slice(&data);
            assert_eq!(all(&device, &buffer, size), expected, "the last {len} bytes of {size}");
        }
    }
}

#[test]
fn the_bytes_of_a_word_are_written_in_the_order_of_the_stream() {
    let device = device();
    let (buffer, mut expected) = filled(&device, 64);
    let (copy, _) = filled(&device, 64);
    for round in 0..200_usize {
        let (offset, len) = (round * 7 % 50, 1 + round * 5 % 14);
        let data = other(len, round as u8);
        device.write_bytes(&buffer, offset as u64, &data).expect("upload");
        expected[offset..offset + len].copy_from_slice(&data);
        if round % 3 == 0 {
            // Commands between the uploads: what comes before them has to be seen, and what comes after must not.
            device.copy_bytes(&buffer, 0, &copy, 0, 64).expect("copy");
            device.write_bytes(&buffer, 1, &[0xEE; 9]).expect("upload");
            device.copy_bytes(&copy, 0, &buffer, 0, 64).expect("copy");
        }
        if round % 17 == 0 {
            device.clear(&buffer, 20, 8).expect("clear");
            expected[20..28].fill(0);
        }
    }
    assert_eq!(all(&device, &buffer, 64), expected);
}

#[test]
fn threads_that_write_into_one_word_do_not_lose_each_others_bytes() {
    let device = device();
    let (buffer, _) = filled(&device, 64);
    // Eight runs of seven bytes: every word but a few has bytes of two threads.
    std::thread::scope(|scope| {
        for thread in 0..8_u8 {
            let (device, buffer) = (&device, &buffer);
            scope.spawn(move || {
                for round in 0..40 {
                    device.write_bytes(buffer, u64::from(thread) * 7, &[(thread * 31) ^ round; 7]).expect("upload");
                }
            });
        }
    });
    let expected: Vec<u8> = (0..8_u8).flat_map(|thread| [(thread * 31) ^ 39; 7]).collect();
    assert_eq!(all(&device, &buffer, 56), expected);
}

#[test]
fn a_loop_of_odd_uploads_allocates_nothing() {
    // Its own: the other tests of this file use the shared device at the same time.
    let device = Wgpu::new_blocking().expect("an adapter");
    let (buffer, _) = filled(&device, 4096);
    let twenty = || {
        for round in 0..20 {
            device.write_bytes(&buffer, 1 + u64::from(round) * 3, &other(1001, round)).expect("upload");
        }
        device.usage().settled()
    };
    let warm = twenty();
    assert_eq!(twenty(), warm, "memory, kernels, bind groups, waits");
}

#[test]
fn an_applications_buffer_that_ends_inside_a_word_says_what_is_out_of_reach() {
    let device = device();
    let own = device.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 11,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let adopted = device.adopt(own).expect("the usages are there");
    assert!(matches!(device.write_bytes(&adopted, 5, &[1; 6]), Err(Error::InvalidArgument { what: "wgpu buffer", .. })));
    assert!(matches!(device.write_bytes(&adopted, 5, &[1; 7]), Err(Error::OutOfRange { .. })));
    device.write_bytes(&adopted, 1, &[7; 6]).expect("whole words hold these");
    let read = device.read_bytes_blocking(&adopted, 0, 8).expect("read");
    assert_eq!(read, [0, 7, 7, 7, 7, 7, 7, 0]);
}
