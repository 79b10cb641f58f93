// Packs the page into a C++ file, as texts: node build.mjs NODE_MODULES OUT.cpp
// The plotting library and the page's own script are large, so they are compressed; the browser unpacks them.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const [modules, out] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, 'any.js'))('esbuild');

const bundled = esbuild.buildSync({
    entryPoints: [join(here, 'main.js')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2021',
    charset: 'utf8',
    legalComments: 'none',
});
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString('base64');
const parts = {
    page_template: readFileSync(join(here, 'template.html'), 'utf8'),
    page_style: readFileSync(join(here, 'page.css'), 'utf8'),
    page_unpacker: readFileSync(join(here, 'unpack.js'), 'utf8'),
    page_script: packed(bundled.outputFiles[0].contents),
    page_library: packed(readFileSync(join(modules, 'plotly.js-dist-min/plotly.min.js'))),
};

// Raw strings of at most 32 KiB each, beside each other: one text.
const literal = (text) => (text.match(/[^]{1,32000}/gu) ?? ['']).map((piece) => `R"podsim(${piece})podsim"`).join('\n');
const functions = Object.entries(parts).map(
    ([name, text]) =>
        `std::string_view ${name}() {\n    return std::string_view(${literal(text)}, ${Buffer.byteLength(text)});\n}\n`,
);
writeFileSync(
    out,
    `// Made by scenarios/page/web/build.mjs.
#include "scenarios/page/page_parts.h"

namespace podsim::scenarios {

${functions.join('\n')}
}  // namespace podsim::scenarios
`,
);
