// Traces as the trace engine of Chromium's DevTools reads them: a reader that podsim's authors did not write. It builds a
// tree of the slices of every thread, leaves out a slice that overlaps another without being nested in it, and binds a flow
// to the slices that begin where it does.
//
// PODSIM_PROGRAM, PODSIM_SOURCE_DIR and PODSIM_TRACE_READER (where npm has put the package) come from CTest.
import assert from 'node:assert';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {pathToFileURL} from 'node:url';
import zlib from 'node:zlib';

const engine = path.join(process.env.PODSIM_TRACE_READER,
    'node_modules/@paulirish/trace_engine/models/trace/trace.js');
const {Processor} = await import(pathToFileURL(engine));

/** What a browser has and the engine asks for. */
globalThis.DOMRect ??= class {
    static fromRect() { return new this(); }
};

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'podsim-trace-'));
process.on('exit', () => fs.rmSync(folder, {recursive: true}));

function scenario(name) {
    return path.join(process.env.PODSIM_SOURCE_DIR, 'scenarios', name);
}

/** Runs podsim; the text of its trace and its result. */
function run(file, ...options) {
    const trace = path.join(folder, 'trace.json.gz');
    const json = path.join(folder, 'result.json');
    execFileSync(process.env.PODSIM_PROGRAM, ['run', file, '--trace', trace, '--json', json, ...options]);
    return {
        text: zlib.gunzipSync(fs.readFileSync(trace)).toString(),
        result: JSON.parse(fs.readFileSync(json)),
    };
}

async function read(events) {
    const processor = Processor.TraceProcessor.createWithAllHandlers();
    await processor.parse(structuredClone(events), {});
    return processor.data;
}

function threads(data) {
    return [...data.Renderer.processes.values()].flatMap(process => [...process.threads.entries()]);
}

/** Slices that the engine shows as the outermost of their threads. */
function outermost(data) {
    return threads(data).reduce((sum, [, thread]) => sum + thread.tree.roots.size, 0);
}

function nanoseconds(microseconds) {
    return Math.round(microseconds * 1e3);
}

/** Where the clock of traces begins, in microseconds. */
const BEGIN = 1;

async function expectReadable(text, stepTime) {
    const events = JSON.parse(text).traceEvents;
    const slices = events.filter(event => event.ph === 'X');
    const data = await read(events);
    assert.ok(data.Meta.traceIsGeneric);
    assert.ok(slices.length > 0);
    assert.strictEqual(outermost(data), slices.length, 'a slice overlaps or is nested');

    for (const [number, thread] of threads(data)) {
        assert.notStrictEqual(thread.name, `${number}`, 'a thread without a name');
        let end = 0;
        for (const {ts, dur} of thread.entries) {
            assert.ok(ts >= end, `${thread.name}: ${ts} before ${end}`);
            end = ts + dur;
        }
        if (thread.name === 'XLA Ops' || thread.name === 'Steps') {
            const sum = thread.entries.reduce((ns, {dur}) => ns + nanoseconds(dur), 0);
            assert.strictEqual(sum, nanoseconds(stepTime * 1e6), thread.name);
        }
    }

    // All of the step is in view: what is at 0 would not be.
    assert.strictEqual(data.Meta.traceBounds.min, BEGIN);
    assert.strictEqual(nanoseconds(data.Meta.traceBounds.max - BEGIN), nanoseconds(stepTime * 1e6));

    const starts = events.filter(event => event.ph === 's');
    assert.strictEqual(events.filter(event => event.ph === 'f').length, starts.length);
    assert.strictEqual(data.Flows.flows.length, starts.length, 'a flow that binds no two slices');
    for (const flow of data.Flows.flows) {
        assert.strictEqual(flow.length, 2);
    }

    for (const {name, args} of events.filter(event => event.ph === 'C')) {
        for (const [series, value] of Object.entries(args)) {
            assert.ok(value >= 0, `${name}, ${series}: ${value}`);
        }
    }
    return {events, data};
}

test('the quick start, in less than 20 MB', async () => {
    const {text, result} = run(scenario('quickstart/llama3-70b-v5p-pod.yaml'));
    assert.ok(text.length < 20e6, `${text.length} bytes`);
    const {events, data} = await expectReadable(text, result.step_time_s);
    assert.ok(data.Flows.flows.length > 100);
    const names = threads(data).map(([, thread]) => thread.name);
    for (const name of ['Steps', 'Layers', 'XLA Ops', 'MXU', 'VPU', 'HBM', 'AllGather over tensor', 'ICI +x']) {
        assert.ok(names.includes(name), name);
    }
    assert.ok(events.some(({ph, name}) => ph === 'C' && name === 'HBM memory (bytes)'));
    assert.ok(events.some(({ph, name}) => ph === 'C' && name === 'link use (%)'));
});

test('all of a step of experts', async () => {
    const {text, result} = run(scenario('examples/mixtral-8x7b-v5p.yaml'), '--trace-all');
    await expectReadable(text, result.step_time_s);
});

test('a pipeline over slices', async () => {
    const {text, result} = run(scenario('examples/llama3-405b-pipeline-slices.yaml'),
        '--set', 'model=llama-3-8b', '--set', 'batch.tokens=4Mi', '--set', 'training.microbatches=4');
    const {data} = await expectReadable(text, result.step_time_s);
    assert.ok(data.Renderer.processes.size > 1);
});

test('a step of inference', async () => {
    const {text, result} = run(scenario('examples/llama3-70b-decode-v5e.yaml'));
    await expectReadable(text, result.step_time_s);
});

test('a program', async () => {
    const {text, result} = run(scenario('examples/collective-matmul-bf16-v5e.yaml'));
    await expectReadable(text, result.step_time_s);
});

// So that what the tests above find means something.
test('an overlap is seen', async () => {
    const events = JSON.parse(run(scenario('examples/llama3-70b-decode-v5e.yaml')).text).traceEvents;
    const slices = events.filter(event => event.ph === 'X' && event.name === 'qkv');
    slices[0].dur *= 1.5;
    const data = await read(events);
    assert.ok(outermost(data) < events.filter(event => event.ph === 'X').length);
});
