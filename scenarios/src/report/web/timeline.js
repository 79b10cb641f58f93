// The history of the chips: tracks of slices. Only visible slices are drawn; zooming shows more.
import { el } from './dom.js';
import { addChart, labelled, narrow } from './chart.js';
import { list, percent, several, time } from './format.js';
import { kColours, kHatches, kOrder } from './theme.js';
import { aside, bold, kBreak } from './markup.js';

const kMostBars = 2400;
/// Slices below this fraction of the visible range are merged.
const kSmallest = 1 / 1000;
const kPicosecond = 1e-12;
const kFixed = {
    forward: kColours.blue,
    recompute: kColours.sky,
    backward: kColours.orange,
    optimizer: kColours.purple,
    wait: kColours.grey,
    tensor: kColours.vermilion,
    context: kColours.yellow,
    weights: kColours.green,
    gradients: kColours.purple,
};

/// Returns a process with its slices as objects. The file has them as columns, with starts as
/// distances from the previous end.
function unpack(timeline, process) {
    return {
        ...process,
        tracks: process.tracks.map((track) => {
            let at = 0;
            const slices = track.gap_ps.map((gap, i) => {
                const start = at + gap;
                at = start + track.duration_ps[i];
                return {
                    start,
                    end: at,
                    name: timeline.names[track.name_of[i]],
                    category: timeline.categories[track.category_of[i]],
                    text: timeline.texts[track.text_of[i]],
                    layer: track.layer_of[i],
                };
            });
            return { kind: track.kind, name: track.name, slices };
        }),
    };
}

/// Merges neighbouring slices that are too short to see: one bar per category, as long as its
/// slices together.
function crowdBars(slices) {
    const sums = new Map();
    for (const slice of slices) {
        const sum = sums.get(slice.category) ?? { time: 0, count: 0 };
        sum.time += slice.end - slice.start;
        sum.count += 1;
        sums.set(slice.category, sum);
    }
    let at = slices[0].start;
    return [...sums].map(([category, { time: length, count }]) => {
        const start = at;
        at += length;
        return {
            start,
            end: at,
            category,
            layer: -1,
            name: `${several(count, 'slice')} of ${category}`,
            text: 'together; zoom in to see them',
        };
    });
}

/// Returns the slices of a track between two times. Those shorter than `least` are merged if they
/// lie within `4 least`.
function seen(track, from, to, least) {
    const bars = [];
    let crowd = [];
    const close = () => {
        bars.push(...(crowd.length > 1 ? crowdBars(crowd) : crowd));
        crowd = [];
    };
    for (const slice of track.slices) {
        if (slice.end <= from || slice.start >= to) continue;
        if (slice.end - slice.start >= least) {
            close();
            bars.push(slice);
            continue;
        }
        if (
            crowd.length > 0 &&
            (slice.end - crowd[0].start > 4 * least || slice.start - crowd[crowd.length - 1].end > least)
        )
            close();
        crowd.push(slice);
    }
    close();
    return bars;
}

/// Returns the same with at most `most` bars, which a browser draws at once: merges more until they
/// are few enough.
function fewBars(track, from, to, most) {
    let least = (to - from) * kSmallest;
    let bars = seen(track, from, to, least);
    while (bars.length > most && least < to - from) {
        least *= 2;
        bars = seen(track, from, to, least);
    }
    return bars;
}

function hover(track, slice) {
    const layer = slice.layer >= 0 ? `, layer ${slice.layer}` : '';
    const more = slice.text ? kBreak + slice.text.replaceAll('; ', kBreak) : '';
    return `${bold(slice.name)}${layer}${kBreak}${track.name}${kBreak}${time((slice.end - slice.start) * kPicosecond)} from ${(slice.start * kPicosecond).toPrecision(9)} s${more}`;
}

function traces(tracks, from, to, width) {
    const fits = (slice) => ((slice.end - slice.start) / (to - from)) * width > 7.5 * slice.name.length;
    const byCategory = new Map();
    for (const track of tracks) {
        for (const slice of fewBars(track, from, to, kMostBars / tracks.length)) {
            if (!byCategory.has(slice.category)) byCategory.set(slice.category, []);
            byCategory.get(slice.category).push([track, slice]);
        }
    }
    const free = kOrder.slice();
    return [...byCategory].map(([category, rows], i) => ({
        type: 'bar',
        orientation: 'h',
        name: category,
        y: rows.map(([track]) => track.name),
        width: 0.84,
        base: rows.map(([, slice]) => slice.start * kPicosecond),
        x: rows.map(([, slice]) => (slice.end - slice.start) * kPicosecond),
        marker: {
            color: kFixed[category] ?? free[i % free.length],
            pattern: { shape: category === 'wait' ? '/' : kHatches[0], fillmode: 'overlay', fgopacity: 0.5, size: 6 },
            line: { width: 0 },
        },
        customdata: rows.map(([track, slice]) => hover(track, slice)),
        hovertemplate: `%{customdata}${aside()}`,
        text: rows.map(([, slice]) => (fits(slice) ? slice.name : '')),
        textposition: 'inside',
        insidetextanchor: 'middle',
        constraintext: 'none',
        textangle: 0,
    }));
}

/// One chart of a process: tracks, and a range that buttons and zooming change.
class TimelineChart {
    constructor(id, tracks, range, whole) {
        Object.assign(this, { id, tracks, range, whole });
    }

