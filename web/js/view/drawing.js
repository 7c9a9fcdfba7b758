/** The map on its canvas: films as points, some with names, the person among them. */

import { texts } from '../text.js';

/** @typedef {import("../home.js").Home} Home */
/** @typedef {{x: Float32Array, y: Float32Array, xName: string, yName: string}} TasteMap */
/**
 * @typedef {{ink: string, faint: string, accent: string, paper: string, size: number, family: string}}
 *   Paint colours and letters of the page
 */

/** How near a pointer must be, in pixels. */
const REACH = 14;
/** Names on the map at once. */
const NAMES = 44;
/** A film beyond this share of all others would make the rest a dot: the view begins without it. */
const OUTER = 0.005;
const MARGIN = 34;
/** Above and below, where the names of the axes are, no film has its name. */
const EDGE = 30;
const MOVE = 420;
/** Points at once: more are a blot, and would hold the page up. */
const POINTS = 8000;
/** Names that are measured in one frame; the others come with the next. */
const MEASURED = 60;
/** A prime larger than any catalogue: its multiples go through all of one. */
const STRIDE = 1_000_003;
const calm = matchMedia('(prefers-reduced-motion: reduce)');

export class Drawing {
  /** @type {TasteMap | null} */
  #map = null;
  #zoom = 1;
  #left = 0;
  #top = 0;
  /** The part of the plane that the whole map shows. */
  #box = { x: 0, y: 0, width: 1, height: 1 };
  /** Where the person is, and where she is drawn on the way there. */
  #goal = { x: 0, y: 0 };
  #you = { x: 0, y: 0 };
  #from = { x: 0, y: 0, at: -1 };
  #pointed = /** @type {number | null} */ (null);
  #asked = 0;
  /** Of the canvas, in pixels of the page. */
  #width = 0;
  #height = 0;
  /** How wide names are, by film, in this font. @type {Map<number, number>} */
  #widths = new Map();
  #font = '';

