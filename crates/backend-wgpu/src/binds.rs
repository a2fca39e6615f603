//! Bind groups, made once per set of windows and kept by recency.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::lifetime::Held;
use crate::pipeline::Layout;
use arrayvec::ArrayVec;
use isowarp_core::error::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

/// Most storage buffers that one kernel binds.
pub(crate) const MAX_BINDINGS: usize = 16;
/// Bind groups kept; a loop over hundreds of buffers and dozens of patterns still hits.
const CAPACITY: usize = 1024;

/// One argument of a dispatch: a window of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// The memory.
    pub buffer: &'a Buffer,
    /// First byte; a multiple of the adapter's offset alignment.
    pub offset_bytes: u64,
    /// Bytes; rounded up to a multiple of four.
    pub size_bytes: u64,
}

#[derive(PartialEq, Eq, Hash, Clone, Debug)]
struct Key {
    layout: u32,
    windows: ArrayVec<(u64, u64, u64), MAX_BINDINGS>,
}

#[derive(Debug)]
struct Entry {
    group: Arc<Held<wgpu::BindGroup>>,
    used: u64,
}

/// The cache. A group keeps its buffers alive, so the pool has those forgotten whose buffers it gives up.
#[derive(Debug, Default)]
pub(crate) struct BindGroups {
    entries: HashMap<Key, Entry>,
    clock: u64,
}

impl BindGroups {
    /// The bind group of these windows.
    pub(crate) fn get(&mut self, context: &Context, layout: &Layout, bindings: &[Binding<'_>]) -> Result<Arc<Held<wgpu::BindGroup>>> {
        let windows = bindings.iter().map(|b| (b.buffer.id(), b.offset_bytes, length(b))).collect();
        let key = Key { layout: layout.id, windows };
        self.clock += 1;
        if self.entries.len() >= CAPACITY && !self.entries.contains_key(&key) {
            self.evict();
        }
        let entry = match self.entries.entry(key) {
            Slot::Occupied(slot) => slot.into_mut(),
            Slot::Vacant(slot) => slot.insert(Entry { group: create(context, layout, bindings)?, used: 0 }),
        };
        entry.used = self.clock;
        Ok(Arc::clone(&entry.group))
    }

    /// Takes out the groups of a buffer; they go when the caller lets them.
    #[must_use]
    pub(crate) fn forget(&mut self, buffer: u64) -> Vec<Arc<Held<wgpu::BindGroup>>> {
        let of_it = |key: &Key, _: &mut Entry| key.windows.iter().any(|window| window.0 == buffer);
        self.entries.extract_if(of_it).map(|(_, entry)| entry.group).collect()
    }

    /// Drops the older half, so that the cost of looking for the oldest is spread over many insertions.
    fn evict(&mut self) {
        let mut ages: Vec<u64> = self.entries.values().map(|e| e.used).collect();
        let middle = ages.len() / 2;
        let (_, &mut median, _) = ages.select_nth_unstable(middle);
        self.entries.retain(|_, e| e.used > median);
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

fn length(binding: &Binding<'_>) -> u64 {
    binding.size_bytes.next_multiple_of(4).max(4)
}

fn create(context: &Context, layout: &Layout, bindings: &[Binding<'_>]) -> Result<Arc<Held<wgpu::BindGroup>>> {
    let entries: ArrayVec<wgpu::BindGroupEntry<'_>, MAX_BINDINGS> = bindings
        .iter()
        .zip(0..)
        .map(|(b, binding)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: b.buffer.as_wgpu(),
                offset: b.offset_bytes,
                size: std::num::NonZeroU64::new(length(b)),
            }),
        })
        .collect();
    let group = context.guarded("create_bind_group", 0, || {
        context.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout.handle, entries: &entries })
    })?;
    Ok(Arc::new(Held::new(group)))
}
