// Pages of podsim in a real browser: what is drawn is what the JSON says.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import {
    checkPage,
    dataOf,
    kMostBytes,
    marks,
    open,
    podsim,
    rowsOf,
    sortBy,
    start,
    stop,
    tooltip,
} from './browser.mjs';

const kBook = join(process.env.PODSIM_SOURCE_DIR, 'scenarios/book');
const kStep = `name: Two stages <of> a model
hardware: {chip: v5p, slice: 4x4x4}
model: {base: llama-3-8b, layers: 8}
batch: {tokens: 256Ki, sequence: 4096}
mesh: {fsdp: x y z/2, pipeline: z%2}
training: {microbatches: 2}
expect: {step_time: {within: 90 %, of: 1 s, source: none}}
`;
const sum = (values) => values.reduce((all, value) => all + value, 0);
const near = (a, b, what) =>
    assert.ok(Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);
const nonzero = (object) => Object.entries(object).filter(([, value]) => value !== 0);
const plain = (text) => text.replaceAll('\u00a0', ' ');
/// `1.234 s`, as the page writes times.
function time(s) {
    const [scale, unit] = [
        [1, 's'],
        [1e-3, 'ms'],
        [1e-6, 'µs'],
        [1e-9, 'ns'],
    ].find(([least]) => s >= least * 0.99995);
    return `${(s / scale).toPrecision(4)} ${unit}`;
}

before(start);
after(stop);

async function checkBars(page, json) {
    const { compute, exposed_communication: waits } = json.breakdown_s;
    const rows = await dataOf(page, 'breakdown');
    const shown = Object.fromEntries(rows.flatMap((trace) => trace.y.map((name, i) => [name, trace.x[i]])));
    assert.deepEqual(shown, Object.fromEntries([...nonzero(compute), ...nonzero(waits)]));
    assert.equal(await marks(page, 'breakdown'), Object.keys(shown).length);
    near(sum(Object.values(shown)), json.step_time_s, 'the bars of the compute stream');
}

async function checkWaterfall(page, json) {
    const [trace] = await dataOf(page, 'gap');
    const terms = nonzero(json.gap_s);
    assert.deepEqual(trace.y, ['roofline_lower', ...terms.map(([name]) => name), 'simulated step']);
    assert.deepEqual(trace.x, [json.analytic.roofline_lower_s, ...terms.map(([, s]) => s), json.step_time_s]);
    near(sum(trace.x.slice(0, -1)), json.step_time_s, 'the bars of the gap');
    assert.equal(await marks(page, 'gap'), terms.length + 2);
    const [name, s] = terms.find(([, seconds]) => seconds > json.step_time_s / 50);
    const said = plain(await tooltip(page, 'gap', '.point path', 1 + terms.findIndex(([other]) => other === name)));
    assert.ok(said.startsWith(name) && said.includes(time(s)), said);
}

async function checkTimeline(page, json) {
    const timeline = await page.evaluate(() => window.podsimData.extra.timeline);
    assert.equal(timeline.processes.length, 2);
    for (const process of timeline.processes) {
        const ops = process.tracks.find((track) => track.kind === 'ops');
        assert.equal(sum(ops.gap_ps), 0);
        assert.equal(sum(ops.duration_ps), Math.round(json.step_time_s * 1e12));
    }
    const range = () => page.$eval('#timeline-step-chart', (node) => node._fullLayout.xaxis.range.map(Number));
    const lengths = async () => (await dataOf(page, 'timeline-step')).flatMap((trace) => trace.x);
    const first = timeline.processes[0];
    const durations = first.tracks
        .filter(({ kind }) => !['link', 'steps'].includes(kind))
        .flatMap((track) => track.duration_ps);
    const bars = await lengths();
    assert.ok(bars.length <= Math.min(durations.length, 2400), `${bars.length} bars`);
    assert.ok(Math.abs(sum(bars) * 1e12 - sum(durations)) < 1e6, 'what is drawn together is as long together');
    const [begin, end] = await range();
    assert.equal(begin, 0);
    assert.ok(Math.abs(end - json.step_time_s) < 1e-12, `the axis ends at ${end}, the step at ${json.step_time_s}`);
    const [window] = first.steady;
    await page.click(`#timeline-step button:has-text("Layer ${window.layer} ${window.pass}")`);
    await page.waitForFunction(
        (from) => Math.abs(document.getElementById('timeline-step-chart')._fullLayout.xaxis.range[0] - from) < 1e-12,
        window.from_ps / 1e12,
    );
    assert.ok((await lengths()).length < bars.length);
    await page.focus('#timeline-step-chart');
    const before = await range();
    await page.keyboard.press('+');
    await page.waitForFunction(
        (from) => document.getElementById('timeline-step-chart')._fullLayout.xaxis.range[0] > from,
        before[0],
    );
    await page.keyboard.press('0');
    await page.waitForFunction(
        (end) => document.getElementById('timeline-step-chart')._fullLayout.xaxis.range[1] > 0.99 * end,
        json.step_time_s,
    );
    assert.match(await tooltip(page, 'timeline-layer', '.point path', 2), /layer|ICI|of /);
    await page.selectOption('#timeline-process', '1');
    await page.waitForFunction(
        (name) => document.querySelector('#timeline-step figcaption')?.textContent.startsWith(name),
        timeline.processes[1].name,
    );
}

