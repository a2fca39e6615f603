// Generated from the kernels of the library, `isowarp_core::launch::kernels`; do not edit.
#pragma once

// The first word of each parameter in `Args::u`, of two words the low one, and of what follows them.
namespace params {
namespace peers {
constexpr int WIDTH = 0, KIND = 1, PER = 2, WORDS = 3;
}
namespace exact {
constexpr int ROW = 0, TILES = 2, SPAN = 3, WORDS = 4;
}
namespace contract {
constexpr int ROWS = 0, COLUMNS = 1, TERMS = 2, BLOCK = 3, FORM = 4, A_ROW = 5, A_COLUMN = 6, B_ROW = 7, B_COLUMN = 8, C_ROW = 9, A_BATCH = 10, B_BATCH = 12, C_BATCH = 14, WORDS = 16;
}
namespace pack {
constexpr int ROWS = 0, TERMS = 1, PADDED = 2, PITCH = 3, FORMAT = 4, RIGHT = 5, ROW = 6, COLUMN = 7, BATCH = 8, EXPONENTS = 10, VECTOR = 11, WORDS = 12;
}
namespace packed {
constexpr int ROWS = 0, COLUMNS = 1, PITCH = 2, PADDED_ROWS = 3, PADDED_COLUMNS = 4, ALIKE = 5, VECTOR = 6, EXPONENTS = 7, C_ROW = 8, C_BATCH = 10, BLOCK = 12, WORDS = 13;
}
namespace convolve {
constexpr int IMAGE_WIDTH = 0, IMAGE_HEIGHT = 1, WIDTH = 2, HEIGHT = 3, TAPS = 4, BEFORE_X = 5, BEFORE_Y = 6, BORDER = 7, BLOCK = 8, FILTERS = 9, OUTS = 10, CHANNELS = 11, DEPTH = 12, OUT_DEPTH = 13, TAPS_Z = 14, BEFORE_Z = 15, WORDS = 16;
}
namespace layer {
constexpr int DEPTH = 0, HEIGHT = 1, WIDTH = 2, WINDOWS_Z = 3, WINDOWS_Y = 4, WINDOWS_X = 5, STEPS_Z = 6, STEPS_Y = 7, STEPS_X = 8, CHANNELS = 9, FILTERS = 10, CHANNEL_GROUPS = 11, IMAGES = 12, BLOCK = 13, FORM = 14, WORDS = 15;
}
namespace fft {
constexpr int POINTS = 0, PITCH = 1, COLUMNS = 2, STRIDE = 3, BEFORE = 4, INNER = 5, SUBS = 6, LEVELS = 7, SWAPS = 8, PAIRED = 9, WORDS = 10;
}
namespace eliminate {
constexpr int ROWS = 0, PIVOTS = 1, COLUMNS = 2, PITCH = 3, PIVOTING = 4, LANES = 5, BATCH = 6, A_ROW = 7, A_COLUMN = 8, B_ROW = 9, B_COLUMN = 10, A_BATCH = 11, B_BATCH = 12, WORDS = 13;
}
namespace panel {
constexpr int ROWS = 0, WIDTH = 1, SIDE = 2, PIVOTING = 3, WORDS = 4;
}
namespace cholesky {
constexpr int SIDE = 0, PITCH = 1, LANES = 2, BATCH = 3, FIRST = 4, A_ROW = 5, A_COLUMN = 6, A_BATCH = 7, WORDS = 8;
}
namespace substitute {
constexpr int SIDE = 0, COLUMNS = 1, BATCH = 2, FORM = 3, T_FIRST = 4, T_ROW = 5, T_COLUMN = 6, T_BATCH = 7, X_FIRST = 8, X_ROW = 9, X_COLUMN = 10, X_BATCH = 11, WORDS = 12;
}
namespace trail {
constexpr int ROWS = 0, COLUMNS = 1, TERMS = 2, FORM = 3, A_FIRST = 4, A_ROW = 5, A_COLUMN = 6, A_BATCH = 7, B_FIRST = 8, B_ROW = 9, B_COLUMN = 10, C_FIRST = 11, C_ROW = 12, C_COLUMN = 13, X_BATCH = 14, WORDS = 15;
}
namespace arrange {
constexpr int ROWS = 0, COLUMNS = 1, BATCH = 2, LOWER = 3, A_ROW = 4, A_COLUMN = 5, A_BATCH = 6, X_ROW = 7, X_COLUMN = 8, X_BATCH = 9, WORDS = 10;
}
namespace swap_rows {
constexpr int SIDE = 0, FIRST = 1, WIDTH = 2, BATCH = 3, WORDS = 4;
}
namespace diagonal {
constexpr int SIDE = 0, A_STEP = 1, A_BATCH = 2, WORDS = 3;
}
namespace gather {
constexpr int KEEP = 0, VALUES = 2, WORDS = 4;
}
namespace scatter {
constexpr int TARGETS = 0, OP = 2, POSITIONS = 3, WORDS = 4;
}
namespace layout {
constexpr int N0 = 0, N1 = 2, N2 = 4, N3 = 6, N4 = 8, N5 = 10, RANK = 12, WORDS = 13;
}
namespace transpose {
constexpr int ROWS = 0, COLUMNS = 2, N0 = 4, N1 = 5, N2 = 6, N3 = 7, BATCH = 8, FROM_PITCH = 9, TO_PITCH = 10, WORDS = 11;
}
namespace square {
constexpr int SIDE = 0, ACROSS = 2, PAIRS = 3, ROWS = 4, COLUMNS = 5, FROM_PITCH = 6, TO_PITCH = 7, WORDS = 8;
}
namespace tiles {
constexpr int PITCH = 0, WIDTH = 2, STEP = 4, DOWN = 6, TILE = 8, SIDE = 10, PAIRS = 11, EACH = 12, WORDS = 13;
}
namespace top_k {
constexpr int RANK = 0, ROOM = 1, WANTED = 2, START = 3, WIDTH = 4, SHIFT = 5, DIGIT_BITS = 6, INDEXED = 7, NEGATIVE = 8, FLIP = 10, SAMPLES = 12, PART = 13, SIGN_BIT = 14, WORDS = 15;
}
}  // namespace params

