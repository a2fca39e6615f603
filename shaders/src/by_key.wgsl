// Reduction by key: neighbours of equal keys are a run, and each run is reduced as an array of its own (segments.wgsl says how). Two launches. The first
// reads the keys (by_key_heads): a bit to an element says whether a run begins there, and a tile hands on how many do and where the last of them. What
// comes before each tile is then scanned, or summed up by the tile itself where there are few. The second reads the values (by_key), those of a
// workgroup's next tile while it is at one: a tile stages its accumulators in shared memory and reduces the runs that lie in it whole, those of up to
// TINY elements by an invocation, others together. What begins before a tile and ends in it is that tile's business, too: it reads it again, from where
// it begins. Runs of more than SHORT elements go to the list that segments_tiles and segments_join reduce; where one stands in a list depends on timing,
// and shows nowhere.

const THREADS = {{ threads }}u;
const TILE = {{ tile }}u;             // elements of a tile, of by_key
const BLOCK = 32u * THREADS;          // elements that a workgroup of by_key_heads reads
const WORDS = TILE / 32u;
const HEAD = 4u;                      // of the list: see segments.wgsl

{% if heads %}
// An invocation's bits, 4 to a row; how many of the words before one in its group of 8 are set; with gaps, so that what is read together lies in
// different banks. What the groups hold.
var<workgroup> nibbles: array<u32, THREADS / 8u * 9u>;
var<workgroup> ranks: array<u32, THREADS / 8u * 9u>;
var<workgroup> sums: array<u32, THREADS / 8u>;

fn gapped(i: u32) -> u32 {
    return i + i / 8u;
}

// args: n elements; blocks, workgroups of this launch; infos, where in `words` the tiles' entries follow; pitch, from a mark of a tile to the other.
// words: of 32 elements the bits where runs begin, and how many begin before them in their tile; behind these, of each tile, where the first run begins
// (TILE if none does) and above 16 bits how many do. marks: of each tile how many runs begin in it, and the place behind the last beginning, 0 if none.{{ " The list is emptied." if lists }}
@compute @workgroup_size({{ threads }})
fn by_key_heads(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let turn = (group.z * grid.y + group.y) * grid.x + group.x;
    if (turn >= args.blocks) {
        return;
    }
    // From the end to the beginning: what ran before has left the end in the cache, and what runs next finds the beginning there.
    let block = args.blocks - 1u - turn;
    let start = block * BLOCK;
{% if lists %}
    if (block == 0u && lane < HEAD) {
        list[lane] = 0u;
    }
{% endif %}
    var bits = 0u;
    for (var row = 0u; row < 8u; row += {{ rows }}u) {
{% for r in range(rows) %}
        {
            // Without a branch, so that all rows are on their way at once; what is no whole vector of its own stands for nothing.
            let i = start + ((row + {{ r }}u) * THREADS + lane) * 4u;
            let whole = max(i, args.n) - i >= 4u;
            let part = load4(select(0u, i, whole));
            let own = {% for e in range(4) %}select(0u, {{ 2 ** e }}u, part[{{ e }}] == 0u){{ " | " if not loop.last }}{% endfor %};
            bits |= select(0u, own, whole) << (4u * (row + {{ r }}u));
        }
{% endfor %}
    }
    // The one vector that the end cuts, if it is this invocation's.
    let beyond = (args.n - start) / 4u;
    if (beyond < 8u * THREADS && beyond % THREADS == lane) {
        for (var e = 0u; e < args.n % 4u; e++) {
            if (load1(args.n / 4u * 4u + e) == 0u) {
                bits |= 1u << (beyond / THREADS * 4u + e);
            }
        }
    }

    // Bits from rows of invocations to words in the elements' order, a word to an invocation.
    nibbles[gapped(lane)] = bits;
    workgroupBarrier();
    var word = 0u;
{% for q in range(8) %}
    word |= ((nibbles[gapped(lane % (THREADS / 8u) * 8u) + {{ q }}u] >> (lane / (THREADS / 8u) * 4u)) & 0xfu) << {{ 4 * q }}u;
{% endfor %}
    ranks[gapped(lane)] = countOneBits(word);
    workgroupBarrier();
    if (lane < THREADS / 8u) {
        var sum = 0u;
{% for q in range(8) %}
        let here{{ q }} = ranks[9u * lane + {{ q }}u];
        ranks[9u * lane + {{ q }}u] = sum;
        sum += here{{ q }};
{% endfor %}
        sums[lane] = sum;
    }
    workgroupBarrier();
    let tile = lane / WORDS;
    var rank = ranks[gapped(lane)];
    var total = 0u;
    for (var q = tile * (WORDS / 8u); q < (tile + 1u) * (WORDS / 8u); q++) {
        let here = sums[q];
        rank += select(0u, here, q < lane / 8u);
        total += here;
    }
    words[block * THREADS + lane] = vec2<u32>(word, rank);
    let at = block * (BLOCK / TILE) + tile;
    let place = lane % WORDS * 32u;
    if (word != 0u && rank == 0u) {
        words[args.infos + at] = vec2<u32>((place + countTrailingZeros(word)) | (total << 16u), 0u);
    }
    if (word != 0u && rank + countOneBits(word) == total) {
        marks[args.pitch + at] = at * TILE + place + 32u - countLeadingZeros(word);
    }
    if (place == 0u) {
        marks[at] = total;
        if (total == 0u) {
            words[args.infos + at] = vec2<u32>(TILE, 0u);
            marks[args.pitch + at] = 0u;
        }
    }
}
{% else %}
const CHUNK = {{ chunk }}u;           // runs whose places are known at once
const FEW = 8u;                       // elements of a run that an invocation reduces as it finds it, at most
const TINY = 64u;                     // elements of a run that an invocation reduces, at most
const SHORT = 1024u;                  // elements of a run that a workgroup reduces, at most
const PART = 16u;                     // elements of such a run to an invocation
const ENTRY = 4u;                     // of the list
const JOIN = 3u;

