// A headless Chromium that opens pages of podsim and keeps what went wrong.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { PODSIM_PROGRAM, PODSIM_MODULES, PODSIM_SHOTS } = process.env;
const { chromium } = createRequire(join(PODSIM_MODULES, 'any.js'))('playwright-core');

export const kMostBytes = 3_000_000;
const kWide = { width: 1280, height: 900 };
const kNarrow = { width: 390, height: 844 };
const folder = mkdtempSync(join(tmpdir(), 'podsim.page.'));
mkdirSync(PODSIM_SHOTS, { recursive: true });

/// Runs podsim with these arguments, `--report` and, where it has that, `--json`; texts of YAML become files.
export function podsim(kind, args, { json = true, files = {} } = {}) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const report = join(folder, `${kind}.html`);
    const result = join(folder, `${kind}.json`);
    const run = spawnSync(PODSIM_PROGRAM, [...args, '--report', report, ...(json ? ['--json', result] : [])], {
        cwd: folder,
        encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
    return { report, bytes: statSync(report).size, json: json ? JSON.parse(readFileSync(result, 'utf8')) : undefined };
}

let browser;
export async function start() {
    browser = await chromium.launch({
        executablePath: process.env.PODSIM_CHROMIUM ?? '/usr/bin/chromium',
        // As root, without a GPU.
        args: [
            '--no-sandbox',
            '--use-angle=swiftshader',
            '--enable-unsafe-swiftshader',
            '--ignore-gpu-blocklist',
            '--disable-dev-shm-usage',
        ],
    });
}
export async function stop() {
    await browser.close();
    rmSync(folder, { recursive: true });
}

/// The page of a report, drawn. What is wrong is kept in `wrong`.
export async function open(report) {
    const context = await browser.newContext({ colorScheme: 'light', viewport: kWide, acceptDownloads: true });
    const page = await context.newPage();
    const wrong = [];
    page.on('console', (message) => {
        if (message.type() === 'error') wrong.push(message.text());
    });
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('request', (request) => {
        if (!/^(blob|data):/.test(request.url()) && request.url() !== pathToFileURL(report).href)
            wrong.push(`request of ${request.url()}`);
    });
    await page.goto(pathToFileURL(report).href);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true', undefined, {
        timeout: 60_000,
        polling: 100,
    });
    return { page, wrong, close: () => context.close() };
}

/// What every page must be: light and dark, wide and narrow, without errors; pictures of all four are kept.
export async function checkPage(kind, { page, wrong }) {
    // From one to the next as little changes as can be: a change of colours draws everything anew.
    for (const [width, viewport, colorScheme] of [
        ['wide', kWide, 'light'],
        ['narrow', kNarrow, 'light'],
        ['narrow', kNarrow, 'dark'],
        ['wide', kWide, 'dark'],
    ]) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(150);
        await page.screenshot({ path: join(PODSIM_SHOTS, `${kind}-${width}-${colorScheme}.png`), fullPage: true });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${kind} is ${overflow} pixels wider than a ${width} window`);
    }
    const charts = await page.$$eval('.chart', (nodes) =>
        nodes.map((node) => ({
            id: node.id,
            role: node.getAttribute('role'),
            label: node.getAttribute('aria-label'),
            drawn: node.classList.contains('js-plotly-plot'),
            said: node.closest('figure').querySelector('figcaption').textContent,
        })),
    );
    for (const chart of charts) {
        assert.ok(chart.drawn, chart.id);
        assert.equal(chart.role, 'img', chart.id);
        assert.ok(chart.said.length > 20 && chart.label.endsWith(chart.said), `${chart.id}: ${chart.label}`);
        assert.doesNotMatch(chart.label, /undefined|NaN|Infinity/, chart.id);
    }
    const ids = await page.$$eval('[id]', (nodes) =>
        nodes.map((node) => node.id).filter((id) => !/^(g|clip|topdefs|defs|legend)/.test(id)),
    );
    assert.equal(new Set(ids).size, ids.length, `an id twice: ${ids.filter((id, i) => ids.indexOf(id) !== i)}`);
    const text = await page.$eval('main', (main) => main.innerText);
    assert.doesNotMatch(text, /undefined|NaN|\[object/);
    assert.deepEqual(wrong, []);
    return charts.map((chart) => chart.id.replace(/-chart$/, ''));
}

/// What plotly was given for a chart, as numbers: [{ type, name, meta, x, y, z, base }].
export const dataOf = (page, id) =>
    page.$eval(`#${id}-chart`, (node) =>
        node.data.map(({ type, name, meta, x, y, z, base, dimensions, line, measure, error_y }) => ({
            type,
            name,
            meta,
            measure,
            x: x && Array.from(x),
            y: y && Array.from(y),
            z: z && Array.from(z, (row) => (Array.isArray(row) ? row : row)),
            base: base && Array.from(base),
            dimensions: dimensions?.map(({ label, values }) => ({ label, values })),
            colours: Array.isArray(line?.color) ? line.color : undefined,
            error_y: error_y?.array,
        })),
    );

/// Bars or points that stand in the drawing itself.
export const marks = (page, id, selector = '.point path') =>
    page.$$eval(`#${id}-chart ${selector}`, (nodes) => nodes.length);

/// The box of a mark, once two frames leave it where it is: charts above may still be drawn.
async function whereItStays(page, selector, number) {
    const boxOf = async () => (await page.$$(selector))[number]?.boundingBox();
    for (let box = await boxOf(); ; ) {
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const next = await boxOf();
        if (next && JSON.stringify(next) === JSON.stringify(box)) return next;
        box = next;
    }
}

/// The text that appears when the mouse is over the middle of a mark.
export async function tooltip(page, id, selector, number = 0) {
    await page.$eval(`#${id}-chart`, (node) => node.scrollIntoView({ block: 'center', behavior: 'instant' }));
    const box = await whereItStays(page, `#${id}-chart ${selector}`, number);
    await page.mouse.move(box.x + box.width / 2 - 2, box.y + box.height / 2);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector(`#${id}-chart .hoverlayer .hovertext`, { timeout: 5000 });
    return page.$eval(`#${id}-chart .hoverlayer .hovertext`, (node) => node.textContent);
}

/// Rows of a table as texts.
export const rowsOf = (page, id) =>
    page.$$eval(`#${id} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

export async function sortBy(page, id, heading) {
    await page.click(`#${id} thead button[title="Sort by ${heading}"]`);
}
