// The page of `podsim sweep`: settings side by side.
import { el, table } from './dom.js';
import { addChart, addSection } from './chart.js';
import { bytes, count, list, percent, several, time } from './format.js';
import { addFronts } from './pareto.js';
import { kColours } from './theme.js';

const kTexts = {
    time,
    share: percent,
    bytes,
    count,
    money: (usd) => `${count(usd)} USD`,
    token_rate: count,
    text: String,
    truth: (holds) => (holds ? 'yes' : 'no'),
};
/// Columns that are useless for comparing settings.
const kEffort = ['simulated_chips', 'events', 'memory.tight'];

/// Returns settings as objects: choice (a value's index by varied key), values by column, error.
function rowsOf(json) {
    const keys = json.varied.map(({ key }) => key);
    return json.rows.map((row) => {
        const choice = row.slice(1, 1 + keys.length);
        const values = Object.fromEntries(json.columns.map((column, i) => [column.key, row[1 + keys.length + i]]));
        return {
            index: row[0],
            choice,
            settings: choice.map((value, i) => json.varied[i].values[value]),
            values,
            error: row[row.length - 1],
        };
    });
}

const named = (json, row) => row.settings.map((value, i) => `${json.varied[i].key}=${value}`).join(', ');

function verdict(json, rows) {
    const simulated = rows.filter((row) => !row.error);
    const fitting = simulated.filter((row) => row.values['memory.fits'] !== false);
    const tight = simulated.filter((row) => row.values['memory.fits'] === false && row.values['memory.tight']);
    const misfits = simulated.length - fitting.length - tight.length;
    const refused = rows.length - simulated.length;
    const best = fitting.slice().sort((a, b) => a.values.step_time_s - b.values.step_time_s)[0];
    const head = `${several(rows.length, 'setting')} of ${json.scenario}${refused > 0 ? `, ${refused} of them refused` : ''}${misfits > 0 ? `, ${misfits} that do not fit` : ''}${tight.length > 0 ? `, ${tight.length} so tight that they may not fit` : ''}.`;
    if (!best) return `${head} None of them fits.`;
    const worst =
        fitting[fitting.length - 1] && fitting.reduce((a, b) => (a.values.step_time_s > b.values.step_time_s ? a : b));
    return (
        `${head} The shortest step that fits takes ${time(best.values.step_time_s)} (${named(json, best)})` +
        `${worst !== best ? `, the longest ${time(worst.values.step_time_s)} (${named(json, worst)})` : ''}.`
    );
}

function dimension(label, values, text) {
    const from = Math.min(...values);
    const to = Math.max(...values);
    const room = from === to ? Math.max(Math.abs(from) * 0.05, 1e-12) : 0;
    const ticks = Array.from({ length: from === to ? 1 : 5 }, (_, i) => from + ((to - from) * i) / 4);
    return { label, values, range: [from - room, to + room], tickvals: ticks, ticktext: ticks.map(text) };
}

async function addParallel(section, json, rows) {
    const seen = rows.filter((row) => !row.error);
    const wanted = [
        ['step_time_s', 'step time', time],
        ['mfu', 'MFU', percent],
        ['tokens_per_s', 'tokens/s', count],
        ['memory.peak_bytes', 'peak memory', bytes],
        ['chips', 'chips', count],
    ];
    const measures = wanted.filter(
        ([key]) =>
            seen.every((row) => typeof row.values[key] === 'number') &&
            new Set(seen.map((row) => row.values[key])).size > 1,
    );
    const short = (key) => key.slice(key.lastIndexOf('.') + 1);
    const ranks = seen.map((row) => row.values.step_time_s).sort((a, b) => a - b);
    await addChart(section, {
        id: 'parallel',
        title: 'All settings at once',
        height: 440,
        how: 'A line is a setting: from the keys that vary (left) to what came of them. Drag along an axis to keep only lines that cross it there; drag a heading to move the axis. Blue lines are short steps, orange ones long.',
        alt: `${several(seen.length, 'setting')} over ${list(json.varied.map(({ key }) => key))}: step time from ${time(Math.min(...seen.map((row) => row.values.step_time_s)))} to ${time(Math.max(...seen.map((row) => row.values.step_time_s)))}.`,
        build: (theme) => ({
            data: [
                {
                    type: 'parcoords',
                    line: {
                        color: seen.map((row) => ranks.indexOf(row.values.step_time_s)),
                        colorscale: [
                            [0, kColours.blue],
                            [0.5, kColours.purple],
                            [1, kColours.orange],
                        ],
                        showscale: false,
                    },
                    labelfont: { color: theme.ink, size: 13 },
                    tickfont: { color: theme.ink, size: 11 },
                    rangefont: { color: 'rgba(0,0,0,0)' },
                    unselected: { line: { color: theme.line, opacity: 0.4 } },
                    dimensions: [
                        ...json.varied.map(({ key, values }, i) => ({
                            label: short(key),
                            values: seen.map((row) => row.choice[i]),
                            range: [-0.2, Math.max(values.length - 0.8, 0.2)],
                            tickvals: values.map((_, v) => v),
                            ticktext: values,
                        })),
                        ...measures.map(([key, label, text]) =>
                            dimension(
                                label,
                                seen.map((row) => row.values[key]),
                                text,
                            ),
                        ),
                    ],
                },
            ],
            layout: { margin: { l: 90, r: 70, t: 50, b: 30 } },
        }),
    });
}

/// Varied keys sort in the order of their given values, as with `--sort`.
function addTable(section, json, rows) {
    const columns = json.columns.filter(
        ({ key }) => !kEffort.includes(key) && rows.some((row) => row.values[key] !== null),
    );
    const refused = rows.some((row) => row.error);
    section.append(
        table({
            id: 'sweep-table',
            caption: `${several(rows.length, 'setting')}; click a heading to sort`,
            sortable: true,
            columns: [
                ...json.varied.map(({ key, values }) => ({
                    name: key,
                    text: (choice) => values[choice],
                })),
                ...columns.map(({ name, unit }) => ({
                    name: name.replaceAll('_', ' '),
                    number: !['text', 'truth'].includes(unit),
                    text: kTexts[unit],
                })),
                ...(refused ? [{ name: 'refused', long: true }] : []),
            ],
            rows: rows.map((row) => [
                ...row.choice,
                ...columns.map(({ key }) => row.values[key]),
                ...(refused ? [row.error] : []),
            ]),
        }),
    );
}

export async function sweepPage(page) {
    const json = page.result;
    const rows = rowsOf(json);
    addSection(
        'summary',
        'Summary',
        el('p', { class: 'verdict' }, verdict(json, rows)),
        json.warnings.map((warning) => el('p', { class: 'warning' }, warning)),
    );
    const simulated = rows.filter((row) => !row.error);
    if (simulated.length > 0) {
        await addFronts(addSection('fronts', 'Fronts'), simulated, (row) => named(json, row));
        await addParallel(addSection('parallel-coordinates', 'Parallel coordinates'), json, rows);
    }
    addTable(addSection('table', 'Table'), json, rows);
}
