// A picture of the top of the quick start's page, for documents: node picture.mjs BUILD/podsim OUT.png
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [program, out] = process.argv.slice(2);
const source = resolve(fileURLToPath(import.meta.url), '../../..');
process.env.PODSIM_PROGRAM = resolve(program);
process.env.PODSIM_MODULES = resolve(program, '../npm/page/node_modules');
process.env.PODSIM_SHOTS = resolve(program, '../page_shots');
const { open, podsim, start, stop } = await import('./browser.mjs');

await start();
const { report } = podsim('picture', ['run', join(source, 'scenarios/quickstart/llama3-70b-v5p-pod.yaml')]);
const { page } = await open(report);
await page.setViewportSize({ width: 1180, height: 1300 });
await page.waitForTimeout(500);
await page.screenshot({ path: out });
await stop();
