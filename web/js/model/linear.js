/** Small dense linear algebra on typed arrays; matrices are square, row by row. */

/** @typedef {Float32Array | Float64Array} Vector */

/**
 * Sum of a[i + k] b[j + k] over k below n.
 * @param {Vector} a @param {number} i @param {Vector} b @param {number} j @param {number} n
 */
export function dot(a, i, b, j, n) {
  let even = 0;
  let odd = 0;
  let k = 0;
  for (; k + 3 < n; k += 4) {
    even += a[i + k] * b[j + k] + a[i + k + 2] * b[j + k + 2];
    odd += a[i + k + 1] * b[j + k + 1] + a[i + k + 3] * b[j + k + 3];
  }
  for (; k < n; k++) even += a[i + k] * b[j + k];
  return even + odd;
}

/** @param {Vector} values */
export function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

/**
 * The identity times `scale`.
 * @param {number} n @param {number} scale
 */
export function identity(n, scale = 1) {
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) out[i * n + i] = scale;
  return out;
}

/**
 * In place: the lower triangle becomes L with A = L L'. False where A is not positive definite.
 * @param {Float64Array} a @param {number} n
 */
export function cholesky(a, n) {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const rest = a[i * n + j] - dot(a, i * n, a, j * n, j);
      if (i !== j) a[i * n + j] = rest / a[j * n + j];
      else if (rest > 0) a[i * n + i] = Math.sqrt(rest);
      else return false;
    }
  }
  return true;
}

/**
 * Solves L L' x = b in place.
 * @param {Float64Array} l @param {number} n @param {Float64Array} b
 */
export function substitute(l, n, b) {
  for (let i = 0; i < n; i++) b[i] = (b[i] - dot(l, i * n, b, 0, i)) / l[i * n + i];
  for (let i = n - 1; i >= 0; i--) {
    let rest = b[i];
    for (let k = i + 1; k < n; k++) rest -= l[k * n + i] * b[k];
    b[i] = rest / l[i * n + i];
  }
  return b;
}

/**
 * L^-1, lower triangle, of the lower triangle L.
 * @param {Float64Array} l @param {number} n
 */
export function lowerInverse(l, n) {
  const out = new Float64Array(n * n);
  for (let j = 0; j < n; j++) {
    out[j * n + j] = 1 / l[j * n + j];
    for (let i = j + 1; i < n; i++) {
      let rest = 0;
      for (let k = j; k < i; k++) rest -= l[i * n + k] * out[k * n + j];
      out[i * n + j] = rest / l[i * n + i];
    }
  }
  return out;
}

/**
 * M'M for a lower triangle M: with M = L^-1 the inverse of L L'.
 * @param {Float64Array} m @param {number} n
 */
export function squared(m, n) {
  const out = new Float64Array(n * n);
  for (let k = 0; k < n; k++) {
    for (let i = 0; i <= k; i++) {
      const left = m[k * n + i];
      for (let j = 0; j <= i; j++) out[i * n + j] += left * m[k * n + j];
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
  return out;
}

/**
 * A x.
 * @param {Vector} a @param {Vector} x @param {number} rows @param {number} columns
 */
export function times(a, x, rows, columns) {
  const out = new Float64Array(rows);
  for (let i = 0; i < rows; i++) out[i] = dot(a, i * columns, x, 0, columns);
  return out;
}

/**
 * The two leading eigenvectors of a symmetric matrix, by orthogonal iteration; signs are fixed.
 * @param {Float64Array} a @param {number} n
 * @returns {[Float64Array, Float64Array]}
 */
export function leading(a, n) {
  /** @type {Float64Array} */
  let x = Float64Array.from({ length: n }, (_, i) => 1 + 1 / (1 + i));
  /** @type {Float64Array} */
  let y = Float64Array.from({ length: n }, (_, i) => (i % 2 ? -1 : 1) / (1 + i));
  for (let step = 0; step < 300; step++) {
    x = unit(times(a, x, n, n));
    const next = times(a, y, n, n);
    const along = dot(next, 0, x, 0, n);
    for (let i = 0; i < n; i++) next[i] -= along * x[i];
    y = unit(next);
  }
  return [x, y];
}

/** @param {Float64Array} x */
function unit(x) {
  const length = Math.sqrt(dot(x, 0, x, 0, x.length)) || 1;
  for (let i = 0; i < x.length; i++) x[i] /= length;
  return x;
}

/**
 * The inverse of any regular matrix, by elimination with pivots; numbers that are not finite where
 * it is singular.
 * @param {Float64Array} matrix @param {number} n
 */
export function inverse(matrix, n) {
  const a = matrix.slice();
  const out = identity(n);
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(a[row * n + column]) > Math.abs(a[pivot * n + column])) pivot = row;
    }
    const scale = a[pivot * n + column];
    for (const part of [a, out]) {
      for (let k = 0; k < n; k++) {
        const upper = part[pivot * n + k];
        part[pivot * n + k] = part[column * n + k];
        part[column * n + k] = upper / scale;
      }
    }
    for (let row = 0; row < n; row++) {
      if (row === column) continue;
      const times = a[row * n + column];
      for (const part of [a, out]) {
        for (let k = 0; k < n; k++) part[row * n + k] -= times * part[column * n + k];
      }
    }
  }
  return out;
}
