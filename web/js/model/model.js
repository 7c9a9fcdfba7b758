/** A published model as the page uses it. */

import { CentredNeighbours } from './centred.js';
import { ModelError } from './check.js';
import { Descent } from './descent.js';
import { Ease } from './ease.js';
import { Factors } from './factors.js';
import { Features } from './features.js';
import { Gaussian } from './gaussian.js';
import { KeptNeighbours } from './kept.js';
import { LikedFactors } from './liked.js';
import { sum } from './linear.js';
import { drawMap } from './map.js';
import { OwnMean } from './mean.js';
import { Neighbourhood } from './neighbours.js';
import { Person } from './person.js';
import { top } from './rank.js';
import { SparseDescent } from './sparse.js';
import { FactorNeighbours } from './staged.js';

/** @typedef {import('./kind.js').Kind} Kind */
/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {new (tables: Tables, numbers: Record<string, number>, items: number) => Kind} Maker */

const KINDS = /** @type {Record<string, Maker>} */ ({
  mean: OwnMean,
  gaussian: Gaussian,
  ease: Ease,
  centred: CentredNeighbours,
  'factor-neighbours': FactorNeighbours,
  'kept-neighbours': KeptNeighbours,
  neighbourhood: Neighbourhood,
  factors: Factors,
  'liked factors': LikedFactors,
  descent: Descent,
  'sparse-descent': SparseDescent,
});

export class Model {
  /**
   * @param {ReturnType<typeof import('./format.js').readPacked>} packed
   * @param {ReturnType<typeof import('./catalogue.js').readCatalogue>} catalogue
   */
  constructor({ header, tables, error }, catalogue) {
    if (catalogue.items.length !== header.items)
      throw new ModelError('the catalogue is of another model');
    if (catalogue.digest !== header.digest)
      throw new ModelError('the catalogue is of another model');
    if (!Object.hasOwn(KINDS, header.kind))
      throw new ModelError('this page does not know this kind of model');
    this.name = header.name;
    this.method = header.method;
    this.kind = header.kind;
    this.digest = header.digest;
    this.scale = header.scale;
    /** The lowest rating that is a like, of a model of likes. */
    this.like = header.positive;
    this.positive = header.positive !== null;
    this.items = catalogue.items;
    this.error = error;
    this.middle = (this.scale.low + this.scale.high) / 2;
    this.unit = (this.scale.high - this.scale.low) / 4;
    this.kindOf = new KINDS[header.kind](tables, header.numbers, header.items);
    this.shown = new Features(catalogue.items, catalogue.tags, catalogue.tagged);
    this.features = this.shown.names;
    const weight = tables.get('weight')?.data;
    this.weight =
      weight instanceof Float32Array && weight.length === header.items ? weight : undefined;
    const baseline = this.kindOf.baseline;
    /** What everybody would be told of an average item, on the inner scale. */
    this.meanBaseline = baseline?.length ? sum(baseline) / baseline.length : 0;
  }

  /** @param {Map<number, number>} ratings  of rows of `items`, on `scale` */
  person(ratings) {
    return new Person(this, ratings);
  }

  /**
   * The items most like this one; none where the model knows none.
   * @param {number} item @param {number} n
   */
  similar(item, n = 10) {
    if (!this.items[item]) return [];
    const closeness = this.kindOf.similar(item);
    return top(closeness, n, (other) => other !== item).map((other) => ({
      item: other,
      score: closeness[other],
    }));
  }

  map() {
    return this.atlas.map;
  }

  /** @param {number} value */
  inside(value) {
    return Math.min(Math.max(value, this.scale.low), this.scale.high);
  }

  /** @type {import('./map.js').Atlas | undefined} */
  #atlas;

  get atlas() {
    this.#atlas ??= drawMap(this.kindOf.axes(), this.shown, this.weight);
    return this.#atlas;
  }

  /** @type {ReturnType<Features['view']> | null | undefined} */
  #view;

  get view() {
    const axes = this.kindOf.axes();
    if (this.#view === undefined)
      this.#view = axes && this.shown.width ? this.shown.view(axes) : null;
    return this.#view;
  }
}
