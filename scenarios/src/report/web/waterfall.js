// From a bound to the simulated time, cause by cause: bars that add up.
import { addChart, labelled } from './chart.js';
import { list, percent, time } from './format.js';
import { kColours } from './theme.js';
import { aside, kBreak } from './markup.js';

/// from, to: [name, seconds]; terms: [name, seconds] pairs that add up to to - from.
export async function addWaterfall(parent, { id, title, from, to, terms }) {
    const seen = terms.filter(([, s]) => s !== 0);
    const gap = to[1] - from[1];
    const largest = seen
        .slice()
        .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
        .slice(0, 3)
        .map(([name, s]) => `${name} ${time(s)} (${percent(s / gap)} of the gap)`);
    const names = [from[0], ...seen.map(([name]) => name), to[0]];
    const values = [from[1], ...seen.map(([, s]) => s), to[1]];
    const alt =
        gap > 0
            ? `From ${time(from[1])} (${from[0]}) to ${time(to[1])} (${to[0]}): ${time(gap)} in ${seen.length} terms, the largest ${list(largest)}.`
            : `${to[0]} is ${time(to[1])}, no more than ${from[0]}.`;
    // If the terms are small beside the bound, the axis begins near it.
    const sums = seen.reduce((all, [, s]) => [...all, all[all.length - 1] + s], [from[1]]);
    const [least, most] = [Math.min(...sums), Math.max(...sums)];
    const near = most - least < 0.15 * most && least > 0;
    const range = near
        ? [least - 0.15 * (most - least), most + 0.25 * (most - least)]
        : [Math.min(0, 1.1 * least), most * 1.12];
    return addChart(parent, {
        id,
        title,
        alt,
        height: 110 + 24 * names.length,
        how: `Each bar begins where the one above ends: what would be saved without that cause. Bars to the left save time.${near ? ' The axis does not begin at 0.' : ''}`,
        build: (theme) => ({
            data: [
                {
                    type: 'waterfall',
                    orientation: 'h',
                    y: names,
                    x: values,
                    customdata: values.map((s) => [time(s), gap ? percent(s / gap) : '']),
                    measure: names.map((_, i) =>
                        i === 0 ? 'absolute' : i === names.length - 1 ? 'total' : 'relative',
                    ),
                    text: values.map(time),
                    textposition: 'outside',
                    cliponaxis: false,
                    textfont: { color: theme.ink },
                    increasing: { marker: { color: kColours.vermilion } },
                    decreasing: { marker: { color: kColours.green } },
                    totals: { marker: { color: kColours.blue } },
                    connector: { line: { color: theme.soft, width: 1 } },
                    hovertemplate: `%{y}${kBreak}%{customdata[0]}${kBreak}%{customdata[1]} of the gap${aside()}`,
                },
            ],
            layout: {
                margin: { r: 70 },
                showlegend: false,
                xaxis: { title: 'time', tickformat: '~s', ticksuffix: 's', range },
                yaxis: { autorange: 'reversed', ticks: '', showgrid: false, ...labelled(names) },
            },
        }),
        numbers: {
            columns: [
                { name: 'Term' },
                { name: 'Seconds', number: true, text: String },
                { name: 'Time', number: true },
                { name: 'Share of gap', number: true },
            ],
            rows: names.map((name, i) => [
                name,
                values[i],
                time(values[i]),
                i > 0 && i < names.length - 1 ? percent(values[i] / gap) : null,
            ]),
        },
    });
}
