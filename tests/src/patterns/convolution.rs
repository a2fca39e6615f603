//! P12 convolutions: shapes at the edges of tiles and blocks, channels, groups, strides, borders, transposes, one to three axes, awkward numbers.

use super::input;
use crate::case::{Case, Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element};
use isowarp::patterns::product::Factor;
use isowarp::patterns::{Grid, ProductOrder};
use isowarp::prelude::*;

/// An image and the filters that it is convolved by.
#[derive(Clone, Copy)]
struct Layer {
    batch: u64,
    channels: u64,
    image: &'static [u64],
    filters: u64,
    groups: u64,
    taps: &'static [u64],
}

impl Layer {
    const fn plain(image: &'static [u64], taps: &'static [u64]) -> Self {
        Self { batch: 1, channels: 1, image, filters: 1, groups: 1, taps }
    }

    fn name(&self) -> String {
        let list = |of: &[u64]| of.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let Self { batch, channels, filters, groups, .. } = self;
        format!("{batch}x{channels}x{}/{filters}g{groups}x{}", list(self.image), list(self.taps))
    }

    fn operands<B: Target, T: Element>(&self, d: &B, fill: Fill) -> Result<(Buffer<B, T>, Buffer<B, T>)> {
        let [points, taps] = [self.image, self.taps].map(|of| of.iter().product::<u64>());
        let image = input::<B, T>(d, fill, self.batch * self.channels * points, "image")?;
        Ok((image, input::<B, T>(d, fill, self.filters * (self.channels / self.groups) * taps, "filter")?))
    }

    fn image<I>(&self, x: I) -> Grid<I> {
        grid(x, self.image).channels(self.channels).batch(self.batch)
    }

    fn filter<I>(&self, x: I) -> Grid<I> {
        grid(x, self.taps).channels(self.channels / self.groups).batch(self.filters)
    }
}

const LAYERS: [Layer; 9] = [
    Layer::plain(&[1], &[1]),
    Layer::plain(&[1000], &[7]),
    Layer::plain(&[40, 70], &[3, 3]),
    Layer::plain(&[64, 300], &[5, 9]),
    Layer::plain(&[50, 40], &[33, 33]),
    Layer::plain(&[9, 10, 11], &[3, 2, 3]),
    // The first layers of LeNet-5, and one whose sums have several blocks.
    Layer { batch: 2, channels: 1, image: &[32, 32], filters: 6, groups: 1, taps: &[5, 5] },
    Layer { batch: 2, channels: 6, image: &[14, 14], filters: 16, groups: 1, taps: &[5, 5] },
    Layer { batch: 1, channels: 70, image: &[12, 13], filters: 20, groups: 1, taps: &[3, 3] },
];

/// A layer as it is.
fn layer_of<'a, B: Target, T: Element<Reg: Factor>>(c: &'a mut Cases<B>, kind: &str, fill: Fill, layer: Layer) -> &'a mut Case<B> {
    let case = c.add(format!("convolve/{kind}/{}/{}/{}", T::DTYPE, fill.name(), layer.name()), move |d| {
        let (image, filter) = layer.operands::<B, T>(d, fill)?;
        d.convolve(layer.image(&image), layer.filter(&filter)).groups(layer.groups).run()
    });
    if T::DTYPE.size_bytes() == 8 { case.needs(&[T::DTYPE]) } else { case }
}

fn plain<B: Target, T: Element<Reg: Factor>>(c: &mut Cases<B>, fill: Fill, layer: Layer, quick: bool) {
    layer_of::<B, T>(c, "plain", fill, layer).quick = quick;
}

