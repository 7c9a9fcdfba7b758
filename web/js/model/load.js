/** From the server's two answers, `model` and `catalogue`, to a model that people use. */

import { readCatalogue } from './catalogue.js';
import { ModelError } from './check.js';
import { readPacked } from './format.js';
import { Model } from './model.js';

export { Model, ModelError };

/** Larger answers are not read. */
const MOST_BYTES = 512 * 2 ** 20;

/**
 * The model and its catalogue as they are on the wire.
 * @param {ArrayBuffer} buffer @param {unknown} catalogueJson  parsed, or its text
 */
export function parseModel(buffer, catalogueJson) {
  return new Model(readPacked(buffer), readCatalogue(catalogueJson));
}

/**
 * @param {string | URL} base  the folder of both, with its slash: `./`, `models/NAME/`
 * @param {{signal?: AbortSignal, fetcher?: typeof fetch}} options
 */
export async function loadModel(base, { signal, fetcher = fetch } = {}) {
  const folder = new URL(base, globalThis.location?.href);
  const get = async (/** @type {string} */ name, /** @type {RequestCache} */ cache) => {
    const answer = await fetcher(new URL(name, folder), { signal, cache });
    if (!answer.ok) throw new ModelError(`the server answered ${answer.status} for its ${name}`);
    if (Number(answer.headers.get('content-length')) > MOST_BYTES)
      throw new ModelError(`the ${name} is too large`);
    return answer;
  };
  const both = async (/** @type {RequestCache} */ cache) => {
    const [model, catalogue] = await Promise.all([get('model', cache), get('catalogue', cache)]);
    return /** @type {const} */ ([await model.arrayBuffer(), await catalogue.text()]);
  };
  const [buffer, words] = await both('default');
  const catalogue = readCatalogue(words);
  const packed = readPacked(buffer);
  if (packed.header.digest === catalogue.digest) return new Model(packed, catalogue);
  // The server changed models between the two answers: once more.
  return parseModel(...(await both('reload')));
}
