/** The steps of a rating scale, and other scales brought onto it. */

/** @typedef {{low: number, high: number}} Scale */

/** More values than this are drawn as half stars. */
const WHOLE_STARS = 6;
const MOST_VALUES = 10;

/**
 * The values that a person can give, lowest first.
 * @param {Scale} scale
 * @param {boolean} likesOnly
 * @returns {number[]}
 */
export function valuesOf({ low, high }, likesOnly) {
  if (likesOnly) return [high];
  const step = stepOf({ low, high });
  const count = Math.min(Math.round((high - low) / step), MOST_VALUES - 1);
  return Array.from({ length: count + 1 }, (_, place) => low + (place * (high - low)) / count);
}

/** @param {Scale} scale */
function stepOf({ low, high }) {
  if (low % 1 !== 0 && high <= 5) return 0.5;
  return high - low <= MOST_VALUES - 1
    ? Math.max(1, (high - low) / (MOST_VALUES - 1))
    : (high - low) / (MOST_VALUES - 1);
}

/** Values to one drawn star. @param {number} count of values */
export function perStar(count) {
  return count > WHOLE_STARS ? 2 : 1;
}

/** The nearest value that the scale has. @param {number} rating @param {number[]} values */
export function nearest(rating, values) {
  return values.reduce(
    (best, value) => (Math.abs(value - rating) < Math.abs(best - rating) ? value : best),
    values[0] ?? rating,
  );
}

/**
 * A rating of another scale that ends at `most` stars.
 * @param {number} rating
 * @param {number} most
 * @param {number[]} values
 */
export function carried(rating, most, values) {
  return nearest((rating / most) * (values.at(-1) ?? most), values);
}

/**
 * The least rating that counts as liking: three quarters of the scale, as the program has it.
 * @param {Scale} scale
 */
export function likedFrom({ low, high }) {
  return low + 0.75 * (high - low);
}