fn plain_of_groups<B: Target, T: Element<Reg: Factor>>(c: &mut Cases<B>, fill: Fill, layer: Layer, quick: bool) {
    layer_of::<B, T>(c, "groups", fill, layer).quick = quick;
}

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (k, layer) in LAYERS.into_iter().enumerate() {
        plain::<B, f32>(c, Fill::Plain, layer, k != 4);
        plain::<B, i32>(c, Fill::Bits, layer, k == 2);
        plain::<B, f64>(c, Fill::Plain, layer, k == 3);
    }
    let small = Layer { batch: 2, channels: 2, image: &[9, 13], filters: 3, groups: 1, taps: &[3, 4] };
    for fill in Fill::ALL {
        plain::<B, f32>(c, fill, small, fill == Fill::Bits);
        plain::<B, f32>(c, fill, Layer::plain(&[20, 140], &[3, 5]), fill == Fill::Bits);
    }
    // Planes whose sums have several blocks, which end in a row of taps or with one.
    for (k, layer) in [Layer::plain(&[60, 110], &[33, 33]), Layer::plain(&[45, 200], &[24, 22]), Layer::plain(&[40, 130], &[20, 32])]
        .into_iter()
        .enumerate()
    {
        plain::<B, f32>(c, Fill::Plain, layer, true);
        plain::<B, f64>(c, Fill::Plain, layer, k == 0);
        plain::<B, i32>(c, Fill::Bits, layer, false);
    }
    plain::<B, f16>(c, Fill::Bits, small, true);
    plain::<B, i8>(c, Fill::Bits, small, false);
    plain::<B, u8>(c, Fill::Bits, small, true);
    plain::<B, u16>(c, Fill::Bits, small, false);
    plain::<B, u32>(c, Fill::Bits, small, false);
    borders(c);
    lines::<B, f32>(c);
    lines::<B, f64>(c);
    long_lines(c);
    slices(c);
    modified(c);
    channels(c);
    transposes(c);
    epilogues(c);
    composed(c);
}

fn borders<B: Target>(c: &mut Cases<B>) {
    let layers = [
        Layer::plain(&[17], &[6]),
        Layer::plain(&[11, 70], &[5, 3]),
        Layer::plain(&[3, 5], &[9, 7]),
        Layer { batch: 2, channels: 4, image: &[6, 7], filters: 4, groups: 2, taps: &[3, 3] },
        Layer::plain(&[4, 5, 6], &[3, 3, 3]),
    ];
    for (k, layer) in layers.into_iter().enumerate() {
        for border in Border::ALL {
            c.add(format!("convolve/border/{border:?}/{}", layer.name()), move |d| {
                let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
                let call = || d.convolve(layer.image(&image), layer.filter(&filter)).groups(layer.groups).border(border);
                let far = layer.taps.iter().map(|&taps| taps + 3).collect::<Vec<_>>();
                Ok((call().same().run()?, call().padding(&far).run()?))
            })
            .quick &= k == 1 || border == Border::Zero;
        }
    }
}

/// Lines by a filter or two, whose windows go over their ends. The fuzzer found other results of f64 in the last windows of mirrored ones through NVIDIA's Vulkan,
/// from a text that read windows one element at a time and was not kept.
fn lines<B: Target, T: Element<Reg: Factor>>(c: &mut Cases<B>) {
    for border in Border::ALL {
        for (taps, stride, padding) in [(8, 2, 3), (7, 1, 3), (12, 3, 7), (37, 2, 20)] {
            let case = c.add(format!("convolve/lines/{}/{border:?}/{taps}s{stride}p{padding}", T::DTYPE), move |d| {
                let image = input::<B, T>(d, Fill::Plain, 3 * 81, "image")?;
                let filters = input::<B, T>(d, Fill::Plain, 2 * taps, "filter")?;
                let of = |count: u64| {
                    let filters = filters.slice(..count * taps)?;
                    let (image, filters) = (grid(&image, &[81]).batch(3), grid(&filters, &[taps]).batch(count));
                    d.convolve(image, filters).border(border).stride(&[stride]).padding(&[padding]).run()
                };
                Ok((of(1)?, of(2)?))
            });
            let case = if T::DTYPE.size_bytes() == 8 { case.needs(&[T::DTYPE]) } else { case };
            case.quick &= taps == 8;
        }
    }
}

