/** What a promise means for one person, and whether it is the signer's. */

/** What stands before a statement where it is signed. */
const DOMAIN = new TextEncoder().encode('tacit statement 1\0');

/**
 * Whether an Ed25519 signature over a statement of exactly these bytes is of this key. False also where any of the
 * three is malformed; throws only where the browser cannot check such signatures at all.
 * @param {Uint8Array} bytes  the statement as it was signed
 * @param {Uint8Array | string} signature  64 bytes, or their hex
 * @param {Uint8Array | string} key  the public key: 32 bytes, or their hex
 * @returns {Promise<boolean>}
 */
export async function verify(bytes, signature, key) {
  const [signed, raw] = [octets(signature), octets(key)];
  if (signed?.length !== 64 || raw?.length !== 32) return false;
  const message = new Uint8Array([...DOMAIN, ...bytes]);
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) throw new Error('this page cannot check signatures: it needs https or this machine');
  try {
    const given = await subtle.importKey('raw', copy(raw), { name: 'Ed25519' }, false, ['verify']);
    return await subtle.verify({ name: 'Ed25519' }, given, copy(signed), message);
  } catch (fault) {
    if (fault instanceof DOMException && fault.name === 'DataError') return false; // no such key
    throw fault;
  }
}

/** In a buffer of its own, as the browser's cryptography wants. @param {Uint8Array} bytes */
function copy(bytes) {
  return new Uint8Array(bytes);
}

/**
 * @param {Uint8Array | string} given
 * @returns {Uint8Array | null}
 */
function octets(given) {
  if (typeof given !== 'string') return given;
  if (given.length % 2 || !/^[0-9a-f]*$/i.test(given)) return null;
  return Uint8Array.from({ length: given.length / 2 }, (_, i) =>
    parseInt(given.slice(2 * i, 2 * i + 2), 16),
  );
}

/** @typedef {"user" | "rating" | "value" | "records"} Asked */

/** How a statement begins to say that devices noise what they tell. */
const RECORDS = 'any two records';

/**
 * What odds are about: whether the unit was used, or which records are a person's where everybody
 * is seen to take part. Never a whole person where ratings are protected one at a time.
 * @param {Record<string, any>} statement
 * @returns {Asked}
 */
export function asked(statement) {
  if (String(statement['neighbours'] ?? '').startsWith(RECORDS)) return 'records';
  const unit = statement['unit'];
  return unit === 'user' || unit === 'value' ? unit : 'rating';
}

/**
 * A belief is bounded but for outcomes of the noise of this chance, or of ten times delta where
 * that is more, unless said otherwise: the rule of tacit.ledger.account.odds.
 */
const FAILS = 1e-4;

/**
 * What somebody who was `prior` sure that a person is in the data can believe after seeing a model.
 *
 * With L the log of how much likelier what was seen is with the person than without, the promise
 * says E[(1 - e^(epsilon - L))+] <= delta, so P(L > epsilon + t) <= delta / (1 - e^-t). Here t is
 * chosen so that this chance is `fails`, and Bayes' rule moves the odds by at most e^(epsilon + t).
 * `right` bounds how often any test of "in the data or not" is right, failures included.
 * @param {number} epsilon @param {number} delta @param {number} prior  from 0 to 1
 * @param {number} fails
 * @returns {{least: number, most: number, fails: number, right: number}}
 */
export function odds(epsilon, delta, prior, fails = Math.max(FAILS, 10 * delta)) {
  const sure = Math.min(Math.max(prior, 0), 1);
  const loss = worstLoss(epsilon, delta, fails);
  const other = (1 - delta) / (1 + Math.exp(epsilon));
  return {
    least: moved(sure, -loss),
    most: moved(sure, loss),
    fails: delta > 0 ? fails : 0,
    right: Math.max(1 - other, sure * delta + 1 - sure, sure + (1 - sure) * delta),
  };
}

/**
 * A share as it is told of a bound: rounded outward, so that it is never told tighter than it is.
 * @param {number} share @param {number} digits  of the percentage
 * @param {"most" | "least"} side
 */
export function outward(share, digits, side) {
  const steps = 100 * 10 ** digits;
  const slack = 1e-9; // of a step: what is whole stays so
  const most = Math.ceil(share * steps - slack);
  const least = Math.floor(share * steps + slack);
  return (side === 'most' ? most : least) / steps;
}

/** @param {number} epsilon @param {number} delta @param {number} fails */
function worstLoss(epsilon, delta, fails) {
  if (!(delta > 0)) return epsilon;
  return delta < fails && fails < 1 ? epsilon - Math.log1p(-delta / fails) : Infinity;
}

/** A belief after its odds were moved by e^size. @param {number} sure @param {number} size */
function moved(sure, size) {
  if (sure === 0 || sure === 1) return sure;
  return 1 / (1 + ((1 - sure) / sure) * Math.exp(-size));
}
