// The page's mathematics against what Python answered (spec/vectors, made by spec/personal.py).
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { parseModel } from '../../web/js/model/load.js';

const CLOSE = 1e-5;
const folder = new URL('../../spec/vectors/', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
const items = read('personal-items.json');
const files = readdirSync(folder).filter((name) => /^personal-(?!items)/.test(name));

function open(facts) {
  const bytes = Buffer.from(facts.model, 'base64');
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const length = new DataView(buffer).getUint32(12, true);
  const { digest } = JSON.parse(bytes.subarray(16, 16 + length).toString());
  return parseModel(buffer, { ...items, digest });
}

function near(found, wanted, what) {
  assert.equal(found.length, wanted.length, what);
  for (let i = 0; i < wanted.length; i++) {
    const gap = Math.abs(found[i] - wanted[i]);
    assert.ok(
      gap <= CLOSE * Math.max(1, Math.abs(wanted[i])),
      `${what}[${i}]: ${found[i]}, not ${wanted[i]}`,
    );
  }
}

/** The same scores in the same order; items of equal score may change places. */
function sameList(found, wanted, what) {
  near(
    found.map((line) => line.score),
    wanted.map(([, score]) => score),
    what,
  );
  found.forEach((line, place) => {
    const tied = wanted.filter(([, score]) => Math.abs(score - wanted[place][1]) <= 2 * CLOSE);
    assert.ok(tied.length > 1 || line.item === wanted[place][0], `${what}: place ${place}`);
  });
}

assert.ok(files.length >= 12, 'a file for every kind of model');
for (const file of files) {
  const facts = read(file);
  const model = open(facts);
  const begin = () => {
  };

  test(`${file}: predictions, intervals and lists`, () => {
    begin();
    for (const given of facts.cases) {
      const person = model.person(new Map(given.ratings));
      const told = person.predict();
      for (const name of ['rating', 'error', 'low', 'high']) near(told[name], given[name], name);
      for (const [by, wanted] of Object.entries(given.lists)) {
        const told = by === 'wanted' ? undefined : by;
        sameList(person.rank({ by: told, n: wanted.length }), wanted, `list by ${by}`);
      }
    }
  });

  test(`${file}: reasons add up and are Python's`, () => {
    begin();
    for (const given of facts.cases) {
      const person = model.person(new Map(given.ratings));
      for (const wanted of given.explain) {
        const told = person.state.explain(wanted.item);
        const parts = person.reasons(wanted.item);
        if (model.kindOf.ranksBy === 'rating' && !/descent/.test(file)) {
          near(
            [parts.total],
            [model.middle + model.unit * person.state.mean[wanted.item]],
            'total',
          );
        }
        const listed = [...parts.own, ...parts.tastes].reduce((all, { amount }) => all + amount, 0);
        near([parts.baseline + parts.popularity + listed], [parts.total], 'parts');
        near([told.baseline], [wanted.baseline], 'baseline');
        near(told.own, wanted.own, 'own');
        if (wanted.features) {
          const view = model.view.tastes(
            person.state.part(() => true),
            wanted.item,
          );
          assert.equal(view.length, Object.keys(wanted.features).length);
          for (const { name, amount } of view)
            near([amount], [wanted.features[name] / model.unit], name);
        }
      }
    }
  });

  test(`${file}: more like this`, () => {
    begin();
    const found = model.similar(facts.similar.item, 5);
    sameList(found, facts.similar.found, 'similar');
  });
}