/// Lines long enough for a kernel of their own, and batches of shorter ones, which are the rows of a plane: taps that a tile has room for and one more, ends
/// of rows and tiles, operators and results of other types.
fn long_lines<B: Target>(c: &mut Cases<B>) {
    let of = |batch, groups, image, taps| Layer { batch, channels: groups, image, filters: groups, groups, taps };
    let layers = [
        of(1, 1, &[1026], &[3]),
        of(1, 1, &[4112], &[17]),
        of(1, 1, &[2050], &[34]),
        of(2, 1, &[3000], &[129]),
        of(1, 1, &[2500], &[384]),
        of(1, 1, &[2500], &[385]),
        of(2, 3, &[1501], &[20]),
        of(7, 1, &[203], &[9]),
        of(3, 1, &[203], &[9]),
    ];
    for (k, layer) in layers.into_iter().enumerate() {
        for fill in Fill::ALL {
            plain_of_groups::<B, f32>(c, fill, layer, fill == Fill::Bits && k == 1);
        }
        plain_of_groups::<B, f64>(c, Fill::Plain, layer, k == 4);
        plain_of_groups::<B, i32>(c, Fill::Bits, layer, false);
        plain_of_groups::<B, u8>(c, Fill::Bits, layer, k == 6);
    }
    for layer in [layers[1], layers[3], layers[7]] {
        for border in Border::ALL {
            c.add(format!("convolve/long_lines/{border:?}/{}", layer.name()), move |d| {
                let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
                let call = || d.convolve(layer.image(image.map(|x| x * 0.5)), layer.filter(filter.reversed())).border(border);
                let far = layer.image[0] + 37;
                let odd = call().padding_by(&[layer.taps[0] + 2], &[far]);
                Ok((call().same().run()?, odd.epilogue(index(), |y, i| (y + 1.0, i.store_as::<u8>())).run()?))
            })
            .quick &= border == Border::Mirror;
        }
    }
}

/// Volumes and images of several channels by few filters, whose sums go over slices: borders along each axis, ends of blocks within slices and between them,
/// with as many tiles and with fewer, as many filters as the kernel takes and one more.
fn slices<B: Target>(c: &mut Cases<B>) {
    let of = |batch, groups, [inputs, outputs]: [u64; 2], image, taps| Layer {
        batch,
        channels: groups * inputs,
        image,
        filters: groups * outputs,
        groups,
        taps,
    };
    let layers = [
        of(1, 1, [1, 1], &[6, 10, 70], &[3, 3, 3]),
        of(2, 2, [3, 2], &[5, 9, 75], &[2, 4, 5]),
        of(2, 1, [3, 8], &[9, 80], &[3, 7]),
        of(2, 1, [3, 9], &[9, 80], &[3, 7]),
        // Blocks end in a row of taps, and with one.
        of(1, 1, [70, 2], &[8, 70], &[3, 3]),
        of(1, 1, [40, 1], &[20, 140], &[4, 8]),
        of(1, 1, [1, 1], &[6, 40, 100], &[5, 12, 33]),
        // Terms that are more than an adapter's loops have turns.
        of(1, 1, [600, 1], &[4, 64], &[1, 1]),
        of(1, 1, [428, 1], &[4, 66], &[1, 3]),
        of(1, 1, [2048, 1], &[4, 64], &[1, 1]),
        of(3, 1, [5, 2], &[1200], &[9]),
        of(2, 1, [4, 16], &[9, 80], &[3, 5]),
        of(2, 1, [4, 17], &[9, 80], &[3, 5]),
        of(3, 1, [5, 9], &[9, 80], &[3, 5]),
        // Blocks end in a row of taps, and with one, and there is a tile to each slice.
        of(36, 1, [70, 2], &[6, 66], &[3, 3]),
        of(40, 1, [40, 1], &[7, 71], &[4, 8]),
        of(2, 1, [1, 1], &[6, 40, 100], &[5, 12, 33]),
    ];
    for (k, layer) in layers.into_iter().enumerate() {
        for fill in Fill::ALL {
            plain_of_groups::<B, f32>(c, fill, layer, fill == Fill::Bits && k < 2);
        }
        plain_of_groups::<B, f64>(c, Fill::Plain, layer, k == 5);
        plain_of_groups::<B, i32>(c, Fill::Bits, layer, false);
    }
    for layer in [layers[0], layers[1], layers[5]] {
        for border in Border::ALL {
            c.add(format!("convolve/slices/{border:?}/{}", layer.name()), move |d| {
                let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
                let call = || d.convolve(layer.image(&image), layer.filter(filter.reversed())).groups(layer.groups).border(border);
                let far = layer.image.iter().map(|n| n.min(&9) + 1).collect::<Vec<_>>();
                let odd = call().padding_by(layer.taps, &far).flipped().order(ProductOrder::Chain);
                Ok((call().same().run()?, odd.epilogue(index(), |y, i| (y + 1.0, i.store_as::<u8>())).run()?))
            })
            .quick &= border == Border::Wrap;
        }
    }
}

