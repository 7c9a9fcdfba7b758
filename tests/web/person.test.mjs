// What a person does with a model, and what a hostile model cannot do.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { ModelError, loadModel, parseModel } from '../../web/js/model/load.js';
import { erfc } from '../../web/js/model/rank.js';

const folder = new URL('../../spec/vectors/', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
const items = read('personal-items.json');

function parts(kind) {
  const bytes = Buffer.from(read(`personal-${kind}.json`).model, 'base64');
  const length = bytes.readUInt32LE(12);
  const header = JSON.parse(bytes.subarray(16, 16 + length).toString());
  return { header, body: bytes.subarray(16 + length) };
}

/** The packed form with another header, or another body. */
function packed({ header, body }) {
  const words = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([words, Buffer.alloc((8 - (words.length % 8)) % 8, 32)]);
  const start = Buffer.alloc(16);
  start.write('TACITWEB');
  start.writeUInt32LE(1, 8);
  start.writeUInt32LE(padded.length, 12);
  const all = Buffer.concat([start, padded, body]);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength);
}

function open(kind) {
  const given = parts(kind);
  return parseModel(packed(given), { ...items, digest: given.header.digest });
}

const somebody = new Map([
  [3, 5],
  [10, 1],
  [22, 4],
  [31, 2],
  [40, 5],
]);

for (const kind of ['gaussian', 'implied-gaussian']) {
  test(`${kind}: clicks one by one give what all at once give`, () => {
    const model = open(kind);
    const ratings = new Map();
    for (let k = 0; k < 40; k++) {
      const item = (k * 17) % 60;
      if (k % 5 === 4) ratings.delete([...ratings.keys()][0]);
      else ratings.set(item, 1 + (k % 5));
      const clicked = model.person(ratings).predict();
      const fresh = open(kind).person(ratings).predict();
      for (const name of ['rating', 'error']) {
        clicked[name].forEach((value, i) =>
          assert.ok(Math.abs(value - fresh[name][i]) < 1e-6, `${name} ${i}`),
        );
      }
    }
  });
}

test('an earlier person is not changed by a later click', () => {
  const model = open('gaussian');
  const before = model.person(somebody);
  const told = before.predict().rating;
  model.person(new Map([...somebody, [5, 1]])).predict();
  assert.deepEqual(before.predict().rating, told);
});

test('lists leave out what is rated or excluded, and safety changes what is unsure', () => {
  const model = open('gaussian');
  const person = model.person(somebody);
  const all = person.rank({ n: 100 });
  assert.equal(all.length, 55);
  assert.ok(all.every((line) => !somebody.has(line.item)));
  assert.ok(all.every((line, k) => k === 0 || line.score <= all[k - 1].score));
  const first = all[0].item;
  assert.ok(person.rank({ exclude: new Set([first]) }).every((line) => line.item !== first));
  const mean = (lines) => lines.reduce((total, line) => total + line.error, 0) / lines.length;
  assert.ok(mean(person.rank({ safety: 1 })) < mean(person.rank({ safety: 0 })));
  const boldly = person.rank({ by: 'rating', safety: 0 });
  assert.deepEqual(boldly, person.rank({ by: 'explore', safety: 0.5 }));
});

for (const kind of ['gaussian', 'implied-gaussian']) {
  test(`${kind}: reasons name the strongest ratings and the rest speak together`, () => {
    const model = open(kind);
    const ratings = new Map(Array.from({ length: 20 }, (_, k) => [k * 3, 1 + (k % 5)]));
    const person = model.person(ratings);
    const told = person.reasons(1);
    assert.equal(told.own.length, 3);
    assert.ok(told.tastes.some((taste) => taste.code === 'level'));
    assert.ok(told.tastes.some((taste) => taste.code === 'feature'));
    const all = person.reasons(1, Infinity);
    assert.equal(all.tastes.length, 0);
    assert.ok(Math.abs(all.total - told.total) < 1e-9);
    assert.ok(Math.abs(told.total - (model.middle + model.unit * person.state.mean[1])) < 1e-9);
  });
}

