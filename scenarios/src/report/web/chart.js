// A chart as a figure: title, reading help, drawing, description, and its numbers as a table.
import { el, table } from './dom.js';
import { colours } from './theme.js';
import { addKeys } from './keys.js';
import { drawable, kBreak } from './markup.js';

const kConfig = {
    responsive: true,
    displaylogo: false,
    displayModeBar: 'hover',
    modeBarButtonsToRemove: ['lasso2d', 'select2d', 'autoScale2d', 'toggleSpikelines'],
    toImageButtonOptions: { format: 'svg' },
};
const charts = [];

function axis(theme, own = {}) {
    return {
        gridcolor: theme.line,
        zerolinecolor: theme.soft,
        linecolor: theme.soft,
        tickcolor: theme.soft,
        automargin: true,
        ...(narrow() ? { nticks: 4, tickangle: 0 } : {}),
        ...own,
        title: { standoff: 8, ...(typeof own.title === 'string' ? { text: own.title } : own.title) },
    };
}

const kNarrow = 640;
const kLabel = 24;
export const narrow = () => innerWidth < kNarrow;

/// Returns the ticks of a category axis. On a narrow page long names are smaller and have two
/// lines.
export function labelled(names) {
    if (!narrow()) return { tickmode: 'array', tickvals: names, ticktext: names };
    const broken = (name) => {
        const blanks = [...name.matchAll(/ /g)].map(({ index }) => index);
        const at = blanks.sort((a, b) => Math.abs(a - name.length / 2) - Math.abs(b - name.length / 2))[0];
        return name.length > kLabel && at ? `${name.slice(0, at)}${kBreak}${name.slice(at + 1)}` : name;
    };
    return { tickmode: 'array', tickvals: names, ticktext: names.map(broken), tickfont: { size: 9 } };
}

/// Returns the layout of all charts, with the overrides of one.
function layoutOf(own, theme, height) {
    const layout = {
        height,
        paper_bgcolor: 'rgba(0,0,0,0)',
        plot_bgcolor: 'rgba(0,0,0,0)',
        font: { family: 'system-ui, sans-serif', size: narrow() ? 11 : 13, color: theme.ink },
        margin: { l: 10, r: 16, t: 12, b: 30, ...own.margin },
        hoverlabel: {
            bgcolor: theme.raised,
            bordercolor: theme.soft,
            font: { color: theme.ink },
            align: 'left',
            namelength: -1,
        },
        legend: {
            orientation: 'h',
            x: 0,
            y: 0,
            yref: 'container',
            yanchor: 'bottom',
            traceorder: 'normal',
            ...own.legend,
        },
        ...Object.fromEntries(Object.entries(own).filter(([key]) => !/^(margin|legend|[xy]axis)/.test(key))),
    };
    for (const name of new Set(['xaxis', 'yaxis', ...Object.keys(own).filter((key) => /^[xy]axis/.test(key))])) {
        layout[name] = axis(theme, own[name]);
    }
    return layout;
}

function draw(chart) {
    const theme = colours();
    const { data, layout } = chart.build(theme);
    return window.Plotly.react(
        chart.node,
        drawable(data),
        drawable(layoutOf(layout, theme, chart.height)),
        kConfig,
    );
}

/// Adds a figure to `parent` and draws it. build(theme) returns { data, layout }; `alt` describes
/// the drawing; `numbers` is a table ({ columns, rows }) of the drawn values.
export async function addChart(parent, { id, title, how, alt, build, numbers, height = 360, controls }) {
    const node = el('div', {
        class: 'chart',
        id: `${id}-chart`,
        role: 'img',
        tabindex: '0',
        'aria-label': `${title}. ${alt}`,
    });
    node.style.minHeight = `${height}px`;
    const figure = el(
        'figure',
        { id },
        el('h3', {}, title),
        how ? el('p', { class: 'how' }, how) : undefined,
        controls,
        node,
        el('figcaption', {}, alt),
    );
    if (numbers) {
        figure.append(el('details', {}, el('summary', {}, 'The numbers'), table({ caption: title, ...numbers })));
    }
    parent.append(figure);
    const chart = { node, build, height };
    charts.push(chart);
    await draw(chart);
    addKeys(node);
    return { node, redraw: () => draw(chart) };
}

/// Returns the charts that are still on the page.
const drawn = () => charts.filter((chart) => chart.node.isConnected);

/// Redraws them in the current colours.
export async function redrawAll() {
    for (const chart of drawn()) await draw(chart);
}

/// Prints in light colours, and restores the theme afterwards.
export function addPrinting() {
    let before;
    addEventListener('beforeprint', () => {
        before = document.documentElement.dataset.theme ?? '';
        document.documentElement.dataset.theme = 'light';
        drawn().forEach(draw);
    });
    addEventListener('afterprint', () => {
        if (before) document.documentElement.dataset.theme = before;
        else delete document.documentElement.dataset.theme;
        redrawAll();
    });
}

export function addSection(id, title, ...intro) {
    const section = el(
        'section',
        { id, 'aria-labelledby': `${id}-title` },
        el('h2', { id: `${id}-title` }, title),
        ...intro,
    );
    document.getElementById('main').append(section);
    document.getElementById('nav').append(el('a', { href: `#${id}` }, title));
    return section;
}
