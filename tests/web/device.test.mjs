// The page as a device against what Python's own device adds (spec/vectors, by spec/device.py), and
// against the bytes of the protocol (spec/federation.py).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const at = '../../web/js/device/';
const { Agreed } = await import(`${at}task.js`);
const { integers } = await import(`${at}bound.js`);
const { epsilonOf } = await import(`${at}account.js`);
const { State } = await import(`${at}rounds.js`);
const keys = await import(`${at}keys.js`);
const wire = await import(`${at}wire.js`);
const { choiceBound } = await import(`${at}choice.js`);
const { Inversion } = await import(`${at}noise.js`);
const { fixed, ratio } = await import(`${at}exact.js`);

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../spec/vectors/${name}.json`, import.meta.url), 'utf8'));
const device = read('device');
const bytes = read('federation');
/** Of the page's own accountant, beside Python's. */
const CLOSE = 1e-7;

for (const [name, facts] of Object.entries(device.tasks)) {
  const agreed = new Agreed(wire.utf8(facts.document));
  const items = agreed.task.items.ids.length;

  test(`${name}: rounds and layouts follow from the task`, async () => {
    assert.deepEqual(
      agreed.rounds.map((round) => round.name),
      facts.rounds.map((round) => round.name),
    );
    for (const [index, round] of facts.rounds.entries()) {
      assert.deepEqual(agreed.layouts[index], round.layouts);
      assert.equal((await keys.sha(agreed.told(index))).slice(0, 32), round.print);
    }
  });

  test(`${name}: what each person adds is Python's, to the bit`, () => {
    let told = 0;
    for (const [index, round] of agreed.rounds.entries()) {
      const { state, given } = facts.rounds[index];
      const known = new State(wire.tensors(wire.unhex(state)), round.needs, items);
      for (const [place, own] of facts.people.entries()) {
        const person = {
          label: own.label,
          items: Uint32Array.from(own.items),
          values: Float64Array.from(own.values),
        };
        const lines = round.contribute(person, known, agreed.act(round, round.parts[0]));
        for (const part of round.parts) {
          const found = part.bound
            ? integers(part.bound, lines[part.name], part.size, part.width)
            : lines[part.name].values;
          const wanted = given[place][part.name];
          assert.deepEqual(
            Array.from(found, (q) => q + 0),
            wanted,
            `${round.name}/${part.name}`,
          );
          told += wanted.length;
        }
      }
    }
    assert.ok(told > 5, 'somebody adds something');
  });

  test(`${name}: it costs what Python says, or more`, () => {
    if (facts.price === null) return assert.equal(agreed.acts.size, 0);
    const found = epsilonOf(agreed.cost, 1e-5);
    assert.ok(found >= facts.price * (1 - CLOSE), `${found} is below ${facts.price}`);
    const pure = [...agreed.acts.values()].some((act) => !/gauss|skellam/.test(act.kind));
    assert.ok(found <= facts.price * (pure ? 1.5 : 1 + CLOSE), `${found}, not ${facts.price}`);
  });
}

test('less noise than covers the contribution is refused', () => {
  for (const name of ['popularity', 'popularity pure', 'bias by devices']) {
    const document = JSON.parse(device.tasks[name].document);
    document.events[0].sensitivity *= 0.99;
    assert.throws(() => new Agreed(wire.utf8(JSON.stringify(document))), /does not cover/);
    document.events.pop();
    assert.throws(() => new Agreed(wire.utf8(JSON.stringify(document))), /not those/);
  }
});

test('keys, MACs, signatures', async () => {
  for (const one of bytes.keys) {
    const secrets = await keys.exchanged(await keys.knownKey(one.private), one.with);
    assert.equal(wire.hex(secrets.mac), one.mac);
    assert.equal(wire.hex(secrets.mask), one.mask);
    assert.equal(await keys.nameOf(one.public), one.name);
  }
  const { macs } = bytes;
  const key = wire.unhex(macs.key);
  assert.equal(await keys.tag(key, ...macs.parts.map(wire.unhex)), macs.tag);
  assert.equal(await keys.tag(key, 'head', 'POST', '/v1/join', '130'), macs.head);
  assert.equal(await keys.tag(key, 'request', 'POST', '/v1/join', 'body'), macs.request);
  assert.ok(await keys.signedBy(macs.identity, macs.signed, 'task', 'document'));
  assert.ok(!(await keys.signedBy(macs.identity, macs.signed, 'task', 'documents')));
});

test('frames and states', () => {
  const { header, payload } = wire.unframed(wire.unhex(bytes.frames.upload));
  assert.equal(wire.hex(wire.frame(header, payload)), bytes.frames.upload);
  const state = wire.tensors(wire.unhex(bytes.frames.state));
  assert.deepEqual([...state.get('level').values], [1.5, -2]);
  assert.deepEqual([...state.get('people').values], [3]);
});

test('words without gaps', () => {
  for (const bits of [8, 13, 31, 32, 33, 50, 64]) {
    const words = Array.from({ length: 9 }, (_, k) =>
      BigInt.asUintN(bits, 0x9e3779b97f4a7c15n * BigInt(k + 1)),
    );
    const given = bits > 32 ? BigUint64Array.from(words) : Float64Array.from(words, Number);
    const found = wire.packed(given, bits);
    const whole = words.reduce((all, word, k) => all | (word << BigInt(bits * k)), 0n);
    const wanted = Array.from({ length: Math.ceil((9 * bits) / 8) }, (_, k) =>
      Number((whole >> BigInt(8 * k)) & 255n),
    );
    assert.deepEqual([...found], wanted, `${bits} bits`);
  }
});

test('masks', async () => {
  for (const one of bytes.masks) {
    const key = await keys.roundKey(wire.unhex(one.secret), one, one.told);
    const size = one.bits > 32 ? 8 : 4;
    const stream = await keys.mask(key, one.part, one.words.length * size);
    const found = size === 4 ? new Uint32Array(stream) : new BigUint64Array(stream);
    const low = Array.from(found, (word) => BigInt.asUintN(one.bits, BigInt(word)));
    // JSON rounds long words: so does this.
    assert.deepEqual(low.map(Number), one.words.map(Number));
  }
});

test('choices and Poisson tables are those of Python', () => {
  for (const [epsilon, choices, favoured, bound] of device.choice)
    assert.equal(String(choiceBound({ epsilon, choices, favoured })), bound);
  for (const { mean, first, lower, upper } of device.poisson) {
    const table = new Inversion((p) => fixed(ratio(mean), p));
    assert.equal(Number(table.first), first);
    assert.deepEqual(
      table.cells.map((cell) => String(cell.lower)),
      lower,
    );
    const most = 2n ** 64n - 1n;
    const seen = table.cells.map(({ upper: end }) => String(end < most ? end : most));
    assert.deepEqual(seen, upper);
  }
});
