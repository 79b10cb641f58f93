// The page of `podsim compare`: simulated beside measured, with errors.
import { el, table } from './dom.js';
import { addChart, addSection } from './chart.js';
import { expectationsOf } from './data.js';
import { standing } from './expectations.js';
import { number, percent, several, signed, time } from './format.js';
import { kColours, kSymbols } from './theme.js';
import { aside, kBreak } from './markup.js';

/// Returns the references of all scenarios, each with its scenario.
function referencesOf(scenarios, families) {
    return scenarios.flatMap((scenario, i) =>
        expectationsOf(scenario.expectations).map((row) => ({
            ...row,
            scenario: scenario.scenario,
            family: families[i],
            chip: scenario.chip,
            band: scenario.error_band?.fraction,
            profile: scenario.profile,
        })),
    );
}

const kStandings = { holds: kColours.green, differs: kColours.orange, fails: kColours.vermilion };

function verdict(scenarios, rows, errors) {
    const failing = rows.filter((row) => !row.holds);
    const worst = rows.slice().sort((a, b) => Math.abs(b.error) - Math.abs(a.error))[0];
    const all = errors?.all?.simulated ?? errors?.all;
    const head = `${several(scenarios.length, 'scenario')}, ${several(rows.length, 'reference')}: ${rows.length - failing.length} hold, ${failing.length} fail.`;
    if (!worst) return head;
    return `${head} Simulated values are off by ${percent(all.mean_absolute)} on average (bias ${signed(all.bias)}); the worst of all is ${worst.scenario}, ${worst.quantity}: ${signed(worst.error)}.`;
}

/// Draws times, both axes in seconds: on the diagonal they agree.
async function addAgreement(section, rows) {
    const times = rows.filter((row) => /time|^block/.test(row.quantity) && row.reference > 0 && row.value > 0);
    if (times.length === 0) return;
    const ends = [
        Math.min(...times.flatMap((row) => [row.reference, row.value])) / 1.5,
        Math.max(...times.flatMap((row) => [row.reference, row.value])) * 1.5,
    ];
    const chips = [...new Set(times.map((row) => row.chip ?? 'other'))];
    const colours = Object.values(kColours);
    const within = times.filter((row) => Math.abs(row.error) <= 0.1).length;
    await addChart(section, {
        id: 'agreement',
        title: 'Simulated against reference times',
        height: 520,
        how: 'On the line both agree; the grey lines are 10 % away from it. Bars are the error band of the profile: how far published steps that it had not seen lay from its predictions.',
        alt: `${several(times.length, 'time')}; ${within} of them within 10 % of their reference.`,
        build: (theme) => ({
            data: [
                ...[
                    [1, 'solid', 'equal'],
                    [1.1, 'dot', '10 % above'],
                    [1 / 1.1, 'dot', '10 % below'],
                ].map(([factor, dash, name]) => ({
                    type: 'scatter',
                    mode: 'lines',
                    name,
                    x: ends,
                    y: ends.map((s) => s * factor),
                    line: { dash, color: factor === 1 ? theme.ink : theme.soft, width: 1.5 },
                    hoverinfo: 'skip',
                    showlegend: factor === 1,
                })),
                ...chips.map((chip, i) => {
                    const some = times.filter((row) => (row.chip ?? 'other') === chip);
                    return {
                        type: 'scatter',
                        mode: 'markers',
                        name: chip,
                        meta: 'references',
                        x: some.map((row) => row.reference),
                        y: some.map((row) => row.value),
                        marker: {
                            color: colours[i % colours.length],
                            symbol: kSymbols[i % kSymbols.length],
                            size: 9,
                            line: { width: 1, color: theme.ink },
                        },
                        error_y: {
                            type: 'data',
                            array: some.map((row) => (row.band ?? 0) * row.value),
                            color: colours[i % colours.length],
                            thickness: 1,
                            width: 3,
                        },
                        customdata: some.map(
                            (row) =>
                                `${row.scenario}${kBreak}${row.quantity}: ${time(row.value)}, reference ${time(row.reference)} (${signed(row.error)})${row.band ? `${kBreak}band ±${(100 * row.band).toFixed(0)} %` : ''}`,
                        ),
                        hovertemplate: `%{customdata}${aside()}`,
                    };
                }),
            ],
            layout: {
                hovermode: 'closest',
                xaxis: { type: 'log', title: 'reference, seconds', exponentformat: 'power', dtick: 1 },
                yaxis: { type: 'log', title: 'simulated, seconds', exponentformat: 'power', dtick: 1 },
            },
        }),
    });
}

/// Up to this number of references have a line each; more are points on their folder's line.
const kMostLines = 40;

/// Returns the lines of the chart, and for each reference its line with an offset.
function linesOf(rows) {
    if (rows.length <= kMostLines) {
        const cut = (text) => (text.length > 44 ? `${text.slice(0, 43)}…` : text);
        return { labels: rows.map((row) => `${cut(row.scenario)} · ${row.quantity}`), at: rows.map((_, i) => i) };
    }
    const labels = [...new Set(rows.map((row) => row.family))];
    const seen = new Map();
    const at = rows.map((row) => {
        const n = (seen.get(row.family) ?? 0) + 1;
        seen.set(row.family, n);
        // A fixed offset, not a random one.
        return labels.indexOf(row.family) + (((n * 0.618) % 1) - 0.5) * 0.7;
    });
    return { labels: labels.map((label) => `${label} (${seen.get(label)})`), at };
}

