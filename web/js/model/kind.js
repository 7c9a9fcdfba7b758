/**
 * How one person uses the shared arrays: what every kind of model answers.
 *
 * Inside, ratings are on the inner scale (mid-scale 0, ends -2 and 2), items are catalogue rows.
 *
 * @typedef {object} Own
 * @property {Int32Array} items
 * @property {Float64Array} values
 *
 * @typedef {object} State  one person's
 * @property {Float64Array} mean  expected rating of every item
 * @property {Float64Array} sd  of a new rating around it
 * @property {(item: number) => {baseline: number, own: Float64Array}} explain  adds up to the mean
 * @property {Float64Array} [scores]  what lists go by where a rating is not the point
 * @property {Float64Array} [vector]  the person among the axes
 * @property {(used: (index: number) => boolean) => Float64Array} [part]  from some own ratings
 * @property {Float64Array} [covariance]
 *
 * @typedef {object} Axes
 * @property {Float32Array} rows
 * @property {number} width
 * @property {number} skip  columns that all items share
 * @property {boolean} [inItems]  a person's vector is a place among the items, not a taste for them
 *
 * @typedef {object} Kind
 * @property {'rating' | 'popularity' | 'score'} ranksBy
 * @property {(own: Own) => State} fold
 * @property {(item: number) => Float64Array} similar  closeness of every item
 * @property {() => Axes | null} axes
 * @property {Float32Array} [baseline]
 * @property {Float64Array} [lean]  what the order of a list adds to the expected rating
 */

export {};
