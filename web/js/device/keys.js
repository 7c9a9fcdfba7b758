/**
 * Keys, MACs, signatures and masks by the browser's own cryptography: sections 2, 3 and 6 of
 * `docs/protocol.md`.
 */

import { hex, joined, text, unhex, utf8 } from './wire.js';

/** @typedef {import("./wire.js").Bytes} Bytes */
/** @typedef {{mac: Bytes, mask: Bytes}} Secrets of two exchange keys */
/** @typedef {{private: CryptoKey, public: string, name: string}} OwnKey */

const { subtle } = crypto;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };
/** How a name of a key begins its digest. */
const NAMED = utf8('tacit/1 key');

/** @param {Uint8Array[]} parts */
export async function sha(...parts) {
  const whole = await new Blob(/** @type {Bytes[]} */ (parts)).arrayBuffer();
  return hex(new Uint8Array(await subtle.digest('SHA-256', whole)));
}

/** @param {Bytes} secret @param {Bytes} message */
export async function hmac(secret, message) {
  const key = await subtle.importKey('raw', secret, HMAC, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', key, message));
}

/** A MAC over parts, in digits. @param {Bytes} key @param {(string | Bytes)[]} parts */
export async function tag(key, ...parts) {
  const all = parts.map((part) => (typeof part === 'string' ? utf8(part) : part));
  return hex(await hmac(key, joined(all)));
}

/** The name of an exchange key. @param {string} key its public half, in digits */
export const nameOf = async (key) => (await sha(NAMED, unhex(key))).slice(0, 32);

/** A new key that no script can read out: its private half can be used and deleted, not copied. */
export async function newKey() {
  const pair = /** @type {CryptoKeyPair} */ (
    await subtle.generateKey({ name: 'X25519' }, false, ['deriveBits'])
  );
  const shown = hex(new Uint8Array(await subtle.exportKey('raw', pair.publicKey)));
  return { private: pair.privateKey, public: shown, name: await nameOf(shown) };
}

/** A key of known bytes, for vectors. @param {string} digits */
export async function knownKey(digits) {
  const head = '302e020100300506032b656e04220420';
  return subtle.importKey('pkcs8', unhex(head + digits), { name: 'X25519' }, false, ['deriveBits']);
}

/** @param {CryptoKey} own @param {string} other @returns {Promise<Secrets>} */
export async function exchanged(own, other) {
  const key = await subtle.importKey('raw', unhex(other), { name: 'X25519' }, false, []);
  const shared = await subtle.deriveBits({ name: 'X25519', public: key }, own, 256);
  if (!new Uint8Array(shared).some(Boolean)) throw new Error('a key that hides nothing');
  const root = await subtle.importKey('raw', shared, 'HKDF', false, ['deriveBits']);
  const one = async (/** @type {string} */ info) => {
    const how = { name: 'HKDF', hash: 'SHA-256', salt: utf8('tacit/1'), info: utf8(info) };
    return new Uint8Array(await subtle.deriveBits(how, root, 256));
  };
  return { mac: await one('mac'), mask: await one('mask') };
}

/**
 * Whether an identity signed these parts.
 * @param {string} identity @param {string} signature @param {(string | Bytes)[]} parts
 */
export async function signedBy(identity, signature, ...parts) {
  const all = parts.map((part) => (typeof part === 'string' ? utf8(part) : part));
  try {
    const key = await subtle.importKey('raw', unhex(identity), { name: 'Ed25519' }, false, [
      'verify',
    ]);
    return await subtle.verify({ name: 'Ed25519' }, key, unhex(signature), joined(all));
  } catch {
    return false;
  }
}

/**
 * The key of one device's masks in one round.
 * @param {Bytes} secret @param {Record<string, any>} told the announcement's header
 * @param {string} digest of the announcement's whole payload
 */
export const roundKey = (secret, told, digest) =>
  hmac(secret, utf8(`${told['task']} ${told['round']} ${told['nonce']} ${digest}`));

/**
 * The mask of a part: so many uniform bytes.
 * @param {Bytes} key
 * @param {string} part
 * @param {number} size
 */
export async function mask(key, part, size) {
  const own = await hmac(key, utf8(part));
  const stream = await subtle.importKey('raw', own, 'AES-CTR', false, ['encrypt']);
  const how = { name: 'AES-CTR', counter: new Uint8Array(16), length: 64 };
  return subtle.encrypt(how, stream, new Uint8Array(size));
}

/**
 * A server's card of keys, believed if its identity is the pinned one.
 * @param {Bytes} body @param {string | null} pin
 */
export async function believed(body, pin) {
  const card = JSON.parse(text(body));
  const { identity, exchange } = card;
  if (pin !== null && identity !== pin) throw new Error('the server is not the one known before');
  /** @type {Map<string, string>} */
  const keys = new Map();
  for (const one of exchange) {
    if (!(await signedBy(identity, one.signature, 'exchange', unhex(one.public))))
      throw new Error('a key that the server did not sign');
    keys.set(await nameOf(one.public), one.public);
  }
  if (!(await signedBy(identity, card.signature, 'enrolment', card.enrolment)))
    throw new Error('terms that the server did not sign');
  return { identity: String(identity), keys, enrolment: String(card.enrolment) };
}
