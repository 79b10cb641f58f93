// Step time against cost: the settings that no other beats in both.
import { el } from './dom.js';
import { addChart } from './chart.js';
import { bytes, count, several, time } from './format.js';
import { kColours } from './theme.js';
import { aside, kBreak } from './markup.js';

/// Returns the indices of the [x, y] pairs that no other pair beats (smaller is better in both), by
/// x. Equal pairs are all kept.
export function front(pairs) {
    const order = pairs.map((_, i) => i).sort((a, b) => pairs[a][0] - pairs[b][0] || pairs[a][1] - pairs[b][1]);
    const kept = [];
    for (const i of order) {
        const last = kept.length > 0 ? pairs[kept[kept.length - 1]] : undefined;
        if (!last || pairs[i][1] < last[1] || (pairs[i][0] === last[0] && pairs[i][1] === last[1])) kept.push(i);
    }
    return kept;
}

async function addFront(parent, { id, title, axis, of, text, log }, rows, named) {
    const fits = rows.filter((row) => row.values['memory.fits'] !== false);
    const over = rows.filter((row) => row.values['memory.fits'] === false);
    const misfits = over.filter((row) => !row.values['memory.tight']);
    const tight = over.filter((row) => row.values['memory.tight']);
    const best = front(fits.map((row) => [of(row), row.values.step_time_s])).map((i) => fits[i]);
    const about = (row) => `${named(row)}${kBreak}${time(row.values.step_time_s)}, ${text(of(row))}`;
    const points = (name, some, marker) => ({
        type: 'scatter',
        mode: 'markers',
        name,
        x: some.map(of),
        y: some.map((row) => row.values.step_time_s),
        marker,
        customdata: some.map(about),
        hovertemplate: `%{customdata}${aside()}`,
    });
    const said = best.slice(0, 4).map((row) => `${text(of(row))}: ${time(row.values.step_time_s)} (${named(row)})`);
    await addChart(parent, {
        id,
        title,
        alt:
            best.length > 0
                ? `On the front: ${said.join('; ')}${best.length > 4 ? `; and ${best.length - 4} more` : ''}.`
                : 'No setting fits.',
        build: (theme) => ({
            data: [
                points('settings', fits, { color: kColours.sky, size: 8, line: { width: 1, color: theme.ink } }),
                points('does not fit', misfits, {
                    color: kColours.grey,
                    size: 9,
                    symbol: 'x-thin',
                    line: { width: 2, color: kColours.grey },
                }),
                points('tight, may not fit', tight, {
                    color: kColours.orange,
                    size: 9,
                    symbol: 'cross-thin',
                    line: { width: 2, color: kColours.orange },
                }),
                {
                    type: 'scatter',
                    mode: 'lines+markers',
                    name: 'front',
                    x: best.map(of),
                    y: best.map((row) => row.values.step_time_s),
                    line: { color: kColours.vermilion, shape: 'hv', width: 2 },
                    marker: { symbol: 'diamond', size: 10, color: kColours.vermilion },
                    customdata: best.map(about),
                    hovertemplate: `%{customdata}${aside()}`,
                },
            ].filter((trace) => trace.x.length > 0),
            layout: {
                hovermode: 'closest',
                xaxis: {
                    title: axis,
                    tickformat: '~s',
                    type: log && new Set(rows.map(of)).size > 1 ? 'log' : 'linear',
                    rangemode: 'tozero',
                    nticks: 6,
                },
                yaxis: { title: 'step time', tickformat: '~s', ticksuffix: 's', rangemode: 'tozero' },
            },
        }),
        numbers: {
            columns: [
                { name: `Front: ${axis}`, text },
                { name: 'Step time', number: true, text: time },
                { name: 'Setting' },
            ],
            rows: best.map((row) => [of(row), row.values.step_time_s, named(row)]),
        },
    });
}

export async function addFronts(section, rows, named) {
    const priced = rows.every((row) => typeof row.values['training_run.cost_usd'] === 'number');
    const against = [
        {
            id: 'front-chips',
            title: 'Step time against chips',
            axis: 'chips',
            of: (row) => row.values.chips,
            text: (n) => several(n, 'chip'),
        },
        {
            id: 'front-memory',
            title: 'Step time against memory',
            axis: 'peak memory of a chip, bytes',
            of: (row) => row.values['memory.peak_bytes'],
            text: bytes,
        },
        priced
            ? {
                  id: 'front-cost',
                  title: 'Step time against cost',
                  axis: 'cost of the training run, USD',
                  of: (row) => row.values['training_run.cost_usd'],
                  text: (usd) => `${count(usd)} USD`,
              }
            : {
                  id: 'front-cost',
                  title: 'Step time against chip time',
                  axis: 'chip-seconds of a step',
                  of: (row) => row.values.chips * row.values.step_time_s,
                  text: (s) => `${count(s)} chip-seconds`,
              },
    ];
    section.append(
        el(
            'p',
            { class: 'how' },
            'A point is a setting. The line joins those that no other beats in both; settings that do not fit, or may not, are crosses and never on it.',
        ),
    );
    const three = section.appendChild(el('div', { class: 'three' }));
    for (const one of against) await addFront(three, one, rows, named);
}