/// Strides, dilations, groups, flips, the order of one chain, views and operators as operands.
fn modified<B: Target>(c: &mut Cases<B>) {
    let image = Layer { batch: 2, channels: 6, image: &[20, 23], filters: 9, groups: 3, taps: &[3, 4] };
    for layer in [Layer::plain(&[40, 150], &[5, 4]), image] {
        let name = layer.name();
        for (stride, dilation) in [([2, 1], [1, 1]), ([1, 3], [2, 1]), ([3, 2], [2, 3])] {
            let [a, b] = [stride, dilation].map(|of| format!("{}x{}", of[0], of[1]));
            c.add(format!("convolve/stride_{a}/dilation_{b}/{name}"), move |d| {
                let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
                let call = d.convolve(layer.image(&image), layer.filter(&filter)).groups(layer.groups);
                call.stride(&stride).dilation(&dilation).padding_by(&[1, 0], &[0, 2]).run()
            });
        }
        c.add(format!("convolve/flipped/{name}"), move |d| {
            let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            d.convolve(layer.image(&image), layer.filter(&filter)).groups(layer.groups).flipped().same().run()
        });
        c.add(format!("convolve/fused/{name}"), move |d| {
            let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            let operands = (layer.image(image.map(|x| x.abs().sqrt())), layer.filter(filter.reversed()));
            d.convolve(operands.0, operands.1).groups(layer.groups).padding(&[2, 1]).run()
        });
        c.add(format!("convolve/of_indices/{name}"), move |d| {
            let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            let numbers = (&image, index()).map(|(x, i)| x + (i & 7u32).cast::<f32>());
            d.convolve(layer.image(numbers), layer.filter(&filter)).groups(layer.groups).run()
        });
    }
    let layer = LAYERS[8];
    c.add("convolve/chain", move |d| {
        let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
        d.convolve(layer.image(&image), layer.filter(&filter)).order(ProductOrder::Chain).run()
    });
    c.add("convolve/chain/plane", |d| {
        let layer = LAYERS[4];
        let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
        d.convolve(layer.image(&image), layer.filter(&filter)).order(ProductOrder::Chain).run()
    });
    c.add("convolve/empty", |d| {
        let (image, filter) = (d.buffer::<f32>(0)?, input::<B, f32>(d, Fill::Plain, 12, "filter")?);
        let none = d.convolve(grid(&image, &[5, 6]).batch(0), grid(&filter, &[3, 4])).run()?;
        let x = input::<B, f32>(d, Fill::Plain, 30, "image")?;
        Ok((none, d.convolve(grid(&x, &[5, 6]), grid(&image, &[3, 4]).batch(0)).run()?))
    });
}

/// Many filters of several channels: steps along one to three axes, groups, sums of several blocks, operators that are not zero at zero.
fn channels<B: Target>(c: &mut Cases<B>) {
    let layer = |batch, channels, image, filters, groups, taps| Layer { batch, channels, image, filters, groups, taps };
    let cases: [(Layer, &[u64], &[u64], &[u64]); 6] = [
        (layer(3, 5, &[23, 19], 21, 1, &[3, 4]), &[2, 1], &[1, 2], &[1, 3]),
        (layer(2, 3, &[30, 33], 12, 1, &[7, 7]), &[2, 2], &[1, 1], &[3, 3]),
        (layer(2, 4, &[7, 6, 9], 10, 1, &[3, 2, 3]), &[1, 2, 1], &[1, 1, 2], &[1, 0, 2]),
        (layer(5, 9, &[301], 17, 1, &[9]), &[1], &[1], &[4]),
        (layer(2, 8, &[12, 13], 140, 2, &[1, 1]), &[1, 1], &[1, 1], &[0, 0]),
        // Enough tiles that sums of two blocks are not parted.
        (layer(1, 97 * 57, &[4, 4], 97 * 9, 97, &[3, 3]), &[1, 1], &[1, 1], &[0, 0]),
    ];
    for (layer, stride, dilation, padding) in cases {
        let name = layer.name();
        c.add(format!("convolve/channels/{name}"), move |d| {
            let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            let call = d.convolve(layer.image(&image), layer.filter(&filter)).groups(layer.groups);
            call.stride(stride).dilation(dilation).padding(padding).run()
        });
    }
    let of = layer(2, 6, &[20, 23], 20, 1, &[3, 4]);
    for fill in Fill::ALL {
        plain::<B, f32>(c, fill, of, fill == Fill::Bits);
    }
    c.add("convolve/channels/fused", move |d| {
        let (image, filter) = of.operands::<B, f32>(d, Fill::Plain)?;
        let more = d.convolve(of.image(image.map(|x| x + 1.0)), of.filter(filter.reversed())).padding(&[2, 1]).run()?;
        Ok((more, d.convolve(of.image(image.reversed()), of.filter(&filter)).same().flipped().run()?))
    });
    c.add("convolve/channels/chain", move |d| {
        let (image, filter) = of.operands::<B, f32>(d, Fill::Plain)?;
        let call = || d.convolve(of.image(&image), of.filter(&filter)).same();
        Ok((call().order(ProductOrder::Chain).run()?, call().border(Border::Clamp).run()?))
    });
    c.add("convolve/channels/transposed", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 2 * 4 * 15 * 16, "image")?;
        let filter = input::<B, f32>(d, Fill::Plain, 4 * 13 * 4 * 3, "filter")?;
        d.convolve(grid(&x, &[15, 16]).channels(4).batch(2), grid(&filter, &[4, 3]).channels(13).batch(4))
            .padding(&[1, 2])
            .transposed()
            .run()
    });
}

