/** The packed form of a model (docs: serving/compact.py), read with every length checked. */

import { ModelError, count, finite, list, record, text } from './check.js';

/** @typedef {import('./check.js').Tables} Tables */
/**
 * @typedef {object} Header
 * @property {string} name
 * @property {string} method
 * @property {string} kind
 * @property {string} digest
 * @property {number} items
 * @property {{low: number, high: number}} scale
 * @property {number | null} positive  ratings of this much and more are likes
 * @property {Record<string, number>} numbers
 */

const MAGIC = 'TACITWEB';
const VERSION = 1;
const START = 16;
/** Larger models are for other machines than a browser. */
const MOST = {
  items: 1_000_000,
  header: 1 << 20,
  entries: 1 << 27,
  axes: 3,
  arrays: 32,
  numbers: 64,
  value: 1e12,
};
const WIDTH = /** @type {Record<string, number>} */ ({ f32: 4, f16: 2, i8: 1, u16: 2, u32: 4 });

/**
 * @param {ArrayBuffer} buffer
 * @returns {{header: Header, tables: Tables, error: Record<string, number>}}
 */
export function readPacked(buffer) {
  const raw = rawHeader(buffer);
  const start = START + raw.length;
  const numbers = /** @type {Record<string, number>} */ ({});
  for (const [name, value] of Object.entries(record(raw.facts.numbers, 'numbers')).slice(
    0,
    MOST.numbers,
  )) {
    numbers[name] = finite(value, name);
  }
  const scale = record(raw.facts.scale, 'scale');
  const low = finite(scale.low, 'scale', -1e6, 1e6);
  const high = finite(scale.high, 'scale', low + 1e-6, 1e6);
  const liked = raw.facts.positive;
  const header = {
    name: text(raw.facts.name, 'name', 200),
    method: text(raw.facts.method, 'method', 200),
    kind: text(raw.facts.kind, 'kind', 200),
    digest: text(raw.facts.digest, 'digest', 200),
    items: count(raw.facts.items, 'number of items', MOST.items),
    scale: { low, high },
    positive: liked === null || liked === undefined ? null : finite(liked, 'like'),
    numbers,
  };
  /** @type {Tables} */
  const tables = new Map();
  const error = /** @type {Record<string, number>} */ ({});
  for (const each of list(raw.facts.arrays, 'list of arrays', MOST.arrays)) {
    const entry = record(each, 'array');
    const name = text(entry.name, 'array', 100);
    tables.set(name, table(buffer, start, entry, name));
    error[name] = finite(entry.error, `error of ${name}`, 0);
  }
  return { header, tables, error };
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {{facts: Record<string, unknown>, length: number}}
 */
function rawHeader(buffer) {
  if (buffer.byteLength < START) throw new ModelError('the model is cut short');
  const view = new DataView(buffer);
  for (let i = 0; i < MAGIC.length; i++) {
    if (view.getUint8(i) !== MAGIC.charCodeAt(i)) throw new ModelError('this is no packed model');
  }
  if (view.getUint32(8, true) !== VERSION) throw new ModelError('the model is of another version');
  const length = view.getUint32(12, true);
  if (length > MOST.header || START + length > buffer.byteLength) {
    throw new ModelError('the model is cut short');
  }
  try {
    const words = new TextDecoder('utf-8', { fatal: true }).decode(
      new Uint8Array(buffer, START, length),
    );
    return { facts: record(JSON.parse(words), 'header'), length };
  } catch (fault) {
    if (fault instanceof ModelError) throw fault;
    throw new ModelError("the model's header does not parse");
  }
}

/**
 * @param {ArrayBuffer} buffer @param {number} start @param {Record<string, unknown>} entry
 * @param {string} name
 * @returns {import('./check.js').Table}
 */
function table(buffer, start, entry, name) {
  const type = text(entry.type, `type of ${name}`, 8);
  if (!Object.hasOwn(WIDTH, type)) throw new ModelError(`the array ${name} has an unknown type`);
  const shape = list(entry.shape, `shape of ${name}`, MOST.axes).map((length) =>
    count(length, `shape of ${name}`, MOST.entries),
  );
  const entries = shape.reduce((a, b) => a * b, 1);
  if (entries > MOST.entries) throw new ModelError(`the array ${name} is too large`);
  const at = start + count(entry.at, `place of ${name}`, 2 ** 40);
  if (at % WIDTH[type] || at + entries * WIDTH[type] > buffer.byteLength) {
    throw new ModelError(`the array ${name} is cut short`);
  }
  if (type === 'u16')
    return { data: Uint32Array.from(new Uint16Array(buffer, at, entries)), shape };
  if (type === 'u32') return { data: new Uint32Array(buffer, at, entries), shape };
  const data =
    type === 'i8'
      ? levels(new Int8Array(buffer, at, entries), shape, entry.steps, name)
      : type === 'f16'
        ? halves(new Uint16Array(buffer, at, entries))
        : new Float32Array(buffer, at, entries);
  for (let i = 0; i < data.length; i++) {
    if (!(Math.abs(data[i]) < MOST.value)) throw new ModelError(`the array ${name} is not finite`);
  }
  return { data, shape };
}

/**
 * @param {Int8Array} whole @param {number[]} shape @param {unknown} given @param {string} name
 * @returns {Float32Array}
 */
function levels(whole, shape, given, name) {
  const columns = shape[1] ?? 0;
  const steps = Float32Array.from(
    list(given, `steps of ${name}`, MOST.entries).map((step) => finite(step, `steps of ${name}`)),
  );
  if (shape.length !== 2 || steps.length !== columns) {
    throw new ModelError(`the array ${name} has a wrong shape`);
  }
  const out = new Float32Array(whole.length);
  for (let i = 0, column = 0; i < whole.length; i++) {
    out[i] = whole[i] * steps[column];
    column = column + 1 === columns ? 0 : column + 1;
  }
  return out;
}

/** @type {Float32Array | undefined} */
let known;

/**
 * @param {Uint16Array} bits
 * @returns {Float32Array}
 */
function halves(bits) {
  known ??= Float32Array.from({ length: 65_536 }, (_, code) => half(code));
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = known[bits[i]];
  return out;
}

/**
 * One float16: sign, 5 bits of exponent, 10 of fraction.
 * @param {number} code
 */
function half(code) {
  const sign = code & 0x8000 ? -1 : 1;
  const exponent = (code >> 10) & 31;
  const fraction = code & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent
    ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024)
    : sign * 2 ** -24 * fraction;
}
