/** Epsilon in odds: how sure somebody can become, drawn as a curve that one can move along. */

import { attribute, h, s, write } from '../dom.js';
import { odds, outward } from '../model/statement.js';
import { chance, number, percent, texts } from '../text.js';

const SIDE = 240;
const STEPS = 60;

/**
 * @param {unknown} epsilon @param {unknown} delta
 * @param {import("../model/statement.js").Asked} about  what the odds are of
 */
export function oddsPanel(epsilon, delta, about) {
  const title = h('h2', { id: 'odds-title' }, texts.promise.odds);
  if (typeof epsilon !== 'number' || !(epsilon >= 0)) {
    return h(
      'section',
      { class: 'odds none', 'aria-labelledby': 'odds-title' },
      title,
      h('p', null, texts.promise.noEpsilon),
    );
  }
  const chanceOf = typeof delta === 'number' && delta > 0 ? delta : 0;
  const { fails } = odds(epsilon, chanceOf, 0.5);
  const slider = h('input', {
    type: 'range',
    class: 'line',
    min: 1,
    max: 99,
    step: 1,
    value: 50,
    id: 'prior',
  });
  const outcome = h('output', { for: 'prior' });
  const point = s('circle', { r: 6, class: 'here' });
  const gain = s('line', { class: 'gain' });
  const chart = s(
    'svg',
    { viewBox: `-34 -12 ${SIDE + 46} ${SIDE + 46}`, role: 'img', class: 'curve' },
    s('path', { d: band(epsilon, chanceOf), class: 'band' }),
    s('line', { x1: 0, y1: SIDE, x2: SIDE, y2: 0, class: 'equal' }),
    s('path', { d: curve(epsilon, chanceOf), class: 'most' }),
    s('rect', { x: 0, y: 0, width: SIDE, height: SIDE, class: 'box' }),
    gain,
    point,
    s('text', { x: SIDE / 2, y: SIDE + 26, class: 'name' }, texts.promise.axisBefore),
    s(
      'text',
      { x: -SIDE / 2, y: -16, transform: 'rotate(-90)', class: 'name' },
      texts.promise.axisAfter,
    ),
  );
  const show = () => {
    const before = Number(slider.value) / 100;
    const { least, most } = odds(epsilon, chanceOf, before);
    const [x, y] = [before * SIDE, (1 - most) * SIDE];
    for (const [name, value] of Object.entries({ cx: x, cy: y })) attribute(point, name, value);
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: SIDE - x, y2: y }))
      attribute(gain, name, value);
    const digits = most > 0.995 || least < 0.005 ? 1 : 0;
    const atMost = percent(outward(most, digits, 'most'), digits);
    const atLeast = percent(outward(least, digits, 'least'), digits);
    write(outcome, texts.promise.after(percent(before), atMost, atLeast));
    attribute(chart, 'aria-label', texts.promise.chart(percent(before), atMost));
    attribute(slider, 'aria-valuetext', percent(before));
  };
  slider.addEventListener('input', show);
  show();
  return h(
    'section',
    { class: 'odds', 'aria-labelledby': 'odds-title' },
    h(
      'div',
      null,
      title,
      h(
        'p',
        null,
        texts.promise.oddsLead(
          number(epsilon, epsilon < 10 ? 2 : 0)
            .replace(/([.,]\d*?)0+$/, '$1')
            .replace(/[.,]$/, ''),
          texts.promise.suspected[about],
        ),
      ),
      h('label', { for: 'prior' }, texts.promise.before),
      slider,
      outcome,
      fails > 0 ? h('p', { class: 'note' }, texts.promise.delta(chance(fails))) : null,
    ),
    chart,
  );
}

/** @param {number} epsilon @param {number} delta @param {"most" | "least"} side */
function points(epsilon, delta, side) {
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const before = step / STEPS;
    const after = odds(epsilon, delta, before)[side];
    return `${(before * SIDE).toFixed(1)} ${((1 - after) * SIDE).toFixed(1)}`;
  });
}

/** @param {number} epsilon @param {number} delta */
function curve(epsilon, delta) {
  return `M${points(epsilon, delta, 'most').join('L')}`;
}

/** @param {number} epsilon @param {number} delta */
function band(epsilon, delta) {
  return `${curve(epsilon, delta)}L${points(epsilon, delta, 'least').reverse().join('L')}Z`;
}
