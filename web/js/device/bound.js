/**
 * What one person may add to a sum: float numbers become integers whose norm is checked in
 * integers, whatever was computed before.
 */

/**
 * Lines of numbers, each for a row of the sum.
 * @typedef {{rows: ArrayLike<number>, values: Float64Array}} Lines
 */
/**
 * @typedef {object} Bound
 * @property {"l1" | "l2" | "mean"} norm a whole row's length, or one person's own mean
 * @property {number} limit
 * @property {number} steps of the grid in a unit
 * @property {number} [factor] 2 where any two answers of one person are neighbours
 */

export const STEPS = 2 ** 20;
/** Fictitious ratings in a person's own mean. */
const SHRINK = 5;

/** @param {Bound} bound how far one person can move the sum, in steps */
export function sensitivity({ norm, limit, steps, factor = 1 }) {
  const most = Math.floor(steps * limit);
  if (norm !== 'l2') return { l1: factor * most, l2: factor * most };
  return { l1: Infinity, l2: factor * Math.sqrt(Math.floor((steps * limit) ** 2)) };
}

/**
 * The contribution to a part of `size` rows, on the grid.
 * @param {Bound} bound @param {Lines} lines @param {number} size @param {number} width
 */
export function integers(bound, lines, size, width) {
  const whole = bound.norm === 'mean' ? ownMean(bound, lines) : clipped(bound, lines);
  const out = new Float64Array(size * width);
  for (let line = 0; line < lines.rows.length; line++)
    for (let column = 0; column < width; column++)
      out[Number(lines.rows[line]) * width + column] += whole[line * width + column] ?? 0;
  return out;
}

/** @param {Bound} bound @param {Lines} lines */
function clipped({ norm, limit, steps }, { values }) {
  const square = norm === 'l2';
  let size = 0;
  for (const value of values) size += square ? value * value : Math.abs(value);
  if (square) size = Math.sqrt(size);
  if (!Number.isFinite(size)) return new Float64Array(values.length);
  const factor = steps * (size > limit ? limit / size : 1);
  const whole = values.map((value) => Math.trunc(value * factor));
  const most = square ? Math.floor((steps * limit) ** 2) : Math.floor(steps * limit);
  const norms = () => whole.reduce((all, q) => all + (square ? q * q : Math.abs(q)), 0);
  // What a rounding let through is pulled toward zero until the bound holds in integers.
  while (norms() > most) whole.forEach((q, i) => (whole[i] = q - Math.sign(q)));
  return whole;
}

/** One mean in the first cell. @param {Bound} bound @param {Lines} lines */
function ownMean({ limit, steps }, { values }) {
  const top = Math.floor(steps * limit);
  let total = 0;
  for (const value of values)
    total += Math.max(-top, Math.min(top, Math.trunc(value * steps) || 0));
  const whole = new Float64Array(values.length);
  if (values.length) whole[0] = Math.trunc(total / (values.length + SHRINK));
  return whole;
}