  /** @param {HTMLCanvasElement} canvas @param {Home} home */
  constructor(canvas, home) {
    this.canvas = canvas;
    this.home = home;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    new ResizeObserver(() => this.#draw()).observe(canvas);
    for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'])
      matchMedia(query).addEventListener('change', () => this.draw());
  }

  /**
   * Takes a map; false where there is nothing to draw.
   * @param {TasteMap} map @param {{x: number, y: number}} you
   */
  use(map, you) {
    const across = frameOf(map.x);
    const up = frameOf(map.y);
    if (!(across.size > 0 && up.size > 0)) return false;
    this.#map = map;
    this.#box = { x: across.low, y: up.low, width: across.size, height: up.size };
    this.#goal = this.#you = you;
    this.draw();
    return true;
  }

  /** The person's ratings changed: the point sets out. @param {{x: number, y: number}} you */
  mark(you) {
    this.#goal = you;
    const still = calm.matches || (you.x === this.#you.x && you.y === this.#you.y);
    this.#from = { ...this.#you, at: still ? -1 : performance.now() };
    this.draw();
  }

  draw() {
    if (this.#asked) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.#draw();
    });
  }

  /** @param {number} dx @param {number} dy */
  shift(dx, dy) {
    this.#left += dx;
    this.#top += dy;
    this.draw();
  }

  /** @param {number} by @param {number} [x] @param {number} [y] the place that stays */
  zoom(by, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const to = Math.min(40, Math.max(0.8, this.#zoom * by));
    const change = to / this.#zoom;
    this.#left = x - (x - this.#left) * change;
    this.#top = y - (y - this.#top) * change;
    this.#zoom = to;
    this.draw();
  }

  reset() {
    this.#zoom = 1;
    this.#left = this.#top = 0;
    this.draw();
  }

  /** @param {number | null} row */
  point(row) {
    if (row === this.#pointed) return;
    this.#pointed = row;
    this.draw();
  }

  /**
   * The film at a place of the canvas.
   * @param {number} x
   * @param {number} y
   * @returns {number | null}
   */
  at(x, y) {
    if (!this.#map) return null;
    let best = null;
    let least = REACH ** 2;
    for (let row = 0; row < this.#map.x.length; row++) {
      const place = this.#place(this.#map.x[row] ?? 0, this.#map.y[row] ?? 0);
      const far = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (far < least) [best, least] = [row, far];
    }
    return best;
  }

  /**
   * The films nearest to the person that she has not rated.
   * @param {number} count
   * @returns {number[]}
   */
  nearest(count) {
    const map = this.#map;
    const you = this.#goal;
    if (!map) return [];
    const { width, height } = this.#box;
    const far = (/** @type {number} */ row) =>
      (((map.x[row] ?? 0) - you.x) / width) ** 2 + (((map.y[row] ?? 0) - you.y) / height) ** 2;
    /** @type {{row: number, far: number}[]} */
    const best = [];
    for (let row = 0; row < map.x.length; row++) {
      const distance = far(row);
      if (best.length === count && distance >= (best[count - 1]?.far ?? 0)) continue;
      if (this.home.own(row) !== null) continue;
      best.push({ row, far: distance });
      best.sort((one, other) => one.far - other.far);
      best.length = Math.min(best.length, count);
    }
    return best.map(({ row }) => row);
  }

  /** @param {number} x @param {number} y */
  #place(x, y) {
    const across = (x - this.#box.x) / this.#box.width;
    const up = (y - this.#box.y) / this.#box.height;
    return {
      x: this.#left + this.#zoom * (MARGIN + across * (this.#width - 2 * MARGIN)),
      y: this.#top + this.#zoom * (this.#height - MARGIN - up * (this.#height - 2 * MARGIN)),
    };
  }

  #draw() {
    const { canvas, pen } = this;
    const map = this.#map;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!map || !width || !height) return;
    [this.#width, this.#height] = [width, height];
    const sharp = Math.min(3, devicePixelRatio || 1);
    if (
      canvas.width !== Math.round(width * sharp) ||
      canvas.height !== Math.round(height * sharp)
    ) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
    }
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const of = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const paint = {
      ink: of('--ink'),
      faint: of('--faint'),
      accent: of('--accent'),
      paper: of('--paper'),
      size: parseFloat(style.fontSize),
      family: style.fontFamily,
    };
    this.#cross(width, height, of('--line'));
    this.#crowd(map, width, height, of('--dot'));
    this.#special(map, paint);
    this.#person(paint);
  }

  /** @param {number} width @param {number} height @param {string} line */
  #cross(width, height, line) {
    const centre = this.#place(0, 0);
    this.pen.strokeStyle = line;
    this.pen.lineWidth = 1;
    this.pen.beginPath();
    this.pen.moveTo(0, Math.round(centre.y) + 0.5);
    this.pen.lineTo(width, Math.round(centre.y) + 0.5);
    this.pen.moveTo(Math.round(centre.x) + 0.5, 0);
    this.pen.lineTo(Math.round(centre.x) + 0.5, height);
    this.pen.stroke();
  }

  /**
   * All films, or as many of them as can be told apart.
   * @param {TasteMap} map
   * @param {number} width
   * @param {number} height
   * @param {string} fill
   */
  #crowd(map, width, height, fill) {
    const size = map.x.length > 10_000 ? 1.5 : map.x.length > 2000 ? 2 : 3;
    this.pen.fillStyle = fill;
    const count = map.x.length;
    // From all over the catalogue, and the same ones while nothing moves.
    const stride = count > POINTS ? STRIDE : 1;
    let drawn = 0;
    for (let step = 0; step < count && drawn < POINTS; step++) {
      const row = (step * stride) % count;
      const { x, y } = this.#place(map.x[row] ?? 0, map.y[row] ?? 0);
      if (!(x > -4 && y > -4 && x < width + 4 && y < height + 4)) continue;
      this.pen.fillRect(x - size / 2, y - size / 2, size, size);
      drawn++;
    }
  }

  /**
   * Films that were rated, that are in the list, and names where there is room.
   * @param {TasteMap} map @param {Paint} paint
   */
  #special(map, paint) {
    const { pen, home } = this;
    const rated = home.rated();
    const listed = home.list.map(({ item }) => item);
    const disc = (/** @type {number} */ row, /** @type {number} */ radius) => {
      const { x, y } = this.#place(map.x[row] ?? 0, map.y[row] ?? 0);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
    };
    pen.fillStyle = paint.ink;
    for (const row of listed) {
      disc(row, 3);
      pen.fill();
    }
    pen.strokeStyle = paint.accent;
    pen.fillStyle = paint.paper;
    pen.lineWidth = 2;
    const { low, high } = home.about.scale;
    for (const { row, rating } of rated.slice(0, 2000)) {
      disc(row, 3 + (3 * (rating.rating - low)) / Math.max(1e-9, high - low));
      pen.fill();
      pen.stroke();
    }
    if (this.#pointed !== null) {
      disc(this.#pointed, 6);
      pen.stroke();
    }
    this.#names(
      map,
      [
        ...(this.#pointed === null ? [] : [this.#pointed]),
        ...rated.slice(0, 30).map(({ row }) => row),
        ...listed,
      ],
      paint,
    );
  }

  /**
   * @param {TasteMap} map
   * @param {number[]} first
   * @param {Paint} paint
   */
  #names(map, first, paint) {
    const { pen } = this;
    const size = paint.size * 0.75;
    const font = `${size}px ${paint.family}`;
    if (font !== this.#font) this.#widths.clear();
    this.#font = pen.font = font;
    let left = MEASURED;
    pen.textBaseline = 'middle';
    /** @type {{left: number, top: number, right: number, bottom: number}[]} */
    const taken = [];
    const you = this.#place(this.#goal.x, this.#goal.y);
    taken.push({
      left: you.x - 14,
      right: you.x + 12 + 3 * size,
      top: you.y - size,
      bottom: you.y + size,
    });
    const important = new Set(first);
    // Others fill the room, always the same ones first, so that names do not flicker.
    const step = Math.max(1, Math.floor(map.x.length / 997)) * 2 + 1;
    const others = Array.from(
      { length: Math.min(400, map.x.length) },
      (_, place) => (place * step * 7) % map.x.length,
    );
    for (const row of [...important, ...others]) {
      if (taken.length >= NAMES + important.size) break;
      const { x, y } = this.#place(map.x[row] ?? 0, map.y[row] ?? 0);
      if (x < 0 || y < EDGE || x > this.#width || y > this.#height - EDGE) continue;
      const title = short(this.home.title(row));
      if (!this.#widths.has(row)) {
        if (left-- <= 0) break;
        this.#widths.set(row, pen.measureText(title).width);
      }
      const width = this.#widths.get(row) ?? 0;
      const start = x + 9 + width > this.#width ? x - 9 - width : x + 9;
      const box = {
        left: start - 3,
        right: start + width + 3,
        top: y - size * 0.8,
        bottom: y + size * 0.8,
      };
      if (
        taken.some(
          (other) =>
            box.left < other.right &&
            other.left < box.right &&
            box.top < other.bottom &&
            other.top < box.bottom,
        )
      )
        continue;
      taken.push(box);
      pen.fillStyle = important.has(row) ? paint.ink : paint.faint;
      pen.fillText(title, start, y);
    }
    if (left < 0) this.draw();
  }

  /** @param {Paint} paint */
  #person(paint) {
    const goal = this.#goal;
    const passed = this.#from.at < 0 ? 1 : Math.min(1, (performance.now() - this.#from.at) / MOVE);
    const eased = 1 - (1 - passed) ** 3;
    this.#you = {
      x: this.#from.x + (goal.x - this.#from.x) * eased,
      y: this.#from.y + (goal.y - this.#from.y) * eased,
    };
    if (passed === 1) this.#you = goal;
    const { x, y } = this.#place(this.#you.x, this.#you.y);
    const { pen } = this;
    pen.fillStyle = paint.accent;
    pen.globalAlpha = 0.16;
    pen.beginPath();
    pen.arc(x, y, 20, 0, 7);
    pen.fill();
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(x, y, 7, 0, 7);
    pen.fill();
    pen.font = `600 ${paint.size * 0.85}px ${paint.family}`;
    pen.lineWidth = 4;
    pen.strokeStyle = paint.paper;
    pen.strokeText(texts.map.you, x + 12, y);
    pen.fillText(texts.map.you, x + 12, y);
    if (passed < 1) this.draw();
  }
}

/**
 * The range of an axis without its few farthest films; 0 is always in it.
 * @param {Float32Array} values
 */
function frameOf(values) {
  const sorted = Float32Array.from(values).filter(Number.isFinite).sort();
  const out = Math.floor(sorted.length * OUTER);
  const low = Math.min(0, sorted[out] ?? 0);
  const high = Math.max(0, sorted[sorted.length - 1 - out] ?? 0);
  return { low, size: high - low };
}

/** @param {string} title */
function short(title) {
  return title.length > 26 ? `${title.slice(0, 25)}…` : title;
}