async function checkRoofline(page) {
    const { operations, moved } = await page.evaluate(() => window.podsimData.extra.roofline);
    const traces = await dataOf(page, 'operations');
    const points = traces.filter((trace) => trace.meta === 'operations');
    const places = (x, y) => x.map((value, i) => `${value} ${y[i]}`).sort();
    const work = (row) => row.flops || row.vector_flops;
    assert.deepEqual(
        places(
            points.flatMap(({ x }) => x),
            points.flatMap(({ y }) => y),
        ),
        places(
            operations.map((row) => work(row) / row.hbm_bytes),
            operations.map((row) => work(row) / row.time_s),
        ),
    );
    const used = moved.filter(({ bytes }) => bytes > 0);
    assert.equal(await marks(page, 'operations', '.points path'), operations.length + used.length);
    assert.deepEqual(traces.filter(({ name }) => /^(MXU|VPU|HBM|ICI)/.test(name)).length, 4);
}

/// 4 x 4 x 4 with every axis wrapped: 3 links between 4 chips on each of 48 lines, and two halves of the one that goes round.
async function checkTorus(page, json) {
    const [lines, links] = await dataOf(page, 'torus');
    assert.equal(links.x.length, 48 * (3 + 2));
    assert.equal(lines.x.length, 3 * links.x.length);
    const { torus } = await page.evaluate(() => window.podsimData.extra);
    const [heat] = await dataOf(page, 'heat');
    assert.deepEqual(heat.y, ['x up', 'x down', 'y up', 'y down', 'z up', 'z down']);
    heat.z.forEach((row, i) => {
        assert.equal(row.length, 4);
        const busy = torus.place_of_chip.map((place) => torus.links[place].busy[i]);
        near(sum(row) / 4, (100 * sum(busy)) / busy.length, heat.y[i]);
    });
    near((sum(heat.z[0]) + sum(heat.z[1])) / 800, json.links.ici_x.busy_fraction, 'links along x');
}

async function checkMemory(page, json) {
    const traces = await dataOf(page, 'memory-over-time');
    const peak = traces.find(({ name }) => name === 'peak');
    assert.deepEqual([peak.x, peak.y], [[json.memory.peak_at_s], [json.memory.peak_bytes]]);
    const areas = traces.filter(({ name }) => Object.hasOwn(json.memory.at_peak_bytes, name.replaceAll(' ', '_')));
    const most = Math.max(...areas[0].x.map((_, i) => sum(areas.map(({ y }) => y[i]))));
    assert.ok(Math.abs(most - json.memory.peak_bytes) <= 8, `${most} is not ${json.memory.peak_bytes}`);
}

