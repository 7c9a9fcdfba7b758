// How long the page takes from a click to new lists: node benchmarks/personal.mjs [ITEMS [FACTORS]]
import { performance } from 'node:perf_hooks';

import { Model } from '../web/js/model/model.js';

const [items, factors] = process.argv.slice(2).map(Number);
const sizes = items
  ? [[items, factors || 60]]
  : [
      [4000, 60],
      [60_000, 60],
    ];
let seed = 1;

/** A public stream of numbers from 0 to 1, the same on every run. */
function chance() {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}

function table(rows, columns, scale) {
  const shape = columns ? [rows, columns] : [rows];
  const data = Float32Array.from({ length: rows * (columns || 1) }, () => scale * (chance() - 0.5));
  return { data, shape };
}

function made(rows, columns) {
  const header = {
    name: 'bench',
    method: 'bayes',
    kind: 'gaussian',
    digest: 'none',
    items: rows,
    scale: { low: 1, high: 5 },
    positive: null,
    numbers: { noise: 0.7 },
  };
  const tables = new Map([
    ['loadings', table(rows, columns, 0.6)],
    ['baseline', table(rows, 0, 2)],
    ['weight', table(rows, 0, 1)],
  ]);
  const variance = table(rows, 0, 0.1);
  tables.set('variance', { ...variance, data: variance.data.map(Math.abs) });
  const listed = Array.from({ length: rows }, (_, i) => ({
    id: `i${i}`,
    title: `film ${i}`,
    year: 1950 + (i % 70),
    genres: ['a'],
  }));
  const tags = Array.from({ length: 18 }, (_, k) => `genre ${k}`);
  const tagged = listed.map((_, i) => [i % 18]);
  return new Model({ header, tables, error: {} }, { digest: 'none', items: listed, tags, tagged });
}

function middle(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return `median ${sorted[sorted.length >> 1].toFixed(2)} ms, worst ${sorted.at(-1).toFixed(2)} ms`;
}

for (const [rows, columns] of sizes) {
  const model = made(rows, columns);
  const ratings = new Map();
  const clicks = [];
  const reasons = [];
  for (let k = 0; k < 120; k++) {
    ratings.set(Math.floor(chance() * rows), 1 + Math.floor(chance() * 5));
    if (k % 7 === 6) ratings.delete(ratings.keys().next().value);
    const begin = performance.now();
    const person = model.person(ratings);
    const list = person.rank({ by: 'rating', n: 20 });
    person.predict();
    const told = performance.now();
    for (const line of list.slice(0, 10)) person.reasons(line.item);
    reasons.push(performance.now() - told);
    clicks.push(told - begin);
  }
  const start = performance.now();
  const fresh = model.person(
    new Map([...ratings].map(([item, rating]) => [(item + 1) % rows, rating])),
  );
  fresh.rank({ by: 'liked', n: 20 });
  console.log(`${rows} items x ${columns} factors`);
  console.log(`  after a click (predictions, intervals, a list of 20): ${middle(clicks)}`);
  console.log(`  reasons of 10 lines: ${middle(reasons)}`);
  console.log(
    `  ${ratings.size} other ratings at once: ${(performance.now() - start).toFixed(1)} ms`,
  );
}
