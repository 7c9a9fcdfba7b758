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
  /** @type {Promise<T> | null} */
  let coming = null;
  const ready = () =>
    (coming ??= load().then(
      (pane) => {
        put(element, pane.element);
        return pane;
      },
      (error) => {
        coming = null; // without a network: the next wish tries again
        throw error;
      },
    ));
  const enter = async () => {
    front = true;
    const pane = await ready().catch(() => null);
    if (front) pane?.enter?.();
  };
  const leave = async () => {
    front = false;
    (await coming?.catch(() => null))?.leave?.();
  };
  return { element, ready, enter, leave };
}