test('a step', { timeout: 120_000 }, async () => {
    const { report, bytes, json } = podsim('run', ['run', 'step.yaml'], { files: { 'step.yaml': kStep } });
    assert.ok(bytes <= kMostBytes, `${bytes} bytes`);
    const { page, wrong, close } = await open(report);
    assert.equal(await page.title(), 'Two stages <of> a model');
    assert.deepEqual(await page.evaluate(() => window.podsimData.result), json);
    await checkBars(page, json);
    await checkWaterfall(page, json);
    await checkTimeline(page, json);
    await checkRoofline(page);
    await checkTorus(page, json);
    await checkMemory(page, json);
    const said = plain(await page.textContent('.verdict'));
    assert.ok(said.startsWith(`A step takes ${time(json.step_time_s)} on 64 chips of v5p`), said);
    // The sentences of the text report, and what a faster resource saves.
    for (const sentence of json.diagnosis) assert.ok(said.includes(sentence.slice(1)), `${sentence} / ${said}`);
    assert.ok(said.includes('10 % faster saves of the step: '), said);
    assert.match(
        await page.innerText('#inputs'),
        /pcie_latency\s+1.000 us\s+assumed\s+assumption: no published figure/,
    );
    assert.match(await page.innerText('#inputs'), /training.remat\s+full\s+assumed\s+podsim’s default/);
    assert.doesNotMatch(await page.innerText('#inputs'), /batch.tokens\s+256Ki\s+assumed/);
    assert.equal((await rowsOf(page, 'expectations-table')).length, 1);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
    assert.equal(download.suggestedFilename(), 'podsim.json');
    const ink = () => page.$eval('#gap-chart', (node) => node._fullLayout.font.color);
    const light = await ink();
    await page.click('#theme');
    await page.waitForFunction(
        (before) => document.getElementById('gap-chart')._fullLayout.font.color !== before,
        light,
    );
    await page.click('#theme');
    assert.deepEqual(await checkPage('run', { page, wrong }), [
        'breakdown',
        'path',
        'gap',
        'timeline-step',
        'timeline-layer',
        'operations',
        'link-use',
        'torus',
        'heat',
        'memory-over-time',
    ]);
    await close();
});

// No links between chips: nothing to draw of them.
test('a step on one chip', { timeout: 60_000 }, async () => {
    const text = `hardware: {chip: v5p, slice: 1x1x1}
model: {layers: 1, d_model: 128, d_ff: 128, heads: 1, vocabulary: 128}
batch: {tokens: 128, sequence: 128}
`;
    const { report } = podsim('one', ['run', 'one.yaml'], { files: { 'one.yaml': text } });
    const { page, wrong, close } = await open(report);
    const charts = await checkPage('one', { page, wrong });
    assert.ok(charts.includes('link-use') && !charts.includes('torus') && !charts.includes('heat'), charts.join());
    await close();
});

// In a shell a map is one word only in quotes.
test('advice as it is written in a shell', { timeout: 60_000 }, async () => {
    const text = `hardware: {chip: v5p, slice: 4x4x4}
model: {layers: 2, d_model: 1024, d_ff: 4096, heads: 8, vocabulary: 32000}
batch: {tokens: 256Ki, sequence: 4096}
mesh: {fsdp: x y, tensor: z}
`;
    const { report, json } = podsim('advice', ['run', 'advice.yaml'], { files: { 'advice.yaml': text } });
    const { page, close } = await open(report);
    const options = (await rowsOf(page, 'advice')).map((row) => row[4]);
    const mesh = json.advice.findIndex(({ kind }) => kind === 'mesh');
    assert.match(options[mesh], /^--set 'mesh=\{fsdp: [^']*\}'$/);
    const plain = json.advice.findIndex(({ kind }) => kind === 'remat');
    assert.equal(options[plain], '--set training.remat=none');
    await close();
});

test('what would make a step fit', { timeout: 60_000 }, async () => {
    const text = `hardware: {chip: v5e, slice: 2x2}
model: {base: llama-3-8b, layers: 2}
batch: {tokens: 64Ki, sequence: 4096}
mesh: {fsdp: x y}
training: {remat: none}
`;
    const { report, json } = podsim('unfit', ['run', 'unfit.yaml'], { files: { 'unfit.yaml': text } });
    const { page, wrong, close } = await open(report);
    assert.ok(json.memory.remedies.length > 1);
    assert.deepEqual(
        (await rowsOf(page, 'remedies')).map(([change, , options]) => [change, options]),
        json.memory.remedies.map(({ meaning, set }) => [
            meaning,
            set.map((one) => (one.includes(' ') ? `--set '${one}'` : `--set ${one}`)).join(' '),
        ]),
    );
    await checkPage('unfit', { page, wrong });
    await close();
    const none = podsim('hopeless', ['run', 'unfit.yaml', '--set', 'hardware.chip={base: v5e, hbm_capacity: 100 MB}'], {
        files: { 'unfit.yaml': text },
    });
    const other = await open(none.report);
    assert.match(
        plain(await other.page.textContent('#remedies')),
        /^No single change of the plan would make it fit; the best reaches [\d.]+ [MG]B\.$/,
    );
    await other.close();
});

