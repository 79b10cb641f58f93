// scenarios/src/report/bundle holds what `make pages` makes of the lock file and of web/: compared unpacked, since versions of zlib pack
// differently.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

const page = join(process.env.PODSIM_SOURCE_DIR, 'scenarios/src/report');

test('the bundle is what its lock file and web/ make', () => {
    const made = mkdtempSync(join(tmpdir(), 'bundle-'));
    try {
        execFileSync(process.execPath, [join(page, 'web/build.mjs'), process.env.PODSIM_MODULES, made]);
        const kept = join(page, 'bundle');
        assert.deepEqual(readdirSync(kept).sort(), readdirSync(made).sort());
        for (const name of readdirSync(made).filter((each) => each !== 'SHA256SUMS')) {
            const content = (folder) => {
                const bytes = readFileSync(join(folder, name));
                return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
            };
            assert.ok(content(kept).equals(content(made)), `${name} is another one: run make pages`);
        }
    } finally {
        rmSync(made, { recursive: true });
    }
});

test('the checksums are those of the files', () => {
    const lines = readFileSync(join(page, 'bundle/SHA256SUMS'), 'utf8').trim().split('\n');
    for (const line of lines) {
        const [sum, name] = line.split('  ');
        const bytes = readFileSync(join(page, 'bundle', name));
        assert.equal(createHash('sha256').update(bytes).digest('hex'), sum, name);
    }
    assert.equal(lines.length, readdirSync(join(page, 'bundle')).length - 1);
});