// Threads of a block, and elements of a thread.
namespace kernels {
namespace Map {
constexpr int THREADS = 128, ITEMS = 4;
}
namespace Ballot {
constexpr int THREADS = 256, ITEMS = 32;
}
namespace Peers {
constexpr int THREADS = 256, ITEMS = 4;
}
namespace ExactSum {
constexpr int THREADS = 128, ITEMS = 16;
}
namespace ExactSumWide {
constexpr int THREADS = 32, ITEMS = 8;
}
namespace Contract {
constexpr int THREADS = 256, ITEMS = 64;
}
namespace ContractSmall {
constexpr int THREADS = 64, ITEMS = 16;
}
namespace ContractThin {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ContractFold {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ContractGreatest {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ContractPack {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ContractPacked {
constexpr int THREADS = 128, ITEMS = 1;
}
namespace ContractWarpgroup {
constexpr int THREADS = 288, ITEMS = 1;
}
namespace ContractTiles {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ContractTilesWide {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ContractFixed {
constexpr int THREADS = 128, ITEMS = 1;
}
namespace Convolve {
constexpr int THREADS = 128, ITEMS = 16;
}
namespace ConvolveLayer {
constexpr int THREADS = 256, ITEMS = 64;
}
namespace Fft {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace Eliminate {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace Panel {
constexpr int THREADS = 1024, ITEMS = 1;
}
namespace Cholesky {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace Substitute {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace Trail {
constexpr int THREADS = 256, ITEMS = 16;
}
namespace Arrange {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SwapRows {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace CheckDiagonal {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace Gather {
constexpr int THREADS = 256, ITEMS = 4;
}
namespace Scatter {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ScatterReduce {
constexpr int THREADS = 256, ITEMS = 4;
}
namespace ScatterFrom {
constexpr int THREADS = 256, ITEMS = 4;
}
namespace Layout {
constexpr int THREADS = 256, ITEMS = 4;
}
namespace Transpose {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace TransposeSquare {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SwapSquare {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace TransposeTiles {
constexpr int THREADS = 256, ITEMS = 4;
}
namespace TopKStart {
constexpr int THREADS = 1024, ITEMS = 16;
}
namespace TopKFilter {
constexpr int THREADS = 256;
}
namespace TopKCount {
constexpr int THREADS = 256;
}
namespace TopKCollect {
constexpr int THREADS = 256;
}
}  // namespace kernels