// Accumulators with a gap after 32, so that neighbours that are 2, 4, 8, .. elements apart lie in different banks: the tile's, and behind them those of
// the run that it ends if that is tiny. What is read with the last ones reaches over their end.
var<workgroup> slots: array<Acc, (TILE + TINY + 8u) / 32u * 33u + 33u>;
// Where runs begin in the tile, and where it ends.
var<workgroup> places: array<u32, CHUNK + 1u>;
// Runs of more than FEW elements, and of more than TINY: where they begin among the slots, their elements above 16 bits, and their numbers. An invocation
// that has a run of some elements beside runs of few lets its neighbours wait, so these come after all others, side by side.
var<workgroup> tinies: array<u32, TILE / FEW>;
var<workgroup> tiny_runs: array<u32, TILE / FEW>;
var<workgroup> tiny_count: atomic<u32>;
var<workgroup> middles: array<u32, TILE / TINY>;
var<workgroup> middle_runs: array<u32, TILE / TINY>;
var<workgroup> middle_count: atomic<u32>;
var<workgroup> has_middles: u32;
{% if lists %}
var<workgroup> long_base: u32;
{% endif %}
{% if not folded %}
var<workgroup> begun: atomic<u32>;
var<workgroup> latest: atomic<u32>;
var<workgroup> fold: vec2<u32>;
{% endif %}

fn gapped(i: u32) -> u32 {
    return i + (i >> 5u);
}

// The node over 8 slots from one on, those of the first `left`; there is at least one.
fn of_8(place: u32, left: u32) -> Acc {
{% for e in range(8) %}
    var x{{ e }} = slots[gapped(place + {{ e }}u)];
{% endfor %}
{% for d in [1, 2, 4] %}
{% for e in range(0, 8, d * 2) %}
    if (left > {{ e + d }}u) {
        x{{ e }} = combine(x{{ e }}, x{{ e + d }});
    }
{% endfor %}
{% endfor %}
    return x0;
}