test('a program', { timeout: 60_000 }, async () => {
    const { report, json } = podsim('program', ['run', join(kBook, 'ex2.6-ici.yaml')]);
    const { page, wrong, close } = await open(report);
    const bars = (await dataOf(page, 'stages')).filter(({ type }) => type === 'bar');
    assert.deepEqual(
        bars.flatMap(({ base, x }) => base.map((began, i) => [began, began + x[i]])).sort(),
        json.stages.map((stage) => [stage.began_s, stage.ended_s]).sort(),
    );
    assert.deepEqual(await checkPage('program', { page, wrong }), ['stages', 'gap', 'link-use']);
    await close();
});

// No name is markup, wherever it is drawn: neither a tag, a link, nor an entity.
test('names that look like markup', { timeout: 90_000 }, async () => {
    const names = ['<a href="https://example.com">x</a>', '<b>&lt;</b>', 'a & b < c > d'];
    const { report } = podsim('program', ['run', 'names.yaml'], {
        files: {
            'names.yaml': `name: ${JSON.stringify(names[0])}
hardware: {chip: v5p, slice: 2x2x1, profile: ideal}
program:
  stages:
${names.map((name, i) => `    - {name: ${JSON.stringify(name)}, do: all-gather, axes: xy, bytes: ${16 >> i} GB}`).join('\n')}
`,
        },
    });
    const { page, wrong, close } = await open(report);
    assert.equal(await page.title(), names[0]);
    const ticks = await page.$$eval('#stages-chart .ytick text', (nodes) => nodes.map((node) => node.textContent));
    for (const name of names) assert.ok(ticks.includes(name), `${name} is drawn as ${ticks}`);
    assert.equal((await page.$$('#stages-chart svg a')).length, 0);
    const text = await page.$eval('main', (main) => main.textContent);
    for (const name of names) assert.ok(text.includes(name), name);
    for (let i = 0; i < names.length; ++i) {
        const said = await tooltip(page, 'stages', '.point path', i);
        assert.ok(names.some((name) => said.startsWith(name)), said);
    }
    assert.deepEqual(wrong, []);
    await close();
});

/// By the definition: nobody is at least as good in both and better in one.
function onFront(rows, cost) {
    return rows.filter(
        (row) =>
            !rows.some(
                (other) =>
                    other[cost] <= row[cost] &&
                    other.step_time_s <= row.step_time_s &&
                    (other[cost] < row[cost] || other.step_time_s < row.step_time_s),
            ),
    );
}

test('a sweep', { timeout: 90_000 }, async () => {
    const { report, bytes } = podsim(
        'sweep',
        [
            'sweep',
            'step.yaml',
            '--vary',
            'batch.tokens=256Ki,1Mi,64Mi',
            '--vary',
            'training.remat=none,matmuls,full',
            '--vary',
            'training.microbatches=2,3',
        ],
        { json: false, files: { 'step.yaml': kStep } },
    );
    assert.ok(bytes <= kMostBytes, `${bytes} bytes`);
    const { page, wrong, close } = await open(report);
    const result = await page.evaluate(() => window.podsimData.result);
    const rows = result.rows
        .filter((row) => row[row.length - 1] === '')
        .map((row) => Object.fromEntries(result.columns.map(({ key }, i) => [key, row[1 + result.varied.length + i]])));
    assert.equal(result.rows.length, 18);
    assert.ok(rows.length > 0 && rows.length < 18, 'some settings are refused');
    const fits = rows.filter((row) => row['memory.fits']);
    assert.ok(fits.length > 0 && fits.length < rows.length, 'some settings do not fit');
    for (const [id, key] of [
        ['front-chips', 'chips'],
        ['front-memory', 'memory.peak_bytes'],
    ]) {
        const traces = Object.fromEntries((await dataOf(page, id)).map((trace) => [trace.name, trace]));
        assert.equal(traces.settings.x.length, fits.length, id);
        assert.equal(traces['does not fit'].x.length, rows.length - fits.length, id);
        const pairs = ({ x, y }) => x.map((value, i) => [value, y[i]].join(' ')).sort();
        assert.deepEqual(
            pairs(traces.front),
            onFront(fits, key)
                .map((row) => `${row[key]} ${row.step_time_s}`)
                .sort(),
            id,
        );
    }
    const [parallel] = await dataOf(page, 'parallel');
    assert.deepEqual(
        parallel.dimensions.slice(0, 4).map(({ label }) => label),
        ['tokens', 'remat', 'microbatches', 'step time'],
    );
    assert.deepEqual(
        parallel.dimensions[3].values,
        rows.map((row) => row.step_time_s),
    );
    const column = async () =>
        (await rowsOf(page, 'sweep-table'))
            .map((row) => row[3])
            .filter((text) => text !== '')
            .map(plain);
    const times = (sign) =>
        rows
            .map((row) => row.step_time_s)
            .sort((a, b) => sign * (a - b))
            .map(time);
    await sortBy(page, 'sweep-table', 'step time');
    assert.deepEqual(await column(), times(1));
    await sortBy(page, 'sweep-table', 'step time');
    assert.deepEqual(await column(), times(-1));
    assert.equal(
        await page.getAttribute('#sweep-table th:has(button[title="Sort by step time"])', 'aria-sort'),
        'descending',
    );
    await sortBy(page, 'sweep-table', 'batch.tokens');
    const tokens = (await rowsOf(page, 'sweep-table')).map((row) => row[0]);
    assert.deepEqual(
        tokens,
        ['256Ki', '1Mi', '64Mi'].flatMap((value) => Array(6).fill(value)),
    );
    assert.match(plain(await tooltip(page, 'front-memory', '.points path')), /batch\.tokens=/);
    assert.deepEqual(await checkPage('sweep', { page, wrong }), [
        'front-chips',
        'front-memory',
        'front-cost',
        'parallel',
    ]);
    await close();
});

