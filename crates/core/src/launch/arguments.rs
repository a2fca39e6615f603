//! The parameters of the kernels of the library.

use crate::kernel_params;

kernel_params! {
    /// No parameters.
    Nothing("nothing") {}
    /// Parameters of peers.
    PeersParams("peers") {
        /// Elements of a group.
        width: u32,
        /// Kind of result: [`Peers`](crate::patterns::Peers).
        kind: u32,
        /// Elements of a workgroup of 256: whole groups.
        per: u32,
    }
    /// Parameters of exact sums.
    ExactParams("exact") {
        /// Elements of a row; 0 where there is one row alone.
        row: u64,
        /// Groups of a row.
        tiles: u32,
        /// Elements of a group.
        span: u32,
    }
    /// Parameters of products of matrices. Steps are in elements.
    ContractParams("contract") {
        /// Rows of the product.
        rows: u32,
        /// Columns of the product.
        columns: u32,
        /// Terms of a sum.
        terms: u32,
        /// Terms of a block.
        block: u32,
        /// Vectors of four: 1 of A's rows, 2 of B's columns, 4 of the product's columns, 16 of A's columns; 8: blocks go to memory one by one; 32: to the places of the transpose.
        form: u32,
        /// Step from a row of A to the next.
        a_row: u32,
        /// Step from a column of A to the next.
        a_column: u32,
        /// Step from a row of B to the next.
        b_row: u32,
        /// Step from a column of B to the next.
        b_column: u32,
        /// Step from a row of C to the next.
        c_row: u32,
        /// Step from a matrix A to the next.
        a_batch: u64,
        /// Step from a matrix B to the next.
        b_batch: u64,
        /// Step from a matrix C to the next.
        c_batch: u64,
    }
    /// Parameters of an operand that is packed: rows of A or columns of B, in words of ascending k.
    PackParams("pack") {
        /// Rows.
        rows: u32,
        /// Terms of a row.
        terms: u32,
        /// Rows with those of zeros behind the last one.
        padded: u32,
        /// Words of a row, zeros included.
        pitch: u32,
        /// [`Packing`](crate::patterns::product::Packing).
        format: u32,
        /// Whether the operand is B.
        right: u32,
        /// Elements from a row to the next.
        row: u32,
        /// Elements from a term to the next.
        column: u32,
        /// Elements from a matrix to the next.
        batch: u64,
        /// Exponents before the first one of this operand.
        exponents: u32,
        /// 1 where four neighbours in memory are a vector.
        vector: u32,
    }
    /// Parameters of products of packed operands.
    PackedParams("packed") {
        /// Rows of the product.
        rows: u32,
        /// Columns of the product.
        columns: u32,
        /// Words of a packed row.
        pitch: u32,
        /// Packed rows of a matrix A.
        padded_rows: u32,
        /// Packed columns of a matrix B.
        padded_columns: u32,
        /// 1: A is the same for all products of a batch; 2: so is B.
        alike: u32,
        /// Whether four neighbours of the product's columns are a vector.
        vector: u32,
        /// Exponents of all rows of A.
        exponents: u32,
        /// Step from a row of C to the next.
        c_row: u32,
        /// Step from a matrix C to the next.
        c_batch: u64,
        /// Terms of a chain.
        block: u32,
    }
    /// Parameters of convolutions of planes.
    ConvolveParams("convolve") {
        /// Elements of a row of an image.
        image_width: u32,
        /// Rows of an image.
        image_height: u32,
        /// Results of a row, or of a line.
        width: u32,
        /// Rows of results, of a line of 128 results each, one behind the other.
        height: u32,
        /// Taps of a row of a filter, and from bit 16 on its rows.
        taps: u32,
        /// Elements that the first window begins before a row.
        before_x: u32,
        /// Rows that it begins before the first one.
        before_y: u32,
        /// [`Border`](crate::patterns::Border): 0 clamp, 1 zero, 2 mirror, 3 wrap.
        border: u32,
        /// Terms of a block.
        block: u32,
        /// Filters, which planes of results take in turn, all planes of a filter one after the other.
        filters: u32,
        /// Filters of a group.
        outs: u32,
        /// Channels that a filter looks at.
        channels: u32,
        /// Planes of a channel.
        depth: u32,
        /// Planes of a filter's results.
        out_depth: u32,
        /// Planes of a filter's channel.
        taps_z: u32,
        /// Planes that the first window begins before the first one.
        before_z: u32,
        /// Rows of a filter, for WGSL: the upper half of `taps`.
        taps_y: u32,
        /// Whether results are stored in vectors of four, which are whole rows.
        form: u32,
    }
    /// Parameters of convolutions of several channels. Steps of an axis are bytes of a word, from the lowest on: taps, stride, dilation, and elements that the
    /// first window begins before an image.
    LayerParams("layer") {
        /// Elements of an image along its first axis of three.
        depth: u32,
        /// Elements of an image along its second axis.
        height: u32,
        /// Elements of a row of an image.
        width: u32,
        /// Windows along the first axis.
        windows_z: u32,
        /// Windows along the second axis.
        windows_y: u32,
        /// Windows of a row.
        windows_x: u32,
        /// Steps of the first axis.
        steps_z: u32,
        /// Steps of the second axis.
        steps_y: u32,
        /// Steps of rows.
        steps_x: u32,
        /// Channels that a filter looks at.
        channels: u32,
        /// Filters of a group.
        filters: u32,
        /// Groups of channels and of filters.
        channel_groups: u32,
        /// Images.
        images: u32,
        /// Terms of a block.
        block: u32,
        /// Whether results are stored in vectors of four.
        form: u32,
    }
    /// Parameters of levels of transforms.
    FftParams("fft") {
        /// Points that the levels join.
        points: u32,
        /// Points from one line to the next in shared memory.
        pitch: u32,
        /// Lines of a group: a power of two unless they are whole rows.
        columns: u32,
        /// Points in memory from one of a line to the next; 1: whole rows.
        stride: u32,
        /// Points in memory that earlier levels have joined.
        before: u32,
        /// Points in memory that lie side by side along other axes.
        inner: u32,
        /// Lines of all groups.
        subs: u32,
        /// Radices, four bits each, the first one lowest.
        levels: u32,
        /// 1: parts change places when they are read; 2: when they are written, where they are multiplied by the table's first entry.
        swaps: u32,
        /// Whether pairs lie at multiples of their size.
        paired: u32,
    }
    /// Parameters of eliminations. Steps are in elements.
    EliminateParams("eliminate") {
        /// Rows.
        rows: u32,
        /// Columns that are eliminated.
        pivots: u32,
        /// Columns with those of right-hand sides.
        columns: u32,
        /// Elements from row to row where they are eliminated.
        pitch: u32,
        /// 1: pivots are looked for; 2: in the remaining square; 4: right-hand sides are the identity.
        pivoting: u32,
        /// Invocations of a system along rows, and from bit 16 on along columns.
        lanes: u32,
        /// Systems.
        batch: u32,
        /// Step from a row of A to the next.
        a_row: u32,
        /// Step from a column of A to the next.
        a_column: u32,
        /// Step from a row of B to the next.
        b_row: u32,
        /// Step from a column of B to the next.
        b_column: u32,
        /// Step from a matrix A to the next.
        a_batch: u32,
        /// Step from a matrix B to the next.
        b_batch: u32,
    }
    /// Parameters of columns of squares, from their diagonals down.
    PanelParams("panel") {
        /// Rows that are left.
        rows: u32,
        /// Columns.
        width: u32,
        /// Rows and columns of a square.
        side: u32,
        /// Whether pivots are looked for.
        pivoting: u32,
    }
    /// Parameters of Cholesky's factors. Steps are in elements.
    CholeskyParams("cholesky") {
        /// Rows and columns.
        side: u32,
        /// Elements from row to row of the result, whose matrices are squares.
        pitch: u32,
        /// Invocations of a matrix along rows, and from bit 16 on along columns.
        lanes: u32,
        /// Matrices.
        batch: u32,
        /// Rows and columns before these.
        first: u32,
        /// Step from a row of A to the next.
        a_row: u32,
        /// Step from a column of A to the next.
        a_column: u32,
        /// Step from a matrix A to the next.
        a_batch: u32,
    }
    /// Parameters of right-hand sides and a block of a triangle T. Steps are in elements.
    SubstituteParams("substitute") {
        /// Rows and columns of the block.
        side: u32,
        /// Right-hand sides.
        columns: u32,
        /// Systems.
        batch: u32,
        /// 1: backwards; 2: the diagonal is of ones.
        form: u32,
        /// The block's first element.
        t_first: u32,
        /// Step from a row of T to the next.
        t_row: u32,
        /// Step from a column of T to the next.
        t_column: u32,
        /// Step from a matrix T to the next.
        t_batch: u32,
        /// The first right-hand side's first element.
        x_first: u32,
        /// Step from a row of X to the next.
        x_row: u32,
        /// Step from a column of X to the next.
        x_column: u32,
        /// Step from a matrix X to the next.
        x_batch: u32,
    }
    /// Parameters of the update behind a block: C loses A B. B and C are of one array, and A where it is not apart. Steps are in elements.
    TrailParams("trail") {
        /// Rows of C.
        rows: u32,
        /// Columns of C.
        columns: u32,
        /// Columns of A.
        terms: u32,
        /// 1: terms backwards; 2: the lower triangle of C alone.
        form: u32,
        /// The first element of A.
        a_first: u32,
        /// Step from a row of A to the next.
        a_row: u32,
        /// Step from a column of A to the next.
        a_column: u32,
        /// Step from a matrix A to the next, where it is apart.
        a_batch: u32,
        /// The first element of B.
        b_first: u32,
        /// Step from a row of B to the next.
        b_row: u32,
        /// Step from a column of B to the next.
        b_column: u32,
        /// The first element of C.
        c_first: u32,
        /// Step from a row of C to the next.
        c_row: u32,
        /// Step from a column of C to the next.
        c_column: u32,
        /// Step from a matrix of the array to the next.
        x_batch: u32,
    }
    /// Parameters of matrices that go to another place. Steps are in elements.
    ArrangeParams("arrange") {
        /// Rows.
        rows: u32,
        /// Columns.
        columns: u32,
        /// Matrices.
        batch: u32,
        /// Whether elements above the diagonal become zero.
        lower: u32,
        /// Step from a row of A to the next.
        a_row: u32,
        /// Step from a column of A to the next.
        a_column: u32,
        /// Step from a matrix A to the next.
        a_batch: u32,
        /// Step from a row of X to the next.
        x_row: u32,
        /// Step from a column of X to the next.
        x_column: u32,
        /// Step from a matrix X to the next.
        x_batch: u32,
    }
    /// Parameters of rows of squares that change places beside a panel.
    SwapRowsParams("swap_rows") {
        /// Rows and columns of a square.
        side: u32,
        /// The panel's first row and column.
        first: u32,
        /// Columns of the panel.
        width: u32,
        /// Squares.
        batch: u32,
    }
    /// Parameters of diagonals.
    DiagonalParams("diagonal") {
        /// Elements.
        side: u32,
        /// Step from an element to the next.
        a_step: u32,
        /// Step from a diagonal to the next.
        a_batch: u32,
    }
    /// Parameters of a gather.
    GatherParams("gather") {
        /// Whether an index that names nothing leaves the output as it is.
        keep: u32,
        /// Elements of the values.
        values: u64,
    }
    /// Parameters of scatters.
    ScatterParams("scatter") {
        /// Elements of the output.
        targets: u64,
        /// [`ScatterOp`](crate::patterns::ScatterOp); 6 more for minima and maxima of signed integers.
        op: u32,
        /// Whether the values are positions.
        positions: u32,
    }
    /// Parameters of strided copies: lengths of axes.
    LayoutParams("layout") {
        /// The axis with the largest steps in the destination.
        n0: u64,
        /// The next.
        n1: u64,
        /// The next.
        n2: u64,
        /// The next.
        n3: u64,
        /// The next.
        n4: u64,
        /// The next.
        n5: u64,
        /// Axes.
        rank: u32,
    }
    /// Parameters of planes that are transposed.
    TransposeParams("transpose") {
        /// Rows of the source.
        rows: u64,
        /// Columns of the product.
        columns: u64,
        /// The fastest axis of the batch.
        n0: u32,
        /// The next.
        n1: u32,
        /// The next.
        n2: u32,
        /// The next.
        n3: u32,
        /// Axes of the batch.
        batch: u32,
        /// Elements from row to row of the source.
        from_pitch: u32,
        /// And of the destination.
        to_pitch: u32,
    }
    /// Parameters of squares that are transposed where they lie.
    SquareParams("square") {
        /// Rows and columns.
        side: u64,
        /// Tiles of a side.
        across: u32,
        /// Groups of threads of a plane.
        pairs: u32,
        /// As the side.
        rows: u32,
        /// As the side.
        columns: u32,
        /// As the side.
        from_pitch: u32,
        /// As the side.
        to_pitch: u32,
    }
    /// Parameters of tiles of a grid that change places, in units.
    TileParams("tiles") {
        /// From row to row.
        pitch: u64,
        /// Parameters of a tile's row.
        width: u64,
        /// From grid to grid.
        step: u64,
        /// Step from a tile to the one below it.
        down: u64,
        /// Parameters of a tile.
        tile: u64,
        /// Tiles of a side.
        side: u32,
        /// Pairs of tiles.
        pairs: u32,
        /// Groups of threads of a pair.
        each: u32,
    }
    /// Parameters of the steps of a top-k.
    TopKParams("top_k") {
        /// Rank of the sample that says how far to look, from 1.
        rank: u32,
        /// Elements of the list.
        room: u32,
        /// Keys that are wanted.
        wanted: u32,
        /// The lowest bit that is compared.
        start: u32,
        /// Bits that are compared.
        width: u32,
        /// The digit's lowest bit.
        shift: u32,
        /// Its bits.
        digit_bits: u32,
        /// Whether it is of indices, rather than of keys.
        indexed: u32,
        /// Mask that negative keys are joined with, by exclusive or.
        negative: u64,
        /// Mask that all keys are joined with.
        flip: u64,
        /// Samples.
        samples: u32,
        /// Keys of which one is a sample.
        part: u32,
        /// The sign of a key in its last word.
        sign_bit: u32,
        /// The bits that are compared, shifted down.
        compared: u64,
    }
}
