/** The wire of a federation, to the byte: sections 1, 2, 5 and 10 of `docs/protocol.md`. */

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {Record<string, any>} Header */
/**
 * How a part of a round is sent and summed.
 * @typedef {object} Layout
 * @property {string} name
 * @property {number} size rows
 * @property {number} width words of a row
 * @property {number} bits of a word, from 8 to 64
 * @property {boolean} sparse
 * @property {boolean} report
 * @property {string} law of what each server adds
 * @property {number} spread
 * @property {string} printed
 */
/** @typedef {{shape: number[], values: Float64Array}} Tensor */

const MAGIC = 'TACIT1';
/** Bytes of the longest header that is read, and of the longest state. */
const MOST_HEADER = 1 << 20;
const MOST_STATE = 64 << 20;

/** @param {string} text @returns {Bytes} */
export const utf8 = (text) => /** @type {Bytes} */ (new TextEncoder().encode(text));

/** @param {Uint8Array} bytes */
export const text = (bytes) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/** @param {string} digits @returns {Bytes} */
export function unhex(digits) {
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Error('not hexadecimal digits');
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
    Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16),
  );
}

/** One after another. @param {Uint8Array[]} parts @returns {Bytes} */
export function chained(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Each part after its length: what MACs and signatures are made over.
 * @param {Uint8Array[]} parts
 */
export const joined = (parts) => chained(parts.flatMap((part) => [little(8, part.length), part]));

/** @param {number} size @param {number} value */
function little(size, value) {
  const out = new Uint8Array(size);
  new DataView(out.buffer).setUint32(0, value, true);
  return out;
}

/**
 * @param {Header} header @param {Uint8Array} [payload]
 * @param {Record<string, bigint>} [long] members that no float holds exactly; 0 in the header
 */
export function frame(header, payload = new Uint8Array(), long = {}) {
  let json = JSON.stringify({ version: 1, ...header });
  for (const [name, value] of Object.entries(long))
    json = json.replace(`"${name}":0`, `"${name}":${value}`);
  const told = utf8(json);
  return chained([utf8(MAGIC), little(4, told.length), told, payload]);
}

/** @param {Bytes} body @returns {{header: Header, payload: Bytes}} */
export function unframed(body) {
  const start = MAGIC.length + 4;
  if (body.length < start || text(body.subarray(0, MAGIC.length)) !== MAGIC)
    throw new Error('not a frame of this protocol');
  const length = new DataView(body.buffer, body.byteOffset).getUint32(MAGIC.length, true);
  if (length > Math.min(MOST_HEADER, body.length - start)) throw new Error('a truncated frame');
  const header = JSON.parse(text(body.subarray(start, start + length)));
  if (header?.version !== 1) throw new Error('another version of the protocol');
  return { header, payload: body.slice(start + length) };
}

/**
 * A layout with all its members, in their order.
 * @param {Partial<Layout>} given
 * @returns {Layout}
 */
export function layout(given) {
  const whole = { name: '', size: 0, width: 1, bits: 32, sparse: false, report: false };
  return /** @type {Layout} */ ({ ...whole, law: '', spread: 0, printed: '', ...given });
}

/**
 * Words of so many bits one after another, lowest bit first.
 * @param {Float64Array | BigUint64Array} words floats where a word has at most 32 bits
 * @param {number} bits
 */
export function packed(words, bits) {
  const out = new Uint8Array(packedSize(words.length, bits));
  let at = 0;
  let have = 0;
  if (words instanceof Float64Array) {
    let rest = 0; // below 2^39
    for (const word of words) {
      rest += word * 2 ** have;
      for (have += bits; have >= 8; have -= 8) {
        out[at++] = rest % 256;
        rest = Math.floor(rest / 256);
      }
    }
    if (have) out[at] = rest;
    return out;
  }
  let rest = 0n;
  for (const word of words) {
    rest |= word << BigInt(have);
    for (have += bits; have >= 8; have -= 8) {
      out[at++] = Number(rest & 255n);
      rest >>= 8n;
    }
  }
  if (have) out[at] = Number(rest);
  return out;
}

/** Bytes of so many words. @param {number} count @param {number} bits */
export const packedSize = (count, bits) => Math.ceil((count * bits) / 8);

/** What the print of a round's layouts is made of. @param {Layout[]} layouts */
export const layoutsText = (layouts) => utf8(layouts.map((one) => JSON.stringify(one)).join('\n'));

/** How safetensors calls the numbers that a state may have, and how they are read. */
const READ = /** @type {const} */ ({
  F64: [8, 'getFloat64'],
  F32: [4, 'getFloat32'],
  I32: [4, 'getInt32'],
  U32: [4, 'getUint32'],
  U8: [1, 'getUint8'],
});

/**
 * Public state: named arrays of finite numbers. What is not is refused, whatever a person rated.
 * @param {Bytes} payload
 * @returns {Map<string, Tensor>}
 */
export function tensors(payload) {
  if (payload.length < 8 || payload.length > MOST_STATE) throw new Error('state out of range');
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const start = 8 + Number(view.getBigUint64(0, true));
  const found = new Map();
  for (const [name, facts] of Object.entries(JSON.parse(text(payload.subarray(8, start))))) {
    const { dtype, shape, data_offsets: at } = /** @type {any} */ (facts);
    const [size, get] = READ[/** @type {keyof typeof READ} */ (dtype)];
    const count = shape.reduce((/** @type {number} */ all, /** @type {number} */ n) => all * n, 1);
    if (at[1] - at[0] !== count * size || start + at[1] > payload.length)
      throw new Error('state that does not parse');
    const values = Float64Array.from({ length: count }, (_, i) =>
      view[get](start + at[0] + i * size, true),
    );
    if (!values.every(Number.isFinite)) throw new Error('state with numbers that are none');
    found.set(name, { shape, values });
  }
  return found;
}