/// A layer's transpose, whose filters are the channels of the image and whose channels are those of a filter.
fn spread<'a, B: Target, T: Element<Reg: Factor>>(
    c: &'a mut Cases<B>,
    fill: Fill,
    of: Layer,
    stride: &'static [u64],
    padding: &'static [u64],
) -> &'a mut Case<B> {
    let case = c.add(format!("convolve/spread/{}/{}/{}", T::DTYPE, fill.name(), of.name()), move |d| {
        let (image, filter) = of.operands::<B, T>(d, fill)?;
        let filter = grid(&filter, of.taps).channels(of.filters / of.groups).batch(of.channels);
        d.convolve(of.image(&image), filter).groups(of.groups).stride(stride).padding(padding).transposed().run()
    });
    if T::DTYPE.size_bytes() == 8 { case.needs(&[T::DTYPE]) } else { case }
}

/// Few filters to results of many columns, or long lines: planes with zeros between their elements.
fn spreads<B: Target>(c: &mut Cases<B>) {
    let layer = |batch, channels, image, filters, groups, taps| Layer { batch, channels, image, filters, groups, taps };
    let layers: [(Layer, &[u64], &[u64]); 7] = [
        (layer(1, 1, &[23, 71], 1, 1, &[4, 4]), &[2, 2], &[1, 1]),
        (layer(2, 3, &[5, 33], 2, 1, &[3, 5]), &[3, 2], &[0, 2]),
        (layer(1, 4, &[40, 64], 4, 2, &[2, 2]), &[2, 2], &[0, 0]),
        (layer(1, 2, &[4, 6, 31], 1, 1, &[3, 3, 3]), &[2, 1, 3], &[1, 0, 2]),
        (layer(1, 1, &[9, 90], 8, 1, &[3, 3]), &[1, 1], &[1, 1]),
        (layer(3, 2, &[700], 2, 1, &[5]), &[2], &[1]),
        (layer(70, 1, &[30], 1, 1, &[6]), &[4], &[1]),
    ];
    for (k, (of, stride, padding)) in layers.into_iter().enumerate() {
        for fill in Fill::ALL {
            spread::<B, f32>(c, fill, of, stride, padding).quick = fill == Fill::Bits && k % 2 == 0;
        }
        spread::<B, f64>(c, Fill::Plain, of, stride, padding).quick = k == 1;
        spread::<B, i32>(c, Fill::Bits, of, stride, padding).quick = false;
        spread::<B, u8>(c, Fill::Bits, of, stride, padding).quick = k == 5;
    }
    c.add("convolve/transposed/fused", move |d| {
        let (of, stride, padding) = layers[0];
        let (image, filter) = of.operands::<B, f32>(d, Fill::Plain)?;
        let call = d.convolve(of.image(image.reversed().map(|x| x + 1.0)), of.filter(filter.reversed())).stride(stride).padding(padding);
        let extents = call.clone().transposed().extents()?;
        let to = extents.iter().map(|n| n + 1).collect::<Vec<_>>();
        Ok((call.clone().transposed().run()?, call.transposed_to(&to).flipped().finish(|x| x.max(0.0)).run()?))
    });
}

