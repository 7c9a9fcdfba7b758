/** Views whose scripts come after the first list, or when they are wanted before that. */

import { h, put } from '../dom.js';

/** @typedef {{element: HTMLElement, enter?: () => void, leave?: () => void}} Shown */
/** @typedef {Shown & {ready?: () => Promise<any>}} Pane */

/**
 * A view in the place that it will fill.
 * @template {Shown} T
 * @param {() => Promise<T>} load
 */
export function later(load) {
  const element = h('div', { class: 'later' });
  let front = false;
  /** @type {T | null} */
  let here = null;
  /** @type {Promise<T> | null} */
  let coming = null;
  const ready = () =>
    (coming ??= load().then(
      (pane) => {
        put(element, pane.element);
        return (here = pane);
      },
      (error) => {
        coming = null; // without a network: the next wish tries again
        throw error;
      },
    ));
  const enter = async () => {
    front = true;
    await ready().catch(() => null);
    if (front) here?.enter?.();
  };
  const leave = () => {
    front = false;
    here?.leave?.();
  };
  return { element, ready, enter, leave };
}
