// Operations against the chip's limits: FLOPs a second over FLOPs a byte.
import { addChart } from './chart.js';
import { bytes, count, flopRate, list, percent, rate, time } from './format.js';
import { kColours, kSymbols } from './theme.js';
import { aside, kBreak } from './markup.js';

const kPasses = {
    forward: kColours.blue,
    recompute: kColours.sky,
    backward: kColours.orange,
    optimizer: kColours.purple,
};
const kDashes = ['solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot'];

/// Returns an operation's position: on the MXU by its FLOPs; without any, on the VPU by its
/// elementwise operations.
function place(operation) {
    const work = operation.flops > 0 ? operation.flops : operation.vector_flops;
    return { x: work / operation.hbm_bytes, y: work / operation.time_s };
}

function extent(values) {
    const logs = values.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
    return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 0.1)];
}

function roofs(roofline, [from, to], theme) {
    const peak = Math.max(...roofline.peaks.map((row) => row.flops_per_s));
    const flat = roofline.peaks.map((row, i) => ({
        type: 'scatter',
        mode: 'lines',
        name: `${row.name} ${flopRate(row.flops_per_s)}`,
        x: [10 ** from, 10 ** to],
        y: [row.flops_per_s, row.flops_per_s],
        line: { color: theme.ink, dash: kDashes[i], width: 1.8 },
        hovertemplate: `${row.name}: ${flopRate(row.flops_per_s)}${aside()}`,
    }));
    const colours = [kColours.green, kColours.vermilion, kColours.purple, kColours.grey];
    const used = roofline.rates.filter(
        (row) => row.name !== 'PCIe' || roofline.moved.some(({ name, bytes: b }) => name === row.name && b > 0),
    );
    const slopes = used.map((row, i) => {
        const knee = Math.min(peak / row.bytes_per_s, 10 ** to);
        return {
            type: 'scatter',
            mode: 'lines',
            name: `${row.name} ${rate(row.bytes_per_s)}`,
            x: [10 ** from, knee],
            y: [10 ** from * row.bytes_per_s, knee * row.bytes_per_s],
            line: { color: colours[i], dash: kDashes[i], width: 2 },
            hovertemplate: `${row.name}: ${rate(row.bytes_per_s)}, knee at ${count(peak / row.bytes_per_s)} FLOPs/B${aside()}`,
        };
    });
    return [...flat, ...slopes];
}

function points(roofline, step) {
    const longest = Math.max(...roofline.operations.map((operation) => operation.time_s * operation.count));
    const passes = [...new Set(roofline.operations.map((operation) => operation.pass))];
    return passes.map((pass, i) => {
        const rows = roofline.operations.filter((operation) => operation.pass === pass);
        return {
            type: 'scatter',
            mode: 'markers',
            name: pass,
            meta: 'operations',
            x: rows.map((row) => place(row).x),
            y: rows.map((row) => place(row).y),
            marker: {
                color: kPasses[pass] ?? kColours.grey,
                symbol: rows.map((row) => (row.flops > 0 ? kSymbols[i] : `${kSymbols[i]}-open`)),
                opacity: 0.85,
                size: rows.map((row) => 7 + 20 * Math.sqrt((row.time_s * row.count) / longest)),
                line: { width: 1 },
            },
            customdata: rows.map(
                (row) =>
                    `${row.name}, ${row.pass}${kBreak}${row.count} times ${time(row.time_s)}, ${percent((row.count * row.time_s) / step.step)} of the step` +
                    `${kBreak}${row.flops > 0 ? `${count(row.flops)} FLOPs` : `${count(row.vector_flops)} elementwise operations`}, ${bytes(row.hbm_bytes)} of HBM${kBreak}${flopRate(place(row).y)}`,
            ),
            hovertemplate: `%{customdata}${aside()}`,
        };
    });
}

/// Returns the whole step against each kind of link, by the bytes that the links carried.
function steps(roofline, step, theme) {
    const rows = roofline.moved.filter((row) => row.bytes > 0);
    return {
        type: 'scatter',
        mode: 'markers+text',
        name: 'the step, by bytes over each',
        meta: 'step',
        x: rows.map((row) => roofline.flops / row.bytes),
        y: rows.map(() => roofline.flops / step.step),
        text: rows.map((row) => row.name),
        textposition: 'bottom center',
        textfont: { color: theme.ink },
        marker: { symbol: 'star', size: 13, color: theme.ink },
        customdata: rows.map(
            (row) => `the step: ${count(roofline.flops)} FLOPs, ${bytes(row.bytes)} over ${row.name} a chip`,
        ),
        hovertemplate: `%{customdata}${aside()}`,
    };
}

export async function addRoofline(section, roofline, step) {
    const places = roofline.operations.map(place);
    const moved = roofline.moved.filter((row) => row.bytes > 0).map((row) => roofline.flops / row.bytes);
    const xs = extent([...places.map(({ x }) => x), ...moved]);
    const ys = extent([
        ...places.map(({ y }) => y),
        roofline.flops / step.step,
        ...roofline.peaks.map((row) => row.flops_per_s),
    ]);
    const top = roofline.peaks[0];
    const largest = roofline.operations
        .slice()
        .sort((a, b) => b.count * b.time_s - a.count * a.time_s)
        .slice(0, 3)
        .map(
            (row) =>
                `${row.name} (${row.pass}) at ${percent(place(row).y / (row.flops > 0 ? top : (roofline.peaks[1] ?? top)).flops_per_s)} of the ${row.flops > 0 ? top.name : 'VPU'}`,
        );
    await addChart(section, {
        id: 'operations',
        title: 'Operations under their roofs',
        height: 560,
        how: 'A point is an operation of all layers, as large as its share of the step; open ones do elementwise work alone (VPU). Stars are the whole step by what it moves over HBM, ICI and the rest. Roofs are the chip’s own rates, before what the profile takes off.',
        alt: `${roofline.operations.length} kinds of operations; the longest: ${list(largest)}.`,
        build: (theme) => ({
            data: [...roofs(roofline, xs, theme), ...points(roofline, step), steps(roofline, step, theme)],
            layout: {
                hovermode: 'closest',
                xaxis: { type: 'log', title: 'FLOPs per byte', range: xs, exponentformat: 'power', dtick: 1 },
                yaxis: { type: 'log', title: 'FLOP/s of a chip', range: ys, exponentformat: 'SI', dtick: 1 },
            },
        }),
        numbers: {
            columns: [
                { name: 'Operation' },
                { name: 'Pass' },
                { name: 'Count', number: true },
                { name: 'Time each', number: true, text: time },
                { name: 'FLOPs', number: true, text: count },
                { name: 'Elementwise', number: true, text: count },
                { name: 'HBM', number: true, text: bytes },
                { name: 'FLOPs/B', number: true, text: count },
                { name: 'Reached', number: true, text: flopRate },
            ],
            rows: roofline.operations.map((row) => [
                row.name,
                row.pass,
                row.count,
                row.time_s,
                row.flops,
                row.vector_flops,
                row.hbm_bytes,
                place(row).x,
                place(row).y,
            ]),
        },
    });
}