// The tree over up to TINY slots from one on; there is at least one.
fn of_tiny(place: u32, length: u32) -> Acc {
    // Nodes over 8, 16 and 32 elements that wait for their right-hand neighbour.
    var a = Acc();
    var b = Acc();
    var c = Acc();
    var v = Acc();
    let count = (length + 7u) / 8u;
    for (var q = 0u; q < count; q++) {
        v = of_8(place + 8u * q, length - 8u * q);
        if ((q & 1u) == 0u) {
            a = v;
        } else {
            v = combine(a, v);
            if ((q & 2u) == 0u) {
                b = v;
            } else {
                v = combine(b, v);
                if ((q & 4u) == 0u) {
                    c = v;
                } else {
                    v = combine(c, v);
                }
            }
        }
    }
    // Missing right halves are skipped.
    if ((count & 2u) != 0u && (count & 1u) != 0u) {
        v = combine(b, v);
    }
    if ((count & 4u) != 0u && (count & 3u) != 0u) {
        v = combine(c, v);
    }
    return v;
}

// Reduces the first runs of `tinies`, and of `middles` if `together`. All invocations call it.
fn reduce_later(tiny: u32, middle: u32, together: bool, lane: u32) {
    // An invocation to each tiny run, and to each part of the others: runs and parts have some elements each, so there are fewer than invocations.
    var run = 0u;
    var place = 0u;
    var length = 0u;
    var part = 0u;
    var parts = 0u;
    if (lane < tiny) {
        run = tiny_runs[lane];
        place = tinies[lane] & 0xffffu;
        length = tinies[lane] >> 16u;
        parts = 1u;
    } else if (together) {
        part = lane - tiny;
        for (var m = 0u; m < middle && parts == 0u; m++) {
            let all = middles[m] >> 16u;
            let own = (all + PART - 1u) / PART;
            if (part < own) {
                run = middle_runs[m];
                place = (middles[m] & 0xffffu) + PART * part;
                length = min(all - PART * part, PART);
                parts = own;
            } else {
                part -= own;
            }
        }
    }
    var v = Acc();
    if (parts != 0u) {
        v = of_tiny(place, length);
    }
    if (together) {
        // Others have read over the ends of theirs.
        workgroupBarrier();
        if (parts > 1u) {
            slots[gapped(place)] = v;
        }
        for (var d = 1u; d < SHORT / PART; d *= 2u) {
            workgroupBarrier();
            if ((part & (2u * d - 1u)) == 0u && part + d < parts) {
                v = combine(v, slots[gapped(place + PART * d)]);
                slots[gapped(place)] = v;
            }
        }
    }
    if (parts != 0u && part == 0u) {
        finish(run, v);
    }
}

{% if lists %}
// Takes places of the list for the tiles of a long run: gives the first.
fn take_places(run: u32, length: u32) -> u32 {
    let tiles = (length - 1u) / args.tile + 1u;
    let base = atomicAdd(&list[0], tiles);
    if (tiles > 1u) {
        let join = args.joins + JOIN * atomicAdd(&list[1], 1u);
        atomicStore(&list[join], run);
        atomicStore(&list[join + 1u], base);
        atomicStore(&list[join + 2u], tiles);
    }
    return base;
}

// Puts tiles first, first + step, .. of a long run, which begins with element `begin`, on the list.
fn put_tiles(base: u32, run: u32, begin: u32, length: u32, first: u32, step: u32) {
    let tiles = (length - 1u) / args.tile + 1u;
    for (var t = first; t < tiles; t += step) {
        let at = HEAD + ENTRY * (base + t);
        atomicStore(&list[at], run);
        atomicStore(&list[at + 1u], begin + t * args.tile);
        atomicStore(&list[at + 2u], min(args.tile, length - t * args.tile));
        atomicStore(&list[at + 3u], select(0u, 1u, tiles == 1u));
    }
}
{% endif %}

