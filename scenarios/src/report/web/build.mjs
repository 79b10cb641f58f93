// Builds the embedded parts of podsim's pages from the packages of package-lock.json: node
// build.mjs NODE_MODULES OUT
// The plotting library and the page's own script are large, so they are compressed; the browser
// unpacks them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const [modules, out] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, 'any.js'))('esbuild');

const bundled = esbuild.buildSync({
    entryPoints: ['main.js'],
    absWorkingDir: here,  // file names in comments are relative to this folder
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2021',
    charset: 'utf8',
    legalComments: 'none',
});
const files = {
    'page.js.gz': gzipSync(bundled.outputFiles[0].contents, { level: 9 }),
    'plotly.min.js.gz': gzipSync(readFileSync(join(modules, 'plotly.js-dist-min/plotly.min.js')), { level: 9 }),
    'plotly.LICENSE': readFileSync(join(modules, 'plotly.js-dist-min/LICENSE')),
};
mkdirSync(out, { recursive: true });
let sums = '';
for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(out, name), bytes);
    sums += `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
}
writeFileSync(join(out, 'SHA256SUMS'), sums);
