/**
 * A dialog over the page: the browser keeps the focus inside, Escape and a press beside it close
 * it.
 */

import { h } from '../dom.js';
import { texts } from '../text.js';

/**
 * Opens a dialog; it is taken out of the document when it closes.
 * @param {string} title @param {string} kind @param {...import("../dom.js").Child} content
 */
export function modal(title, kind, ...content) {
  const close = h(
    'button',
    { class: 'close', type: 'button', 'aria-label': texts.film.close },
    '×',
  );
  const id = `dialog-${kind}`;
  const inside = h(
    'div',
    { class: 'inside' },
    close,
    h('h2', { id }, h('bdi', null, title)),
    ...content,
  );
  const dialog = h('dialog', { class: kind, 'aria-labelledby': id }, inside);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('pointerdown', (event) => event.target === dialog && dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  inside.scrollTop = 0;
  return { close: () => dialog.close(), dialog, inside };
}
