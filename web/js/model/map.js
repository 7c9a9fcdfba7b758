/** Two axes of a model, for a map of tastes; named where a public feature goes along with one. */

import { dot, leading } from './linear.js';

/** A feature names an axis if it goes along with it this far (a correlation). */
const ALIGNED = 0.5;

/**
 * @typedef {{x: Float32Array, y: Float32Array, xName: string, yName: string}} TasteMap
 * @typedef {object} Atlas
 * @property {TasteMap} map
 * @property {(vector: Float64Array | undefined) => {x: number, y: number}} place
 */

/**
 * @param {import('./kind.js').Axes | null} axes @param {import('./features.js').Features} features
 * @param {Float32Array | undefined} weight
 * @returns {Atlas}
 */
export function drawMap(axes, features, weight) {
  const size = axes ? axes.width - axes.skip : 0;
  if (!axes || size < 2) return plainMap(features, weight);
  const { rows, width, skip } = axes;
  const count = features.items;
  const mean = new Float64Array(size);
  for (let i = 0; i < count; i++)
    for (let a = 0; a < size; a++) mean[a] += rows[i * width + skip + a] / count;
  const moments = new Float64Array(size * size);
  const row = new Float64Array(size);
  for (let i = 0; i < count; i++) {
    for (let a = 0; a < size; a++) row[a] = rows[i * width + skip + a] - mean[a];
    for (let a = 0; a < size; a++)
      for (let b = 0; b < size; b++) moments[a * size + b] += row[a] * row[b];
  }
  const directions = leading(moments, size);
  const lines = directions.map((direction, k) => {
    const offset = dot(direction, 0, mean, 0, size);
    const along = Float32Array.from(
      { length: count },
      (_, i) => dot(rows, i * width + skip, direction, 0, size) - offset,
    );
    const found = nameAxis(along, features, `taste ${k + 1}`);
    if (found.flip)
      along.forEach((value, i) => {
        along[i] = -value;
      });
    const spread = Math.sqrt(dot(along, 0, along, 0, count) / Math.max(count, 1));
    const sign = found.flip ? -1 : 1;
    // A taste is N(0, I) beforehand: in units of the items' spread it stands among them.
    return {
      along,
      name: found.name,
      sign,
      scale: axes.inItems ? 1 : spread,
      offset: axes.inItems ? offset : 0,
      direction,
    };
  });
  const [first, second] = lines;
  return {
    map: { x: first.along, y: second.along, xName: first.name, yName: second.name },
    place: (vector) => {
      if (!vector) return { x: 0, y: 0 };
      const at = lines.map(
        (line) =>
          line.sign * line.scale * (dot(vector, skip, line.direction, 0, size) - line.offset),
      );
      return { x: at[0], y: at[1] };
    },
  };
}

/**
 * @param {Float32Array} along @param {import('./features.js').Features} features
 * @param {string} otherwise
 */
function nameAxis(along, features, otherwise) {
  const count = features.items;
  const total = dot(along, 0, along, 0, count);
  const cross = new Float64Array(features.width);
  const square = new Float64Array(features.width);
  const { start, column, value } = features;
  for (let i = 0; i < count; i++) {
    for (let cell = start[i]; cell < start[i + 1]; cell++) {
      cross[column[cell]] += value[cell] * along[i];
      square[column[cell]] += value[cell] ** 2;
    }
  }
  let best = { name: otherwise, flip: false, share: ALIGNED };
  for (let f = 0; f < features.width; f++) {
    const spread = square[f] - count * features.mean[f] ** 2;
    const share = cross[f] / Math.sqrt(Math.max(spread * total, 1e-30));
    if (Math.abs(share) > best.share)
      best = { name: features.names[f], flip: share < 0, share: Math.abs(share) };
  }
  return best;
}

/**
 * Of a model without axes: how well known an item is, and its year.
 * @param {import('./features.js').Features} features @param {Float32Array | undefined} weight
 * @returns {Atlas}
 */
function plainMap(features, weight) {
  const x = Float32Array.from({ length: features.items }, (_, i) =>
    Math.log1p(Math.max(weight?.[i] ?? 0, 0)),
  );
  const year = features.names.indexOf('year');
  const y = new Float32Array(features.items);
  for (let i = 0; i < features.items; i++) {
    for (let cell = features.start[i]; cell < features.start[i + 1]; cell++) {
      if (features.column[cell] === year) y[i] = features.value[cell];
    }
  }
  return { map: { x, y, xName: 'popularity', yName: 'year' }, place: () => ({ x: 0, y: 0 }) };
}
