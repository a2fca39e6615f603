// Numbers of a solve, their bits, and the bits of some: all but the sign, infinity, NaN, zero and one.
{% if wide %}
alias Num = f64;
alias Bits = u64;
const SIZE = 0x7ffffffffffffffflu;
const INFINITE = 0x7ff0000000000000lu;
const NAN = 0x7ff8000000000000lu;
const NOTHING = 0lu;
const ONE = 0x3ff0000000000000lu;
{% else %}
alias Num = f32;
alias Bits = u32;
const SIZE = 0x7fffffffu;
const INFINITE = 0x7f800000u;
const NAN = 0x7fc00000u;
const NOTHING = 0u;
const ONE = 0x3f800000u;
{% endif %}
const NOWHERE = 0xffffffffu;
const THREADS = {{ threads | default(256) }}u;