for (const kind of ['gaussian', 'implied-gaussian']) {
  test(`${kind}: what some ratings say together is the sum of their reasons`, () => {
    const model = open(kind);
    const { kindOf } = model;
    const { explain, part } = model.person(somebody).state;
    for (const used of [() => true, (index) => index % 2 === 0, (index) => index === 1]) {
      const vector = part(used);
      for (const item of [1, 3, 59]) {
        const row = kindOf.loadings.subarray(item * kindOf.width, (item + 1) * kindOf.width);
        const told = row.reduce((all, value, a) => all + value * vector[a], 0);
        const own = explain(item).own.reduce((all, value, j) => all + (used(j) ? value : 0), 0);
        assert.ok(Math.abs(told - own) < 1e-9, `${item}: ${told}, not ${own}`);
      }
    }
  });
}

test('why an item is not there', () => {
  const model = open('gaussian');
  const person = model.person(somebody);
  const list = person.rank({ n: 5, exclude: new Set([7]) });
  assert.equal(person.whyNot(3, list).code, 'rated');
  assert.equal(person.whyNot(7, list).code, 'excluded');
  assert.equal(person.whyNot(1e6, list).code, 'unknown');
  assert.deepEqual(person.whyNot(list[2].item, list), { code: 'listed', place: 3 });
  const next = person.rank({ n: 6, exclude: new Set([7]) })[5];
  const told = person.whyNot(next.item, list);
  assert.equal(told.code, 'lower');
  assert.equal(told.place, 6);
  assert.ok(told.score <= told.needed);
});

test('ratings that cannot be are left out', () => {
  const model = open('gaussian');
  const odd = new Map([...somebody, [-1, 3], [1.5, 3], [99, 3], [4, NaN], [6, Infinity]]);
  assert.deepEqual(model.person(odd).predict().rating, model.person(somebody).predict().rating);
});

test('the map shows items and a person among them', () => {
  for (const kind of ['gaussian', 'ease', 'mean', 'factors', 'liked-factors', 'descent']) {
    const model = open(kind);
    const map = model.map();
    assert.equal(map.x.length, 60);
    assert.ok([...map.x, ...map.y].every(Number.isFinite), kind);
    assert.ok(map.xName && map.yName);
    const at = model.person(new Map([...somebody].map(([item]) => [item, 5]))).point();
    assert.ok(Number.isFinite(at.x) && Number.isFinite(at.y), kind);
    assert.deepEqual(model.person(new Map()).point(), { x: 0, y: 0 });
  }
});

test('erfc is that of tables', () => {
  const known = [
    [0, 1],
    [0.5, 0.4795001221869535],
    [1, 0.15729920705028513],
    [3, 2.209049699858544e-5],
  ];
  for (const [x, value] of known) {
    assert.ok(Math.abs(erfc(x) - value) < 1e-7);
    assert.ok(Math.abs(erfc(-x) - (2 - value)) < 1e-7);
  }
});

test('a hostile model is refused in plain words', () => {
  const fresh = () => structuredClone(parts('gaussian').header);
  const { body } = parts('gaussian');
  const wrong = {
    kind: (h) => {
      h.kind = 'constructor';
    },
    prototype: (h) => {
      h.kind = '__proto__';
    },
    items: (h) => {
      h.items = 1e9;
    },
    fraction: (h) => {
      h.items = 60.5;
    },
    scale: (h) => {
      h.scale = { low: 5, high: 1 };
    },
    numbers: (h) => {
      h.numbers.noise = 'much';
    },
    noise: (h) => {
      h.numbers.noise = -1;
    },
    missing: (h) => {
      h.arrays = h.arrays.filter((each) => each.name !== 'loadings');
    },
    shape: (h) => {
      h.arrays.find((each) => each.name === 'loadings').shape = [60, 1e9];
    },
    negative: (h) => {
      h.arrays[0].shape = [-60];
    },
    place: (h) => {
      h.arrays[0].at = 1e9;
    },
    crooked: (h) => {
      h.arrays[0].at = 1;
    },
    type: (h) => {
      h.arrays[0].type = 'toString';
    },
    swapped: (h) => {
      h.arrays[0].name = 'variance';
    },
    many: (h) => {
      h.arrays = Array(100).fill(h.arrays[0]);
    },
    text: (h) => {
      h.arrays = 'none';
    },
    error: (h) => {
      h.arrays[0].error = null;
    },
  };
  for (const [name, spoil] of Object.entries(wrong)) {
    const header = fresh();
    spoil(header);
    assert.throws(
      () => parseModel(packed({ header, body }), { ...items, digest: header.digest }),
      ModelError,
      name,
    );
  }
  const endless = Buffer.from(body);
  endless.writeFloatLE(Infinity, 0);
  const header = fresh();
  assert.throws(
    () => parseModel(packed({ header, body: endless }), { ...items, digest: header.digest }),
    /not finite/,
  );
  for (const cut of [0, 7, 15, 40, 400]) {
    const short = packed({ header, body }).slice(0, cut);
    assert.throws(() => parseModel(short, { ...items, digest: header.digest }), ModelError);
  }
});

