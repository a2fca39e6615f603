// Generated from the kernels of the textbooks, `isowarp_textbook::kernels`; do not edit.
#pragma once

// The first word of each parameter in `Args::u`, of two words the low one, and of what follows them.
namespace params {
namespace sort_variant {
constexpr int NEGATIVE = 0, FLIP = 2, MASK = 4, RUN = 6, DISTANCE = 7, STEPS = 8, HALO = 9, EACH = 10, STRIDE = 11, BUCKETS = 12, FLAGS = 13, SAMPLES = 14, BIT = 15, WORDS = 16;
}
namespace reduce_variant {
constexpr int FLAGS = 0, COUNT = 2, WORDS = 4;
}
namespace scan_variant {
constexpr int FLAGS = 0, COUNT = 2, WORDS = 4;
}
namespace histogram_variant {
constexpr int BINS = 0, WORDS = 1;
}
namespace product_variant {
constexpr int ROWS = 0, COLUMNS = 1, TERMS = 2, BLOCK = 3, FORM = 4, A_ROW = 5, A_COLUMN = 6, B_ROW = 7, B_COLUMN = 8, C_ROW = 9, A_BATCH = 10, B_BATCH = 12, C_BATCH = 14, WORDS = 16;
}
namespace merge_variant {
constexpr int NEGATIVE = 0, FLIP = 2, A_LEN = 4, B_LEN = 5, WORDS = 6;
}
}  // namespace params

// Threads of a block, and elements of a thread.
namespace kernels {
namespace SortLoad {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortStore {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortWindows {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortEverywhere {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortSamples {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortBounds {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortScatter {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortFlags {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortSplit {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortLocal {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace SortRuns {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ReduceVariant {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ScanVariant {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace HistogramVariant {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace ProductVariant {
constexpr int THREADS = 256, ITEMS = 1;
}
namespace MergeVariant {
constexpr int THREADS = 256, ITEMS = 1;
}
}  // namespace kernels
