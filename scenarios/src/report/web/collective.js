// The page of `podsim collective`: time and bandwidth over sizes, and the components of the time.
import { el, table } from './dom.js';
import { addChart, addSection } from './chart.js';
import { addBars } from './bars.js';
import { collectiveOf } from './data.js';
import { bytes, percent, rate, time } from './format.js';
import { kColours, kSymbols } from './theme.js';
import { addWaterfall } from './waterfall.js';
import { aside, kBreak } from './markup.js';

function verdict(runs) {
    const last = runs[runs.length - 1];
    const group = last.axes ? `over ${last.axes} (${last.members} chips)` : `between ${last.members} chips`;
    const range =
        runs.length > 1
            ? ` From ${bytes(runs[0].bytes)} to ${bytes(last.bytes)} it takes ${time(runs[0].simulated)} to ${time(last.simulated)}.`
            : '';
    return (
        `${last.operation} ${group} of ${last.chip} ${last.slice}: ${bytes(last.bytes)} take ${time(last.simulated)} by ${last.algorithm}, ` +
        `${rate(last.busRate)} of bus bandwidth, ${percent(last.overBound)} of what the links could carry; ${last.regime}.${range}`
    );
}

/// series: [{ name, of(run), dash }]
function lines(runs, series, text) {
    const colours = [kColours.blue, kColours.orange, kColours.green, kColours.purple];
    return series.map(({ name, of, dash }, i) => ({
        type: 'scatter',
        mode: 'lines+markers',
        name,
        x: runs.map((run) => run.bytes),
        y: runs.map(of),
        line: { color: colours[i], dash, width: 2 },
        marker: { symbol: kSymbols[i], size: 8, color: colours[i] },
        customdata: runs.map((run) => `${bytes(run.bytes)}: ${of(run) === null ? '' : text(of(run))}`),
        hovertemplate: `${name}${kBreak}%{customdata}${aside()}`,
    }));
}

const sizes = (own) => ({
    type: 'log',
    title: 'size of the array',
    exponentformat: 'SI',
    ticksuffix: 'B',
    dtick: 1,
    ...own,
});

async function overSizes(section, runs) {
    const pair = section.appendChild(el('div', { class: 'pair' }));
    const first = runs[0];
    const last = runs[runs.length - 1];
    const estimates = [
        { name: 'simulated', of: (run) => run.simulated },
        { name: 'physical bound', of: (run) => run.bound, dash: 'dot' },
        { name: 'reference text', of: (run) => run.book, dash: 'dash' },
    ];
    if (runs.some((run) => run.analytic !== null))
        estimates.push({ name: 'closed form', of: (run) => run.analytic, dash: 'dashdot' });
    await addChart(pair, {
        id: 'times',
        title: 'Time over size',
        how: 'Flat where latency decides, a slope of one where bandwidth does.',
        alt: `Simulated time from ${time(first.simulated)} for ${bytes(first.bytes)} to ${time(last.simulated)} for ${bytes(last.bytes)}; the physical bound goes from ${time(first.bound)} to ${time(last.bound)}.`,
        build: () => ({
            data: lines(runs, estimates, time),
            layout: { xaxis: sizes(), yaxis: { type: 'log', title: 'seconds', exponentformat: 'SI', ticksuffix: 's' } },
        }),
    });
    await addChart(pair, {
        id: 'rates',
        title: 'Bandwidth over size',
        how: 'As nccl-tests count: algorithm bandwidth is size over time; bus bandwidth is what the slowest link sees of it.',
        alt: `Bus bandwidth from ${rate(first.busRate)} to ${rate(last.busRate)}, algorithm bandwidth from ${rate(first.algorithmRate)} to ${rate(last.algorithmRate)}.`,
        build: () => ({
            data: lines(
                runs,
                [
                    { name: 'bus bandwidth', of: (run) => run.busRate },
                    { name: 'algorithm bandwidth', of: (run) => run.algorithmRate, dash: 'dash' },
                ],
                rate,
            ),
            layout: {
                xaxis: sizes(),
                yaxis: { title: 'bytes per second', rangemode: 'tozero', exponentformat: 'SI', ticksuffix: 'B/s' },
            },
        }),
    });
}

async function madeOf(section, runs) {
    const parts = ['launch', 'latency', 'bandwidth'];
    const colours = [kColours.purple, kColours.orange, kColours.blue];
    await addChart(section, {
        id: 'parts',
        title: 'Parts of the time',
        how: 'Shares of the simulated time by size.',
        alt:
            runs
                .map(
                    (run) =>
                        `${bytes(run.bytes)}: ${parts.map((part) => `${part} ${percent(run.shares[part])}`).join(', ')}`,
                )
                .filter((_, i) => i === 0 || i === runs.length - 1)
                .join('; ') + '.',
        build: () => ({
            data: parts.map((part, i) => ({
                type: 'bar',
                name: part,
                x: runs.map((run) => bytes(run.bytes)),
                y: runs.map((run) => 100 * run.shares[part]),
                marker: {
                    color: colours[i],
                    pattern: { shape: ['x', '/', ''][i], fillmode: 'overlay', fgopacity: 0.4 },
                },
                hovertemplate: `${part}: %{y:.1f} %${aside('%{x}')}`,
            })),
            layout: { barmode: 'relative', xaxis: { type: 'category' }, yaxis: { title: 'share', ticksuffix: ' %' } },
        }),
    });
}

export async function collectivePage(page) {
    const runs = (Array.isArray(page.result) ? page.result : [page.result]).map(collectiveOf);
    const last = runs[runs.length - 1];
    const summary = addSection('summary', 'Summary', el('p', { class: 'verdict' }, verdict(runs)));
    await overSizes(addSection('sizes', 'Time and bandwidth'), runs);
    await madeOf(addSection('why', 'Why'), runs);
    const why = document.getElementById('why');
    await addWaterfall(why, {
        id: 'gap',
        title: `From the bound to the simulation, ${bytes(last.bytes)}`,
        from: ['physical bound', last.bound],
        to: ['simulated', last.simulated],
        terms: last.gap,
    });
    await addBars(addSection('links', 'Links'), {
        id: 'link-use',
        title: `Busy links, ${bytes(last.bytes)}`,
        how: 'Share of the time in which links of a kind are held: the mean of all, and the busiest.',
        alt:
            last.links
                .map((link) => `${link.name} ${percent(link.busy)}, the busiest ${percent(link.busiest)}`)
                .join('; ') + '.',
        groups: [
            { name: 'mean', rows: last.links.map((link) => [link.name, link.busy]) },
            { name: 'busiest', rows: last.links.map((link) => [`${link.name}, busiest`, link.busiest]) },
        ],
        text: percent,
        axis: 'share of the time',
    });
    addSection('table', 'Table').append(
        table({
            id: 'sizes-table',
            caption: 'Every size; click a heading to sort',
            sortable: true,
            columns: [
                { name: 'Bytes', number: true },
                { name: 'Time', number: true, text: time },
                { name: 'Algorithm bandwidth', number: true, text: rate },
                { name: 'Bus bandwidth', number: true, text: rate },
                { name: 'Bound', number: true, text: time },
                { name: 'Bound / time', number: true, text: percent },
                { name: 'Regime' },
                { name: 'Algorithm' },
            ],
            rows: runs.map((run) => [
                run.bytes,
                run.simulated,
                run.algorithmRate,
                run.busRate,
                run.bound,
                run.overBound,
                run.regime,
                run.algorithm,
            ]),
        }),
    );
    return summary;
}