test('what choices imply is refused in part or in another shape', () => {
  const { body } = parts('implied-gaussian');
  const wrong = {
    implied: (h) => h.arrays.filter((each) => each.name !== 'implied'),
    usual: (h) => h.arrays.filter((each) => each.name !== 'usual'),
    narrow: (h) => {
      h.arrays.find((each) => each.name === 'implied').shape[1] -= 1;
      return h.arrays;
    },
    short: (h) => {
      h.arrays.find((each) => each.name === 'usual').shape[0] -= 1;
      return h.arrays;
    },
  };
  for (const [name, spoil] of Object.entries(wrong)) {
    const { header } = parts('implied-gaussian');
    header.arrays = spoil(header);
    assert.throws(
      () => parseModel(packed({ header, body }), { ...items, digest: header.digest }),
      (error) => error instanceof ModelError && /array (implied|usual)/.test(error.message),
      name,
    );
  }
});

test('kinds that add neighbours go without what choices imply', () => {
  const { header, body } = parts('factor-neighbours');
  const { width } = open('factor-neighbours').kindOf;
  for (const [name, shape] of [
    ['implied', [width, width]],
    ['usual', [width]],
  ])
    header.arrays.push({ name, type: 'f32', shape, at: body.length, error: 0 });
  const ones = Buffer.from(new Float32Array(width * (width + 1)).fill(1).buffer);
  const more = packed({ header, body: Buffer.concat([body, ones]) });
  const model = parseModel(more, { ...items, digest: header.digest });
  const plain = open('factor-neighbours').person(somebody).predict();
  assert.deepEqual(model.person(somebody).predict(), plain);
});

test('neighbours that point outside the model are refused', () => {
  const { header, body } = parts('neighbourhood');
  const entry = header.arrays.find((each) => each.name === 'neighbour');
  const spoilt = Buffer.from(body);
  spoilt.writeUInt16LE(60, entry.at);
  assert.throws(
    () => parseModel(packed({ header, body: spoilt }), { ...items, digest: header.digest }),
    /outside/,
  );
});

test('a hostile catalogue is refused, and its texts stay texts', () => {
  const given = parts('gaussian');
  const { digest } = given.header;
  const wrong = [
    null,
    'not json',
    [],
    { digest },
    { ...items },
    { ...items, digest: 'other' },
    { ...items, digest, titles: ['one'] },
    { ...items, digest, ids: items.ids.slice(1) },
    { ...items, digest, tagged: items.tagged.map(() => [1e9]) },
    { ...items, digest, tagged: items.tagged.map(() => ['__proto__']) },
    { ...items, digest, years: items.years.map(() => 'soon') },
    { ...items, digest, ids: items.ids.map(() => 7) },
  ];
  for (const each of wrong) assert.throws(() => parseModel(packed(given), each), ModelError);
  const script = '<img src=x onerror=alert(1)>';
  const model = parseModel(packed(given), {
    ...items,
    digest,
    titles: items.ids.map(() => script),
  });
  assert.equal(model.items[0].title, script);
});

test('loading asks for two files beside each other, and once more if they differ', async () => {
  const given = parts('gaussian');
  const good = { ...items, digest: given.header.digest };
  const asked = [];
  let stale = true;
  const fetcher = async (url) => {
    asked.push(String(url));
    if (String(url).endsWith('catalogue')) {
      const answer = stale ? { ...good, digest: 'of the model before' } : good;
      stale = false;
      return new Response(JSON.stringify(answer));
    }
    return new Response(packed(given));
  };
  const model = await loadModel('https://here.example/deep/models/one/', { fetcher });
  assert.equal(model.items.length, 60);
  assert.deepEqual(
    [...new Set(asked)],
    [
      'https://here.example/deep/models/one/model',
      'https://here.example/deep/models/one/catalogue',
    ],
  );
  assert.equal(asked.length, 4);
  const away = async () => new Response('', { status: 503 });
  await assert.rejects(loadModel('https://here.example/', { fetcher: away }), /answered 503/);
});
