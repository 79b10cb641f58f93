// Named amounts as horizontal bars, in groups that differ by colour and hatching.
import { addChart, labelled } from './chart.js';
import { percent, time } from './format.js';
import { kHatches, kOrder } from './theme.js';
import { aside, kBreak } from './markup.js';

const kTicks = new Map([
    [time, { tickformat: '~s', ticksuffix: 's' }],
    [percent, { tickformat: '.0%' }],
]);

/// groups: [{ name, rows: [[label, value]] }]; text(value); of: the whole of percentages, with its
/// name.
export async function addBars(parent, { id, title, how, alt, groups, text, of, axis, range, colours = kOrder }) {
    const rows = groups.flatMap((group) => group.rows);
    const share = (value) => (of ? `, ${((100 * value) / of.value).toFixed(1)} % of ${of.name}` : '');
    return addChart(parent, {
        id,
        title,
        how,
        alt,
        height: 90 + 24 * rows.length,
        build: (theme) => ({
            data: groups
                .filter((group) => group.rows.length > 0)
                .map((group, i) => ({
                    type: 'bar',
                    orientation: 'h',
                    name: group.name,
                    y: group.rows.map(([label]) => label),
                    x: group.rows.map(([, value]) => value),
                    marker: {
                        color: colours[i],
                        pattern: { shape: kHatches[i], size: 6, fillmode: 'overlay', fgopacity: 0.4 },
                    },
                    text: group.rows.map(([, value]) => text(value)),
                    textposition: 'outside',
                    cliponaxis: false,
                    textfont: { color: theme.ink },
                    customdata: group.rows.map(([, value]) => text(value) + share(value)),
                    hovertemplate: `%{y}${kBreak}%{customdata}${aside()}`,
                })),
            layout: {
                margin: { r: 80 },
                barmode: 'stack',
                showlegend: groups.length > 1,
                xaxis: { title: text === time ? 'time' : axis, rangemode: 'tozero', range, ...kTicks.get(text) },
                yaxis: {
                    autorange: 'reversed',
                    categoryorder: 'array',
                    categoryarray: rows.map(([label]) => label),
                    ticks: '',
                    showgrid: false,
                    ...labelled(rows.map(([label]) => label)),
                },
            },
        }),
        numbers: {
            columns: [{ name: 'What' }, { name: axis, number: true, text: String }, { name: '', number: true }],
            rows: rows.map(([label, value]) => [label, value, text(value) + share(value)]),
        },
    });
}
