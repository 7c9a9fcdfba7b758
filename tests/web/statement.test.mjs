// What epsilon means in odds, and whether a statement is the signer's.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';

import { asked, odds, outward, verify } from '../../web/js/model/statement.js';
import { texts } from '../../web/texts/en.js';

test('half sure becomes 55 % sure at epsilon 0.2', () => {
  const told = odds(0.2, 0, 0.5);
  assert.ok(Math.abs(told.most - 0.549834) < 1e-6);
  assert.ok(Math.abs(told.least - 0.450166) < 1e-6);
  assert.equal(told.fails, 0);
  assert.ok(Math.abs(told.right - told.most) < 1e-12);
});

test('delta widens the belief a little and is the chance to be right all the same', () => {
  const pure = odds(1, 0, 0.5);
  const approximate = odds(1, 1e-6, 0.5);
  assert.ok(approximate.most > pure.most && approximate.most < pure.most + 0.003);
  assert.equal(approximate.fails, 1e-4);
  assert.equal(odds(1, 0.1, 0.5).most, 1);
  assert.ok(odds(1, 1e-3, 0.5).most < 0.76);
  assert.ok(Math.abs(odds(1, 0.1, 0.5).right - (Math.E + 0.1) / (1 + Math.E)) < 1e-12);
});

test('certainty stays certainty, and a large epsilon promises nothing', () => {
  assert.equal(odds(1, 0, 0).most, 0);
  assert.equal(odds(1, 0, 1).least, 1);
  assert.equal(odds(2000, 0, 0.5).most, 1);
  assert.equal(odds(Infinity, 0, 0.5).least, 0);
});

test('a signature is of these bytes and this key, or it is not', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const bytes = new TextEncoder().encode('{"epsilon":1}');
  const domain = new TextEncoder().encode('tacit statement 1\0');
  const signature = sign(null, Buffer.concat([domain, bytes]), privateKey);
  assert.equal(await verify(bytes, signature, key), true);
  assert.equal(await verify(bytes, signature.toString('hex'), key.toString('hex')), true);
  assert.equal(await verify(new TextEncoder().encode('{"epsilon":2}'), signature, key), false);
  const other = generateKeyPairSync('ed25519')
    .publicKey.export({ type: 'spki', format: 'der' })
    .subarray(-32);
  assert.equal(await verify(bytes, signature, other), false);
  assert.equal(await verify(bytes, signature.subarray(1), key), false);
  assert.equal(await verify(bytes, 'not hex', key), false);
});

test('odds are told of what is protected, and of no whole person where that is a rating', () => {
  const told = (/** @type {Record<string, string>} */ statement) =>
    texts.promise.suspected[asked(statement)];
  assert.match(told({ unit: 'user', neighbours: 'one person' }), /person’s ratings are in/);
  assert.match(told({ unit: 'rating', neighbours: 'one cell' }), /^one certain rating/);
  assert.match(told({ unit: 'value', neighbours: 'the value' }), /has a certain value/);
  assert.match(told({ unit: 'user', neighbours: 'any two records of one' }), /not others/);
  assert.match(told({}), /^one certain rating/); // never more than is promised
});

test('both bounds of a belief hold, each but for the chance that is told', () => {
  // Two outcomes of chance c, one for and one against: a mechanism that attains both.
  const [epsilon, delta] = [0.5, 1e-5];
  const { fails, most } = odds(epsilon, delta, 0.5);
  const loss = Math.log(most / (1 - most));
  const with_ = fails + fails * Math.exp(-loss);
  assert.ok(with_ > fails); // so not both together but for that chance
  assert.match(texts.promise.delta('1 in 10,000'), /^Each of/);
});

test('a bound is rounded outward', () => {
  assert.equal(outward(0.731, 0, 'most'), 0.74);
  assert.equal(outward(0.269, 0, 'least'), 0.26);
  assert.equal(outward(0.55, 0, 'most'), 0.55);
  assert.equal(outward(0.9991, 1, 'most'), 1);
});
