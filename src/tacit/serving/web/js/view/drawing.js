/** The map on its canvas: films as points, some with names, the person among them. */

import { texts } from '../text.js';

/** @typedef {import("../home.js").Home} Home */
/** @typedef {{x: Float32Array, y: Float32Array, xName: string, yName: string}} TasteMap */

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
    this.#from = { ...this.#you, at: calm.matches ? -1 : performance.now() };
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
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const across = (x - this.#box.x) / this.#box.width;
    const up = (y - this.#box.y) / this.#box.height;
    return {
      x: this.#left + this.#zoom * (MARGIN + across * (width - 2 * MARGIN)),
      y: this.#top + this.#zoom * (height - MARGIN - up * (height - 2 * MARGIN)),
    };
  }

  #draw() {
    const { canvas, pen } = this;
    const map = this.#map;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!map || !width || !height) return;
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
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    this.#cross(width, height, colour('--line'));
    this.#crowd(map, width, height, colour('--dot'));
    this.#special(map, style, colour);
    this.#person(style, colour);
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
   * All films, one path.
   * @param {TasteMap} map
   * @param {number} width
   * @param {number} height
   * @param {string} fill
   */
  #crowd(map, width, height, fill) {
    const size = map.x.length > 10_000 ? 1.5 : map.x.length > 2000 ? 2 : 3;
    this.pen.fillStyle = fill;
    for (let row = 0; row < map.x.length; row++) {
      const { x, y } = this.#place(map.x[row] ?? 0, map.y[row] ?? 0);
      if (x > -4 && y > -4 && x < width + 4 && y < height + 4)
        this.pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }

  /**
   * Films that were rated, that are in the list, and names where there is room.
   * @param {TasteMap} map
   * @param {CSSStyleDeclaration} style
   * @param {(name: string) => string} colour
   */
  #special(map, style, colour) {
    const { pen, home } = this;
    const rated = home.rated();
    const listed = home.list.map(({ item }) => item);
    const disc = (/** @type {number} */ row, /** @type {number} */ radius) => {
      const { x, y } = this.#place(map.x[row] ?? 0, map.y[row] ?? 0);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
    };
    pen.fillStyle = colour('--ink');
    for (const row of listed) {
      disc(row, 3);
      pen.fill();
    }
    pen.strokeStyle = colour('--accent');
    pen.fillStyle = colour('--paper');
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
      style,
      colour,
    );
  }

  /**
   * @param {TasteMap} map
   * @param {number[]} first
   * @param {CSSStyleDeclaration} style
   * @param {(name: string) => string} colour
   */
  #names(map, first, style, colour) {
    const { pen, canvas } = this;
    const size = parseFloat(style.fontSize) * 0.75;
    pen.font = `${size}px ${style.fontFamily}`;
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
      if (x < 0 || y < EDGE || x > canvas.clientWidth || y > canvas.clientHeight - EDGE) continue;
      const title = short(this.home.title(row));
      const width = pen.measureText(title).width;
      const left = x + 9 + width > canvas.clientWidth ? x - 9 - width : x + 9;
      const box = {
        left: left - 3,
        right: left + width + 3,
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
      pen.fillStyle = colour(important.has(row) ? '--ink' : '--faint');
      pen.fillText(title, left, y);
    }
  }

  /** @param {CSSStyleDeclaration} style @param {(name: string) => string} colour */
  #person(style, colour) {
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
    pen.fillStyle = colour('--accent');
    pen.globalAlpha = 0.16;
    pen.beginPath();
    pen.arc(x, y, 20, 0, 7);
    pen.fill();
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(x, y, 7, 0, 7);
    pen.fill();
    pen.font = `600 ${parseFloat(style.fontSize) * 0.85}px ${style.fontFamily}`;
    pen.lineWidth = 4;
    pen.strokeStyle = colour('--paper');
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