/// Draws every reference with its tolerance, by folder.
async function addErrors(section, rows) {
    const order = rows.slice().sort((a, b) => a.family.localeCompare(b.family) || b.error - a.error);
    const { labels, at } = linesOf(order);
    const single = order.length <= kMostLines;
    const worst = Math.max(...order.map((row) => Math.abs(row.error)));
    await addChart(section, {
        id: 'errors',
        title: 'Errors and what is allowed',
        height: 150 + (single ? 22 : 44) * labels.length,
        how: single
            ? 'A mark is simulated (or analytic) over reference, less one; the bar behind it is the tolerance that the scenario states.'
            : 'A mark is simulated (or analytic) over reference, less one, on the line of its folder; point at it for its tolerance. Thin bars are the error band of the profile.',
        alt: `${several(order.length, 'reference')}, errors up to ${percent(worst)}; ${order.filter((row) => !row.holds).length} outside their tolerance.`,
        build: (theme) => ({
            data: [
                ...(single
                    ? [
                          {
                              type: 'bar',
                              orientation: 'h',
                              name: 'allowed',
                              y: at,
                              base: order.map((row) => -100 * row.within),
                              x: order.map((row) => 200 * row.within),
                              marker: { color: theme.line },
                              width: 0.6,
                              hoverinfo: 'skip',
                          },
                      ]
                    : []),
                ...Object.entries(kStandings)
                    .map(([name, colour], i) => {
                        const chosen = order.map((row, n) => [row, at[n]]).filter(([row]) => standing(row) === name);
                        return {
                            type: 'scatter',
                            mode: 'markers',
                            name,
                            meta: 'references',
                            y: chosen.map(([, y]) => y),
                            x: chosen.map(([row]) => 100 * row.error),
                            error_x: {
                                type: 'data',
                                array: chosen.map(([row]) => 100 * (row.band ?? 0) * (1 + row.error)),
                                color: colour,
                                thickness: 1,
                                width: 2,
                            },
                            marker: { color: colour, symbol: kSymbols[i], size: 9, opacity: 0.85 },
                            customdata: chosen.map(
                                ([row]) =>
                                    `${row.scenario}${kBreak}${row.quantity}: ${number(row.value)}, reference ${number(row.reference)}${kBreak}${signed(row.error)}, within ${percent(row.within)}${row.analytic ? ', by a formula' : ''}${kBreak}${row.source}`,
                            ),
                            hovertemplate: `%{customdata}${aside()}`,
                        };
                    })
                    .filter((trace) => trace.x.length > 0),
            ],
            layout: {
                hovermode: 'closest',
                barmode: 'overlay',
                legend: { y: 1.0, yref: 'paper', yanchor: 'bottom' },
                margin: { t: 30 },
                xaxis: { title: 'error', ticksuffix: ' %', zeroline: true },
                yaxis: {
                    range: [labels.length - 0.4, -0.6],
                    tickvals: labels.map((_, i) => i),
                    ticktext: labels,
                    ticks: '',
                    zeroline: false,
                },
            },
        }),
    });
}

function addScenarios(section, scenarios, families) {
    const names = ['book', 'roofline_lower', 'roofline_serial'];
    const of = (scenario) => scenario.simulated_s ?? scenario.step_time_s;
    section.append(
        table({
            id: 'scenarios-table',
            caption: 'Every scenario; click a heading to sort',
            sortable: true,
            columns: [
                { name: 'Scenario' },
                { name: 'Folder' },
                { name: 'Chip' },
                { name: 'Chips', number: true },
                { name: 'Simulated', number: true, text: time },
                ...names.map((name) => ({ name: `/ ${name}`, number: true, text: (ratio) => ratio.toFixed(3) })),
                { name: 'Holds', text: (holds) => (holds ? 'yes' : 'no') },
            ],
            rows: scenarios.map((scenario, i) => [
                scenario.scenario,
                families[i],
                scenario.chip,
                scenario.chips,
                of(scenario),
                ...names.map((name) => scenario.ratio?.[name]),
                scenario.holds,
            ]),
        }),
    );
}

function referencesTable(rows) {
    return table({
        id: 'references-table',
        caption: 'Every reference (base units); click a heading to sort',
        sortable: true,
        columns: [
            { name: 'Scenario' },
            { name: 'Folder' },
            { name: 'Quantity' },
            { name: 'Reference', number: true, text: number },
            { name: 'Here', number: true, text: number },
            { name: 'Error', number: true, text: signed },
            { name: 'Within', number: true, text: percent },
            { name: 'Standing' },
            { name: 'Source', long: true },
        ],
        rows: rows.map((row) => [
            row.scenario,
            row.family,
            row.quantity,
            row.reference,
            row.value,
            row.error,
            row.within,
            standing(row),
            row.source,
        ]),
    });
}

export async function comparePage(page) {
    const { scenarios, errors } = page.result;
    const { families } = page.extra;
    const rows = referencesOf(scenarios, families);
    addSection('summary', 'Summary', el('p', { class: 'verdict' }, verdict(scenarios, rows, errors)));
    if (rows.length > 0) {
        const section = addSection('references', 'Simulated and measured');
        await addAgreement(section, rows);
        await addErrors(section, rows);
    }
    addScenarios(addSection('scenarios', 'Scenarios'), scenarios, families);
    if (rows.length > 0) addSection('table', 'References').append(referencesTable(rows));
}