fn transposes<B: Target>(c: &mut Cases<B>) {
    for (groups, stride, dilation) in [(1, [1, 1], [1, 1]), (1, [2, 3], [1, 2]), (2, [3, 2], [2, 1])] {
        let [a, b] = [stride, dilation].map(|of| format!("{}x{}", of[0], of[1]));
        c.add(format!("convolve/transposed/g{groups}/stride_{a}/dilation_{b}"), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, 2 * 4 * 5 * 6, "image")?;
            let filter = input::<B, f32>(d, Fill::Plain, 4 * 3 * 4 * 3, "filter")?;
            let call = || {
                let call = d.convolve(grid(&x, &[5, 6]).channels(4).batch(2), grid(&filter, &[4, 3]).channels(3).batch(4));
                call.groups(groups).stride(&stride).dilation(&dilation)
            };
            let padded = call().padding(&[2, 1]);
            let larger = padded.clone().transposed();
            let extents = larger.extents()?;
            let to = [extents[0] + stride[0] - 1, extents[1] + stride[1] - 1];
            Ok((call().transposed().run()?, padded.clone().transposed().flipped().run()?, padded.transposed_to(&to).run()?))
        });
    }
    spreads(c);
    c.add("convolve/transposed/signal", |d| {
        let (x, filter) = (input::<B, i16>(d, Fill::Bits, 40, "image")?, input::<B, i16>(d, Fill::Bits, 7, "filter")?);
        d.convolve(grid(&x, &[40]), grid(&filter, &[7])).stride(&[3]).transposed().run()
    });
}

fn epilogues<B: Target>(c: &mut Cases<B>) {
    for layer in [LAYERS[2], LAYERS[3], LAYERS[7]] {
        let name = layer.name();
        c.add(format!("convolve/alpha_beta/{name}"), move |d| {
            let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            let call = || d.convolve(layer.image(&image), layer.filter(&filter));
            let old = call().run()?;
            let scaled = call().alpha(0.7).run()?;
            call().alpha(1.5).add(-0.25, &old).write_to(&old)?;
            Ok((scaled, old))
        });
        c.add(format!("convolve/layer/{name}"), move |d| {
            let (image, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            let bias = input::<B, f32>(d, Fill::Plain, layer.filters, "bias")?;
            let call = d.convolve(layer.image(&image), layer.filter(&filter));
            let extents = call.extents()?;
            let of_filters = bias.broadcast(&[layer.filters, 1, 1], &[layer.batch, layer.filters, extents[0], extents[1]]);
            call.epilogue((of_filters, index()), |y, (bias, i)| ((y + bias).max(0.0).store_as::<f16>(), y.cast::<i32>() + i.cast::<i32>()))
                .run()
        });
    }
    c.add("convolve/narrow_results", |d| {
        let layer = Layer::plain(&[20, 77], &[3, 3]);
        let (image, filter) = layer.operands::<B, u8>(d, Fill::Bits)?;
        d.convolve(layer.image(&image), layer.filter(&filter)).same().finish(|y| (y >> 11).store_as::<u8>()).run()
    });
}

/// Separable filters, and convolutions by transforms.
fn composed<B: Target>(c: &mut Cases<B>) {
    for (size, border) in [([40u64, 71u64], Border::Zero), ([33, 50], Border::Mirror), ([20, 9], Border::Wrap)] {
        c.add(format!("separable/{}x{}/{border:?}", size[0], size[1]), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, 3 * size[0] * size[1], "image")?;
            let (across, down) = (input::<B, f32>(d, Fill::Plain, 9, "across")?, input::<B, f32>(d, Fill::Plain, 4, "down")?);
            let call = || d.separable(grid(&x, &size).channels(3), grid(&across, &[9]), grid(&down, &[4])).border(border);
            Ok((call().same().run()?, call().padding(&[3, 5]).flipped().run()?))
        });
    }
    for (image, taps) in [(&[100u64][..], &[31u64][..]), (&[1], &[1]), (&[27, 40], &[6, 9]), (&[6, 7, 8], &[3, 2, 3])] {
        let layer = Layer { batch: 2, channels: 1, image, filters: 1, groups: 1, taps };
        c.add(format!("fft_convolve/f32/{}", layer.name()), move |d| {
            let (x, filter) = layer.operands::<B, f32>(d, Fill::Plain)?;
            let call = || d.fft_convolve(layer.image(&x), layer.filter(&filter));
            Ok((call().run()?, call().same().run()?, call().valid().run()?))
        });
        c.add(format!("fft_convolve/f64/{}", layer.name()), move |d| {
            let (x, filter) = layer.operands::<B, f64>(d, Fill::Plain)?;
            d.fft_convolve(layer.image(x.map(|x| x * 2.0)), layer.filter(&filter)).run()
        })
        .needs(&[DType::F64]);
    }
}