// args: n elements; tiles; infos and pitch as for by_key_heads; tile, elements of a tile of a long run; joins, where in the list long runs of several
// tiles follow; turns, neighbouring tiles that a workgroup takes one after the other. folds: of each tile how many runs begin before it, and the place
// behind the last beginning before it{{ "; here still marks, of the tile itself" if not folded }}.
@compute @workgroup_size({{ threads }})
fn by_key(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let first_tile = ((group.z * grid.y + group.y) * grid.x + group.x) * args.turns;
    let end_tile = min(first_tile + args.turns, args.tiles);
    if (first_tile >= end_tile) {
        return;
    }
    // All that a tile has to know is on its way at once, while the one before it is reduced; values of a tile that reduces none are read in vain.
{% for r in range(rows) %}
    let place{{ r }} = {{ r }}u * THREADS * 4u + lane * 4u;
    let first_whole{{ r }} = first_tile * TILE + place{{ r }} + 4u <= args.n;
    var next_x{{ r }} = load4(select(0u, first_tile * TILE + place{{ r }}, first_whole{{ r }}));
    var next_word{{ r }} = words[first_tile * WORDS + {{ r }}u * (THREADS / 8u) + lane / 8u];
{% endfor %}
    var next_info = words[args.infos + first_tile].x;
{% if folded %}
    var next_before = folds[first_tile];
    var next_behind = folds[args.pitch + first_tile];
{% endif %}
    for (var tile = first_tile; tile < end_tile; tile++) {
        let begin = tile * TILE;
        let next = min(tile + 1u, end_tile - 1u);
{% for r in range(rows) %}
        let whole{{ r }} = begin + place{{ r }} + 4u <= args.n;
        let x{{ r }} = next_x{{ r }};
        let word{{ r }} = next_word{{ r }};
        let next_whole{{ r }} = next * TILE + place{{ r }} + 4u <= args.n;
        next_x{{ r }} = load4(select(0u, next * TILE + place{{ r }}, next_whole{{ r }}));
        next_word{{ r }} = words[next * WORDS + {{ r }}u * (THREADS / 8u) + lane / 8u];
{% endfor %}
        let info = next_info;
        next_info = words[args.infos + next].x;
{% if folded %}
        let before = next_before;
        let behind = next_behind;
        next_before = folds[next];
        next_behind = folds[args.pitch + next];
{% endif %}
        let first = info & 0xffffu;
        let total = info >> 16u;
        let is_last = tile + 1u == args.tiles;
        // Whether a run that begins before the tile ends in it, or with it.
        let ends = tile != 0u && (total != 0u || is_last);
        if (total == 0u && !ends) {
            continue;
        }
        // Words that the tile before has left are no longer read.
        workgroupBarrier();
        let here = min(TILE, args.n - begin);
{% if not folded %}
        if (lane == 0u) {
            atomicStore(&begun, 0u);
            atomicStore(&latest, 0u);
        }
        workgroupBarrier();
        if (lane < tile) {
            let count = folds[lane];
            if (count != 0u) {
                atomicAdd(&begun, count);
                atomicMax(&latest, folds[args.pitch + lane]);
            }
        }
        workgroupBarrier();
        if (lane == 0u) {
            fold = vec2<u32>(atomicLoad(&begun), atomicLoad(&latest));
        }
        let known = workgroupUniformLoad(&fold);
        let before = known.x;
        let behind = known.y;
{% endif %}
        if (is_last && lane == 0u) {
            store_count(before + total);
        }
        let cut_from = behind - 1u;
        let cut_length = select(0u, begin + min(first, here) - cut_from, ends);
        // The last run that begins here ends in another tile, but for the last one.
        let whole = total - select(1u, 0u, is_last || total == 0u);

        if (lane == 0u) {
            atomicStore(&tiny_count, 0u);
            atomicStore(&middle_count, 0u);
            has_middles = 0u;
        }
        if (whole != 0u) {
            let to = gapped(lane * 4u);
{% for r in range(rows) %}
            if (whole{{ r }}) {
{% for e in range(4) %}
                slots[to + {{ r }}u * (THREADS / 8u * 33u) + {{ e }}u] = x{{ r }}[{{ e }}];
{% endfor %}
            }
{% endfor %}
            // Elements that the end leaves of a vector.
            if (is_last && lane < args.n % 4u) {
                let i = args.n / 4u * 4u + lane;
                slots[gapped(i - begin)] = load1(i);
            }
        }
        if (cut_length <= TINY && lane < cut_length) {
            slots[gapped(TILE + lane)] = load1(cut_from + lane);
        }

        let shift = lane % 8u * 4u;
{% for r in range(rows) %}
        let bits{{ r }} = word{{ r }}.x >> shift;
        let rank{{ r }} = word{{ r }}.y + countOneBits(word{{ r }}.x & ((1u << shift) - 1u));
{% endfor %}
        for (var c = 0u; c == 0u || c < total; c += CHUNK) {
{% for r in range(rows) %}
            {
                var slot = rank{{ r }} - c;
{% for e in range(4) %}
                if ((bits{{ r }} & {{ 2 ** e }}u) != 0u) {
{% if chunk < tile %}
                    // The first of the next chunk says where the last of this one ends.
                    if (slot <= CHUNK) {
                        places[slot] = {{ r }}u * THREADS * 4u + lane * 4u + {{ e }}u;
                    }
{% else %}
                    places[slot] = {{ r }}u * THREADS * 4u + lane * 4u + {{ e }}u;
{% endif %}
                    slot++;
                }
{% endfor %}
            }
{% endfor %}
            if (lane == 0u && total - c <= CHUNK) {
                places[total - c] = here;
            }
            workgroupBarrier();
            let count = min(total - c, CHUNK);
            // Keys are on their way while runs are reduced.
{% for q in range(chunk // threads) %}
            let has{{ q }} = lane + {{ q }}u * THREADS < count;
            var key{{ q }} = Key();
            if (has{{ q }}) {
                key{{ q }} = key_of(begin + places[lane + {{ q }}u * THREADS]);
            }
{% endfor %}
            // The runs, and in the first chunk behind them the one that the tile ends, if it is tiny.
            let items = count + select(0u, 1u, c == 0u && ends && cut_length <= TINY);
            for (var j = lane; j < items; j += THREADS) {
                var run = before - 1u;
                var place = TILE;
                var length = cut_length;
                if (j < count) {
                    run = before + c + j;
                    place = places[j];
                    length = places[j + 1u] - place;
                }
                let reduces = j == count || c + j < whole;
                if (reduces && length <= FEW) {
                    finish(run, of_8(place, length));
                } else if (reduces && length <= TINY) {
                    let at = atomicAdd(&tiny_count, 1u);
                    tinies[at] = place | (length << 16u);
                    tiny_runs[at] = run;
                } else if (reduces && length <= SHORT) {
                    let at = atomicAdd(&middle_count, 1u);
                    middles[at] = place | (length << 16u);
                    middle_runs[at] = run;
                    has_middles = 1u;
{% if lists %}
                } else if (reduces) {
                    put_tiles(take_places(run, length), run, begin + place, length, 0u, 1u);
{% endif %}
                }
            }
{% for q in range(chunk // threads) %}
            if (has{{ q }}) {
                store_key(before + c + lane + {{ q }}u * THREADS, key{{ q }});
            }
{% endfor %}
            if (c + CHUNK < total) {
                workgroupBarrier();
            }
        }
{% if lists %}
        if (cut_length > SHORT) {
            if (lane == 0u) {
                long_base = take_places(before - 1u, cut_length);
            }
            put_tiles(workgroupUniformLoad(&long_base), before - 1u, cut_from, cut_length, lane, THREADS);
        }
{% endif %}
        // Segments of the tile that are not of few elements, then the one that it ends, read again.
        var together = workgroupUniformLoad(&has_middles) != 0u;
        var tiny = atomicLoad(&tiny_count);
        var middle = atomicLoad(&middle_count);
        for (var turn = 0u; turn < 2u; turn++) {
            if (turn == 1u) {
                if (cut_length <= TINY || cut_length > SHORT) {
                    break;
                }
                workgroupBarrier();
                for (var i = lane; i < cut_length; i += THREADS) {
                    slots[gapped(i)] = load1(cut_from + i);
                }
                if (lane == 0u) {
                    middles[0] = cut_length << 16u;
                    middle_runs[0] = before - 1u;
                }
                workgroupBarrier();
                tiny = 0u;
                middle = 1u;
                together = true;
            }
            reduce_later(tiny, middle, together, lane);
        }
    }
}
{% endif %}
