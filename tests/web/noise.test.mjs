// The device's samplers against their laws, by the rule of tests/statistical: the true scale is
// accepted and scales 30 % off are rejected, at p = 1e-20 with 1e5 draws.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const at = '../../web/js/device/';
const { Bits } = await import(`${at}coins.js`);
const { choose } = await import(`${at}choice.js`);
const noise = await import(`${at}noise.js`);

const DRAWS = 100_000;
/** log of the chance that a true law is rejected. */
const REJECT = Math.log(1e-20);
const BINS = 24;

/** log P(chi-square of k degrees of freedom is above x), from above (Chernoff). */
function logTail(x, k) {
  return x <= k ? 0 : (k / 2) * (1 + Math.log(x / k)) - x / 2;
}

/** Chi-square of draws against a law given as a function of the bin's ends. */
function misfit(draws, law, ends) {
  const counts = new Array(ends.length + 1).fill(0);
  for (const draw of draws) {
    let bin = ends.findIndex((end) => draw < end);
    if (bin < 0) bin = ends.length;
    counts[bin]++;
  }
  let before = 0;
  let total = 0;
  counts.forEach((count, bin) => {
    const upTo = bin < ends.length ? law(ends[bin]) : 1;
    const expected = draws.length * (upTo - before);
    before = upTo;
    total += (count - expected) ** 2 / Math.max(expected, 1e-9);
  });
  return logTail(total, ends.length);
}

/** P(X < end) of a law on the integers, from its weights, normalised over +-reach. */
function below(weight, reach) {
  const sums = [0];
  for (let k = -reach; k <= reach; k++) sums.push(sums.at(-1) + weight(k));
  const whole = sums.at(-1);
  return (end) => sums[Math.max(0, Math.min(sums.length - 1, Math.ceil(end) + reach))] / whole;
}

/** Skellam of a variance, by convolving two Poisson laws. */
function skellamLaw(variance) {
  const mean = variance / 2;
  const most = Math.ceil(mean + 14 * Math.sqrt(mean) + 30);
  const log = [0];
  for (let k = 1; k <= most; k++) log.push(log[k - 1] + Math.log(k));
  const p = log.map((fact, k) => Math.exp(k * Math.log(mean) - mean - fact));
  const reach = Math.ceil(12 * Math.sqrt(variance) + 20);
  const weights = new Map();
  for (let d = 0; d <= reach; d++) {
    let sum = 0;
    for (let k = 0; k + d <= most; k++) sum += p[k] * p[k + d];
    weights.set(d, sum);
  }
  return below((k) => weights.get(Math.abs(k)), reach);
}

const normalEnd = (x) => {
  // Phi by its series or continued fraction, to 1e-12.
  const z = Math.abs(x);
  let tail = z + 60;
  if (z > 2.5) {
    for (let k = 80; k > 0; k--) tail = z + k / tail;
    const q = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / tail;
    return x > 0 ? 1 - q : q;
  }
  let term = z;
  let sum = z;
  for (let k = 3; term > 1e-17; k += 2) sum += term *= (z * z) / k;
  const half = (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
  return x > 0 ? 0.5 + half : 0.5 - half;
};

const spaced = (sd) => [
  ...new Set(Array.from({ length: BINS }, (_, k) => Math.round(sd * (k - BINS / 2 + 0.5) * 0.25))),
];

/** name, draws, law of a scale, the true scale, its standard deviation */
const CASES = [
  [
    'skellam by inversion',
    (n, b) => noise.skellam(n, 30, b),
    (s) => skellamLaw(s * s),
    Math.sqrt(30),
  ],
  [
    'skellam by rejection',
    (n, b) => noise.skellam(n, 2 ** 34, b),
    // At this size the law is normal to 1e-6.
    (s) => (x) => normalEnd((x - 0.5) / s),
    2 ** 17,
  ],
  [
    'laplace of one’s own',
    (n, b) => noise.ownLaplace(n, 9.5, b),
    (s) => below((k) => Math.exp(-Math.abs(k) / s), 900),
    9.5,
  ],
  [
    'gaussian of one’s own',
    (n, b) => noise.ownGaussian(n, 17.25, b),
    (s) => below((k) => Math.exp((-k * k) / (2 * s * s)), 400),
    17.25,
  ],
];

for (const [name, draw, law, scale] of CASES)
  test(`${name}: the true scale and no other`, () => {
    const draws = draw(DRAWS, new Bits());
    const ends = spaced(scale);
    assert.ok(misfit(draws, law(scale), ends) > REJECT, 'the true scale');
    for (const off of [0.7, 1.3])
      assert.ok(misfit(draws, law(off * scale), ends) < REJECT, `scale x ${off}`);
  });

test('polya shares add up to discrete Laplace noise', () => {
  const [parts, scale, many] = [4, 6.5, 8000];
  const bits = new Bits();
  const sums = new Float64Array(many);
  for (let share = 0; share < parts; share++)
    noise.polya(many, 1 / parts, scale, bits).forEach((k, i) => (sums[i] += k));
  const law = (s) => below((k) => Math.exp(-Math.abs(k) / s), 600);
  const ends = spaced(scale);
  assert.ok(misfit(sums, law(scale), ends) > REJECT);
  for (const off of [0.7, 1.3]) assert.ok(misfit(sums, law(off * scale), ends) < REJECT);
});

test('favoured answers are likelier by e^epsilon, and all others alike', () => {
  const event = { epsilon: 1, choices: 8, favoured: 2 };
  const counts = new Array(8).fill(0);
  const bits = new Bits();
  for (let i = 0; i < DRAWS; i++) counts[choose(event, [5, 1], bits)]++;
  const chances = (epsilon) => {
    const own = 2 / (2 + 6 * Math.exp(-epsilon));
    return counts.map((_, k) => ([1, 5].includes(k) ? own / 2 : (1 - own) / 6));
  };
  const total = (epsilon) =>
    chances(epsilon).reduce((all, p, k) => all + (counts[k] - DRAWS * p) ** 2 / (DRAWS * p), 0);
  assert.ok(logTail(total(1), 7) > REJECT);
  for (const off of [0.7, 1.3]) assert.ok(logTail(total(off), 7) < REJECT);
});

test('a row that favours too many is taken as the first ones', () => {
  const event = { epsilon: 40, choices: 8, favoured: 2 };
  const bits = new Bits();
  for (const row of [[1, 1], [0.5], [NaN, 3], [7, 8], [-1, 2]])
    assert.ok([0, 1].includes(choose(event, row, bits)));
});
