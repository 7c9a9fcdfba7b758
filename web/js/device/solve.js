/** One person's own ridge solve, and small sums over her ratings. */

/**
 * Rows of public numbers, one for each item.
 * @typedef {{values: Float64Array, width: number}} Matrix
 */
/** @typedef {{items: Uint32Array, values: Float64Array, label: number}} Person */

/** @param {Float64Array} a @param {Float64Array} b */
export function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += at(a, i) * at(b, i);
  return total;
}

/** @param {ArrayLike<number>} array @param {number} place */
export const at = (array, place) => /** @type {number} */ (array[place]);

/** @param {number} value @param {number} most */
export const within = (value, most) => Math.max(-most, Math.min(most, value));

/** @param {Float64Array} values @param {number} count divides their sum */
export const mean = (values, count) => values.reduce((all, one) => all + one, 0) / count;

/** The row of an item. @param {Matrix} matrix @param {number} item */
export const row = ({ values, width }, item) => values.subarray(item * width, (item + 1) * width);

/**
 * Sum of x x'/variance (lower triangle) and of x y/variance over a person's ratings.
 * @param {Person} person @param {Float64Array} residual
 * @param {Matrix} matrix @param {Float64Array} precision
 */
export function gather(person, residual, matrix, precision) {
  const { width } = matrix;
  const gram = new Float64Array(width * width);
  const right = new Float64Array(width);
  person.items.forEach((item, cell) => {
    const x = row(matrix, item);
    for (let a = 0; a < width; a++) {
      const scaled = at(precision, item) * at(x, a);
      right[a] = at(right, a) + scaled * at(residual, cell);
      for (let b = 0; b <= a; b++)
        gram[a * width + b] = at(gram, a * width + b) + scaled * at(x, b);
    }
  });
  return { gram, right };
}

/**
 * In place: gram = L L', and right becomes L^-1 right.
 * @param {Float64Array} gram
 * @param {Float64Array} right
 */
export function factorize(gram, right) {
  const width = right.length;
  for (let a = 0; a < width; a++) {
    for (let b = 0; b <= a; b++) {
      let total = at(gram, a * width + b);
      for (let k = 0; k < b; k++) total -= at(gram, a * width + k) * at(gram, b * width + k);
      gram[a * width + b] = a === b ? Math.sqrt(total) : total / at(gram, b * width + b);
    }
    let total = at(right, a);
    for (let k = 0; k < a; k++) total -= at(gram, a * width + k) * at(right, k);
    right[a] = total / at(gram, a * width + a);
  }
}

/** In place: right becomes L'^-1 right. @param {Float64Array} gram @param {Float64Array} right */
export function substitute(gram, right) {
  const width = right.length;
  for (let a = width - 1; a >= 0; a--) {
    let total = at(right, a);
    for (let b = a + 1; b < width; b++) total -= at(gram, b * width + a) * at(right, b);
    right[a] = total / at(gram, a * width + a);
  }
}

/** L^-1 x. @param {Float64Array} gram @param {ArrayLike<number>} x */
export function forward(gram, x) {
  const width = x.length;
  const out = new Float64Array(width);
  for (let a = 0; a < width; a++) {
    let total = at(x, a);
    for (let k = 0; k < a; k++) total -= at(gram, a * width + k) * at(out, k);
    out[a] = total / at(gram, a * width + a);
  }
  return out;
}

/**
 * Adds 1 to the diagonal: the prior of a person's own vector.
 * @param {Float64Array} gram
 * @param {number} width
 */
export function withPrior(gram, width) {
  for (let a = 0; a < width; a++) gram[a * width + a] = at(gram, a * width + a) + 1;
}
