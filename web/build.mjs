/**
 * Builds the page that a server sends, from the sources beside this file: `scripts/page` runs it.
 * Arguments: the folder to fill, and where esbuild is.
 *
 * A browser gets few files, since on a cold load eighty small answers take longer than all that the
 * page then does. The page has four scripts. A module of theirs exists once, because some hold
 * state: it is in the first script that needs it, and a later script imports it from there.
 * esbuild's own splitting would put every shared set of modules into one more file.
 */

import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [OUT, PACKAGES] = process.argv.slice(2).map((name) => path.resolve(name));
const esbuild = createRequire(path.join(PACKAGES, 'package.json'))('esbuild');
const WEB = path.dirname(fileURLToPath(import.meta.url));

/** Scripts of the page, in the order in which they come. */
const PAGE = ['js/helper.js', 'js/app.js', 'js/rest.js', 'js/device/view.js'];
/** Scripts of other threads: each has all that it needs. */
const THREADS = ['js/worker.js', 'js/device/desk.js'];
const SERVICE = 'sw.js';
const STYLE = 'style/page.css';
/** Sent as they are written. */
const COPIED = ['index.html', 'manifest.webmanifest', 'icons'];
/** Kinds of file that a browser copies at its first visit. */
const OFFLINE = ['.css', '.html', '.js', '.svg', '.webmanifest'];
/** Not in the first copy: only who takes part in a training needs it. It is copied when used. */
const LATER = 'js/device/';

const OPTIONS = {
  absWorkingDir: WEB,
  bundle: true,
  charset: 'utf8',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  minify: true,
  platform: 'browser',
  target: 'es2022',
};

/** From one file to another, as an import says it. @param {string} from @param {string} to */
function relative(from, to) {
  const found = path.posix.relative(path.posix.dirname(from), to);
  return found.startsWith('.') ? found : `./${found}`;
}

/** The modules that a script needs, itself included. @param {string} script */
async function modulesOf(script) {
  // What is imported later, by `import()`, is a script of its own.
  const later = ({ kind }) =>
    kind === 'dynamic-import' ? { path: 'later', external: true } : null;
  const plugin = { name: 'later', setup: (build) => build.onResolve({ filter: /./ }, later) };
  const options = { ...OPTIONS, entryPoints: [script], write: false, metafile: true };
  const { metafile } = await esbuild.build({ ...options, plugins: [plugin] });
  return Object.keys(metafile.inputs).sort();
}

/** The names that a module exports. @param {string} module */
async function exportsOf(module) {
  const options = { ...OPTIONS, bundle: false, entryPoints: [module], write: false };
  const { metafile } = await esbuild.build({ ...options, metafile: true, outdir: OUT });
  return Object.values(metafile.outputs)[0].exports;
}

/** Writes the page's own scripts. */
async function writePage() {
  /** The script that holds a module. @type {Map<string, string>} */
  const homes = new Map();
  /** Modules that later scripts take from it, with a number each. @type {Map<string, number>} */
  const shared = new Map();
  for (const script of PAGE)
    for (const module of await modulesOf(script)) {
      if (!homes.has(module)) homes.set(module, script);
      else if (!shared.has(module)) shared.set(module, shared.size);
    }
  /** One name for an export of a module, where modules share a script. */
  const alias = (module, name) => `${name}_${shared.get(module)}`;
  for (const script of PAGE) {
    /** Modules of earlier scripts become lists of what to take from there. */
    const taking = (build) => {
      build.onResolve({ filter: /^\./ }, ({ path: wanted, resolveDir, kind, namespace }) => {
        if (namespace === 'taken') return { path: wanted, external: true };
        const module = path.relative(WEB, path.resolve(resolveDir, wanted));
        const home = homes.get(module);
        if (kind === 'dynamic-import') return { path: relative(script, module), external: true };
        return home && home !== script ? { path: module, namespace: 'taken' } : null;
      });
      build.onLoad({ filter: /./, namespace: 'taken' }, async ({ path: module }) => {
        const names = (await exportsOf(module)).map((name) => `${alias(module, name)} as ${name}`);
        const contents = `export { ${names} } from '${relative(script, homes.get(module))}';`;
        return { contents };
      });
    };
    const shown = [`export * from './${script}';`];
    for (const module of shared.keys()) {
      if (homes.get(module) !== script) continue;
      const names = (await exportsOf(module)).map((name) => `${name} as ${alias(module, name)}`);
      shown.push(`export { ${names} } from './${module}';`);
    }
    await esbuild.build({
      ...OPTIONS,
      stdin: { contents: shown.join('\n'), resolveDir: WEB },
      outfile: path.join(OUT, script),
      plugins: [{ name: 'taking', setup: taking }],
    });
  }
}

/** Writes the script of another thread. @param {string} script @param {object} [define] */
async function writeThread(script, define = {}) {
  // `js/base.js` finds the page by where it stands itself.
  const here = `new URL("${relative(script, 'js/base.js')}",import.meta.url).href`;
  await esbuild.build({
    ...OPTIONS,
    banner: { js: `const BASE_MODULE=${here};` },
    define: { ...define, 'import.meta.url': 'BASE_MODULE' },
    entryPoints: [script],
    outfile: path.join(OUT, script),
  });
}

/** Of a text or of bytes. @param {string | Buffer} body */
const sha256 = (body) => createHash('sha256').update(body).digest('hex');

/** Writes what a browser copies for later, and returns a digest of it. */
async function writeList() {
  const every = (await readdir(OUT, { recursive: true })).filter((name) =>
    OFFLINE.includes(path.extname(name)),
  );
  const lines = [];
  for (const name of every.sort())
    lines.push(`${name} ${sha256(await readFile(path.join(OUT, name)))}`);
  const listed = every
    .filter((name) => !name.startsWith(LATER))
    .map((name) => (name === 'index.html' ? './' : name));
  await writeFile(path.join(OUT, 'files.json'), `${JSON.stringify(listed, null, 2)}\n`);
  return sha256(lines.join('\n')).slice(0, 12);
}

await mkdir(OUT, { recursive: true });
for (const name of COPIED)
  await cp(path.join(WEB, name), path.join(OUT, name), { recursive: true });
await esbuild.build({
  ...OPTIONS,
  entryPoints: [STYLE],
  external: ['*.svg'],
  outfile: path.join(OUT, STYLE),
});
await writePage();
for (const script of THREADS) await writeThread(script);
const version = await writeList();
await writeThread(SERVICE, { VERSION: JSON.stringify(version) });
