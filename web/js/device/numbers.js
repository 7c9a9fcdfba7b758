/**
 * Public random numbers, the same for every device: the generator PCG64 (XSL-RR, 128 bits) seeded
 * by a list of integers as `numpy.random.default_rng` does, its normal numbers by the ziggurat, and
 * the finaliser of splitmix64.
 */

const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const M64 = (1n << 64n) - 1n;
const M128 = (1n << 128n) - 1n;
const POOL = 4;
/** Where the ziggurat ends, and what its numbers are divided by. */
const END = 3.6541528853610088;
const UNIT = 2 ** 52;

/** @param {bigint} x */
export function mixed(x) {
  x = (x + 0x9e3779b97f4a7c15n) & M64;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & M64;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & M64;
  return x ^ (x >> 31n);
}

/** @param {number} start @param {number} factor */
function hasher(start, factor) {
  let constant = start;
  return (/** @type {number} */ value) => {
    const found = value ^ constant;
    constant = Math.imul(constant, factor);
    const mixed = Math.imul(found, constant);
    return mixed ^ (mixed >>> 16);
  };
}

/** Words of 32 bits, lowest first. @param {number} seed */
function words(seed) {
  const out = [seed >>> 0];
  for (let rest = Math.floor(seed / 2 ** 32); rest; rest = Math.floor(rest / 2 ** 32))
    out.push(rest >>> 0);
  return out;
}

/** @param {number[]} seeds @returns {() => bigint} uniform words of 64 bits */
export function generator(seeds) {
  const entropy = seeds.flatMap(words);
  const hash = hasher(0x43b0d7e5, 0x931e8875);
  const mix = (/** @type {number} */ x, /** @type {number} */ y) => {
    const found = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y);
    return (found | 0) ^ ((found | 0) >>> 16);
  };
  const pool = Array.from({ length: POOL }, (_, i) => hash(entropy[i] ?? 0));
  const stir = (/** @type {() => number} */ value, /** @type {number} */ but) =>
    pool.forEach((own, i) => i !== but && (pool[i] = mix(own, value())));
  for (let i = 0; i < POOL; i++) {
    const source = pool[i] ?? 0;
    stir(() => hash(source), i);
  }
  for (const word of entropy.slice(POOL)) stir(() => hash(word), -1);
  const draw = hasher(0x8b51f9dd, 0x58f38ded);
  const half = Array.from({ length: 8 }, (_, i) => BigInt(draw(pool[i % POOL] ?? 0) >>> 0));
  const long = [0, 2, 4, 6].map((i) => ((half[i + 1] ?? 0n) << 32n) | (half[i] ?? 0n));
  const start = ((long[0] ?? 0n) << 64n) | (long[1] ?? 0n);
  const odd = ((((long[2] ?? 0n) << 64n) | (long[3] ?? 0n)) << 1n) | 1n;
  let state = (odd + start) & M128;
  const step = () => (state = (state * MULTIPLIER + odd) & M128);
  step();
  return () => {
    step();
    const value = (state >> 64n) ^ (state & M64);
    const turn = state >> 122n;
    return ((value >> turn) | (value << (64n - turn))) & M64;
  };
}

/** The public key of a round's directions. @param {number} seed @param {string} name */
export const roundSeed = (seed, name) =>
  generator([seed, ...new TextEncoder().encode(name)])() >> 1n;

/** @type {{k: number[], w: number[], f: number[]} | null} */
let strips = null;

/** Borders of the 256 strips. @param {(x: number) => number} mills Phi(-x)/phi(x) */
function ziggurat(mills) {
  const law = (/** @type {number} */ x) => Math.exp(-0.5 * x * x);
  const area = END * law(END) + mills(END) * law(END);
  const k = new Array(256).fill(0);
  const w = new Array(256).fill(0);
  const f = new Array(256).fill(1);
  k[0] = Math.floor((END * law(END) * UNIT) / area);
  w[0] = area / law(END) / UNIT;
  w[255] = END / UNIT;
  f[255] = law(END);
  let before = END;
  for (let i = 254; i > 0; i--) {
    const x = Math.sqrt(-2 * Math.log(area / before + law(before)));
    k[i + 1] = Math.floor((x / before) * UNIT);
    w[i] = x / UNIT;
    f[i] = law(x);
    before = x;
  }
  return { k, w, f };
}

/**
 * Standard normal numbers.
 * @param {number} seed @param {number} count @param {(x: number) => number} mills
 */
export function normals(seed, count, mills) {
  strips ??= ziggurat(mills);
  const { k, w, f } = strips;
  const next = generator([seed]);
  const uniform = () => Number(next() >> 11n) * 2 ** -53;
  const one = () => {
    for (;;) {
      const word = next();
      const strip = Number(word & 255n);
      const size = Number((word >> 9n) & 0xfffffffffffffn);
      const x = size * w[strip] * ((word >> 8n) & 1n ? -1 : 1);
      if (size < k[strip]) return x;
      if (strip) {
        if ((f[strip - 1] - f[strip]) * uniform() + f[strip] < Math.exp(-0.5 * x * x)) return x;
        continue;
      }
      for (;;) {
        const far = (-1 / END) * Math.log1p(-uniform());
        const high = -Math.log1p(-uniform());
        if (high + high > far * far) return (word >> 17n) & 1n ? -(END + far) : END + far;
      }
    }
  };
  return Float64Array.from({ length: count }, one);
}