    build() {
        const [from, to] = this.range;
        const width = Math.max((this.chart?.node ?? document.getElementById('main')).clientWidth - 260, 100);
        return {
            data: traces(this.tracks, from, to, width),
            layout: {
                barmode: 'overlay',
                bargap: 0.1,
                hovermode: 'closest',
                dragmode: 'zoom',
                xaxis: {
                    title: 'time',
                    range: [from * kPicosecond, to * kPicosecond],
                    tickformat: '~s',
                    ticksuffix: 's',
                    nticks: narrow() ? 4 : 8,
                },
                yaxis: {
                    ...labelled(this.tracks.map((track) => track.name)),
                    type: 'category',
                    categoryorder: 'array',
                    categoryarray: this.tracks.map((track) => track.name),
                    fixedrange: true,
                    ticks: '',
                    showgrid: false,
                    range: [this.tracks.length - 0.5, -0.5],
                },
            },
        };
    }

    async add(section, options) {
        this.chart = await addChart(section, {
            ...options,
            id: this.id,
            height: 130 + 27 * this.tracks.length,
            build: () => this.build(),
        });
        this.chart.node.on('plotly_relayout', (change) => this.follow(change));
    }

    /// Zooming changes which slices are drawn separately.
    async follow(change) {
        if (change['xaxis.autorange'] || change.autosize) {
            if (change.autosize) return;
            await this.show(this.whole);
        } else if (change['xaxis.range[0]'] !== undefined || change['xaxis.range'] !== undefined) {
            const [from, to] = change['xaxis.range'] ?? [change['xaxis.range[0]'], change['xaxis.range[1]']];
            await this.show([from / kPicosecond, to / kPicosecond]);
        }
    }

    async show(range) {
        if (range[0] === this.range[0] && range[1] === this.range[1]) return;
        this.range = range;
        await this.chart.redraw();
    }
}

function buttons(ranges, show) {
    const all = ranges.map(({ name, range }, i) =>
        el(
            'button',
            {
                type: 'button',
                'aria-pressed': i === 0 ? 'true' : 'false',
                onclick: (event) => {
                    all.forEach((button) =>
                        button.setAttribute('aria-pressed', String(button === event.currentTarget)),
                    );
                    show(range);
                },
            },
            name,
        ),
    );
    return el('div', { class: 'controls', role: 'group', 'aria-label': 'Tracks' }, all);
}

const touches = (track, [from, to]) => track.slices.some((slice) => slice.end > from && slice.start < to);

/// Returns the description of the chart. Waits are those of the reported chip, which is the first.
function inWords(process, step) {
    const slices = process.tracks.reduce((sum, track) => sum + track.slices.length, 0);
    const about = `${process.name}: ${several(slices, 'slice')} on ${several(process.tracks.length, 'track')}`;
    if (!step) return `${about}.`;
    const waits = step.waits
        .filter(([, s]) => s > 0)
        .sort((a, b) => b[1] - a[1])
        .slice(0, 3)
        .map(([name, s]) => `${name} ${time(s)}`);
    const longest = waits.length > 0 ? `, most of all for ${list(waits)}` : '';
    return `${about}; the compute stream waits ${percent(step.exposed / step.step)} of the step${longest}.`;
}

export async function addTimelines(section, timeline, result) {
    const holder = el('div');
    const draw = async (index) => {
        holder.replaceChildren();
        const process = unpack(timeline, timeline.processes[index]);
        const whole = [0, process.end_s / kPicosecond];
        const step = new TimelineChart(
            'timeline-step',
            process.tracks.filter(({ kind }) => kind !== 'link' && kind !== 'steps'),
            whole,
            whole,
        );
        const ranges = [
            { name: 'Whole step', range: whole },
            ...process.steady.map((window) => ({
                name: `Layer ${window.layer} ${window.pass}`,
                range: [window.from_ps, window.until_ps],
            })),
        ];
        await step.add(holder, {
            title: 'The step',
            alt: inWords(process, index === 0 ? result : undefined),
            controls: buttons(ranges, (range) => step.show(range)),
            how: 'Drag sideways to zoom in, double-click to see all; slices that are too short to see are drawn together.',
        });
        if (process.steady.length === 0) return;
        const windows = process.steady.map((window) => ({
            name: `Layer ${window.layer} ${window.pass}`,
            range: [window.from_ps, window.until_ps],
        }));
        const layer = new TimelineChart(
            'timeline-layer',
            process.tracks.filter(
                (track) => track.kind !== 'steps' && windows.some(({ range }) => touches(track, range)),
            ),
            windows[0].range,
            windows[0].range,
        );
        const length = (windows[0].range[1] - windows[0].range[0]) * kPicosecond;
        await layer.add(holder, {
            title: 'One layer',
            controls: buttons(windows, (range) => {
                layer.whole = range;
                return layer.show(range);
            }),
            how: 'One pass over a layer in the middle of the step, with the messages on the links that leave the chip.',
            alt: `${windows[0].name} takes ${time(length)}; ${list(windows.slice(1).map(({ name, range }) => `${name} ${time((range[1] - range[0]) * kPicosecond)}`))}.`,
        });
    };
    if (timeline.processes.length > 1) {
        const choice = el(
            'select',
            { id: 'timeline-process', onchange: (event) => draw(Number(event.target.value)) },
            timeline.processes.map((process, i) => el('option', { value: i }, process.name)),
        );
        section.append(el('div', { class: 'controls' }, el('label', { for: 'timeline-process' }, 'Chip:'), choice));
    }
    section.append(holder);
    await draw(0);
}