test('a comparison', { timeout: 60_000 }, async () => {
    const { report, json } = podsim('compare', [
        'compare',
        ...['ex2.6-ici', 'ex3.10-all-gather', 'ex3.3-latency', 'ex3.4-gather'].map((name) =>
            join(kBook, `${name}.yaml`),
        ),
    ]);
    const { page, wrong, close } = await open(report);
    assert.deepEqual(await page.evaluate(() => window.podsimData.result), json);
    const references = json.scenarios.flatMap((scenario) => scenario.expectations);
    const shown = (await dataOf(page, 'errors')).filter(({ meta }) => meta === 'references');
    assert.deepEqual(shown.flatMap(({ x }) => x).sort(), references.map((row) => 100 * row.error).sort());
    assert.equal(await marks(page, 'errors', '.scatterlayer .points path'), references.length);
    assert.equal((await rowsOf(page, 'scenarios-table')).length, 4);
    const errors = async () => (await rowsOf(page, 'references-table')).map((row) => row[5]);
    await sortBy(page, 'references-table', 'Error');
    const wanted = references
        .map((row) => row.error)
        .sort((a, b) => a - b)
        .map((error) => `${error < 0 ? '−' : '+'}${Math.abs(100 * error).toFixed(1)} %`);
    assert.deepEqual((await errors()).map(plain), wanted);
    assert.deepEqual(await checkPage('compare', { page, wrong }), ['agreement', 'errors']);
    await close();
});

test('a collective', { timeout: 60_000 }, async () => {
    const { report, bytes, json } = podsim('collective', [
        'collective',
        '--chip',
        'v5p',
        '--slice',
        '4x4x4',
        '--op',
        'all-reduce',
        '--axes',
        'xy',
        '--bytes',
        '1e3:1e9',
    ]);
    assert.ok(bytes <= kMostBytes, `${bytes} bytes`);
    const { page, wrong, close } = await open(report);
    const series = Object.fromEntries(
        [...(await dataOf(page, 'times')), ...(await dataOf(page, 'rates'))].map((trace) => [trace.name, trace]),
    );
    for (const [name, key] of [
        ['simulated', 'simulated_s'],
        ['physical bound', 'physical_bound_s'],
        ['bus bandwidth', 'bus_bandwidth_bytes_per_s'],
        ['algorithm bandwidth', 'algorithm_bandwidth_bytes_per_s'],
    ]) {
        assert.deepEqual(
            series[name].x,
            json.map((run) => run.bytes),
            name,
        );
        assert.deepEqual(
            series[name].y,
            json.map((run) => run[key]),
            name,
        );
    }
    assert.equal(await marks(page, 'rates', '.points path'), 2 * json.length);
    const rows = await rowsOf(page, 'sizes-table');
    assert.deepEqual(
        rows.map((row) => plain(row[1])),
        json.map((run) => time(run.simulated_s)),
    );
    assert.match(plain(await tooltip(page, 'rates', '.points path')), /^(bus|algorithm) bandwidth1.000 kB: /);
    assert.deepEqual(await checkPage('collective', { page, wrong }), ['times', 'rates', 'parts', 'gap', 'link-use']);
    await close();
});
