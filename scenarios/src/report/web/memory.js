// The HBM use of a chip over the step.
import { el, table } from './dom.js';
import { addChart } from './chart.js';
import { bytes, list, percent, time } from './format.js';
import { kHatches, kOrder } from './theme.js';
import { aside } from './markup.js';

const words = (name) => name.replaceAll('_', ' ');

function atPeak(memory) {
    return table({
        id: 'memory-table',
        caption: 'At the peak',
        columns: [
            { name: 'Class' },
            { name: 'Bytes', number: true, text: bytes },
            { name: 'Share of capacity', number: true, text: percent },
        ],
        rows: memory.atPeak.filter(([, b]) => b > 0).map(([name, b]) => [words(name), b, b / memory.capacity]),
    });
}

/// curve: { chip, series, at_s, bytes: a list by series }
export async function addMemory(section, memory, curve) {
    if (curve) {
        const colour = (i) => kOrder[i % kOrder.length];
        const used = curve.series
            .map((name, i) => ({ name: words(name), values: curve.bytes[i] }))
            .filter(({ values }) => values.some((b) => b > 0));
        const end = curve.end_s;
        const small = memory.peak < 0.4 * memory.capacity;
        const top = small ? memory.peak * 1.12 : Math.max(memory.capacity, memory.peak) * 1.06;
        const at = [...curve.at_s, end];
        await addChart(section, {
            id: 'memory-over-time',
            title: `HBM of a chip over the step${curve.chip ? `, ${curve.chip}` : ''}`,
            height: 400,
            how: small
                ? `The axis ends above the peak: the capacity, ${bytes(memory.capacity)}, is ${(memory.capacity / memory.peak).toFixed(0)} times as high.`
                : 'The dashed line is what programs may use.',
            alt: `The peak is ${bytes(memory.peak)} at ${time(memory.at)}, ${percent(memory.peak / memory.capacity)} of ${bytes(memory.capacity)}: ${list(
                memory.atPeak
                    .filter(([, b]) => b > 0)
                    .sort((a, b) => b[1] - a[1])
                    .slice(0, 3)
                    .map(([name, b]) => `${words(name)} ${bytes(b)}`),
            )}.`,
            build: (theme) => ({
                data: [
                    ...used.map(({ name, values }, i) => ({
                        type: 'scatter',
                        mode: 'lines',
                        stackgroup: 'held',
                        name,
                        x: at,
                        y: [...values, values[values.length - 1]],
                        line: { shape: 'hv', width: 0.5, color: colour(i) },
                        fillcolor: colour(i),
                        fillpattern: { shape: kHatches[i], fillmode: 'overlay', fgopacity: 0.2, size: 7 },
                        customdata: values.map(bytes),
                        hovertemplate: '%{customdata}',
                    })),
                    ...(small
                        ? []
                        : [
                              {
                                  type: 'scatter',
                                  mode: 'lines',
                                  name: 'capacity',
                                  x: [0, end],
                                  y: [memory.capacity, memory.capacity],
                                  line: { dash: 'dash', color: theme.ink, width: 2 },
                                  hoverinfo: 'skip',
                              },
                          ]),
                    {
                        type: 'scatter',
                        mode: 'markers',
                        name: 'peak',
                        x: [memory.at],
                        y: [memory.peak],
                        marker: { symbol: 'diamond', size: 11, color: theme.ink },
                        hovertemplate: `peak ${bytes(memory.peak)}${aside()}`,
                    },
                ],
                layout: {
                    hovermode: 'x unified',
                    xaxis: { title: 'time', tickformat: '~s', ticksuffix: 's', range: [0, end] },
                    yaxis: { title: 'bytes', range: [0, top], tickformat: '~s', ticksuffix: 'B' },
                },
            }),
        });
    }
    section.append(el('div', {}, atPeak(memory)));
}
