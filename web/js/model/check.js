/** What a model from the network must satisfy before any of it is used. */

/** A model or catalogue that cannot be used; the message is plain and safe to show. */
export class ModelError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'ModelError';
  }
}

/** @typedef {Float32Array | Uint32Array} Numbers */
/** @typedef {{data: Numbers, shape: number[]}} Table */
/** @typedef {Map<string, Table>} Tables */

/**
 * @param {unknown} value @param {string} what @param {number} low @param {number} high
 * @returns {number}
 */
export function finite(value, what, low = -1e30, high = 1e30) {
  if (typeof value !== 'number' || !(value >= low && value <= high)) {
    throw new ModelError(`the model's ${what} is not a number in range`);
  }
  return value;
}

/**
 * @param {unknown} value @param {string} what @param {number} high
 * @returns {number}
 */
export function count(value, what, high) {
  const number = finite(value, what, 0, high);
  if (!Number.isInteger(number)) throw new ModelError(`the model's ${what} is no count`);
  return number;
}

/**
 * @param {unknown} value @param {string} what
 * @returns {Record<string, unknown>}
 */
export function record(value, what) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ModelError(`the model's ${what} is missing`);
  }
  return /** @type {Record<string, unknown>} */ (value);
}

/**
 * @param {unknown} value @param {string} what @param {number} most
 * @returns {unknown[]}
 */
export function list(value, what, most) {
  if (!Array.isArray(value) || value.length > most) {
    throw new ModelError(`the model's ${what} is missing or too long`);
  }
  return value;
}

/**
 * @param {unknown} value @param {string} what @param {number} most
 * @returns {string}
 */
export function text(value, what, most = 1000) {
  if (typeof value !== 'string') throw new ModelError(`the model's ${what} is no text`);
  return value.length > most ? value.slice(0, most) : value;
}

/**
 * An array of floats of this shape; -1 stands for any length.
 * @param {Tables} tables @param {string} name @param {number[]} shape
 * @returns {{data: Float32Array, shape: number[]}}
 */
export function floats(tables, name, shape) {
  const table = shaped(tables, name, shape);
  if (!(table.data instanceof Float32Array))
    throw new ModelError(`the array ${name} is no numbers`);
  return { data: table.data, shape: table.shape };
}

/**
 * An array of places, each below `below`.
 * @param {Tables} tables @param {string} name @param {number} below @param {number[]} shape
 * @returns {Uint32Array}
 */
export function places(tables, name, below, shape = [-1]) {
  const table = shaped(tables, name, shape);
  if (table.data.length === 0) return new Uint32Array(0);
  if (!(table.data instanceof Uint32Array)) throw new ModelError(`the array ${name} is no places`);
  for (let i = 0; i < table.data.length; i++) {
    if (table.data[i] >= below) throw new ModelError(`the array ${name} points outside the model`);
  }
  return table.data;
}

/**
 * @param {Tables} tables @param {string} name @param {number[]} shape
 * @returns {Table}
 */
function shaped(tables, name, shape) {
  const table = tables.get(name);
  if (!table) throw new ModelError(`the model has no array ${name}`);
  const fits =
    table.shape.length === shape.length &&
    shape.every((length, axis) => length < 0 || length === table.shape[axis]);
  if (!fits) throw new ModelError(`the array ${name} has a wrong shape`);
  return table;
}

/**
 * @param {Record<string, number>} numbers @param {string} name @param {number} low
 * @returns {number}
 */
export function number(numbers, name, low = -1e30) {
  if (!Object.hasOwn(numbers, name)) throw new ModelError(`the model has no number ${name}`);
  return finite(numbers[name], name, low);
}
