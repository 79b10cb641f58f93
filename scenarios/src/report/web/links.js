// The slice and its links by how long they are held: a torus in 3-D, a heat map by axis and
// direction, one bar per kind.
import { el } from './dom.js';
import { addBars } from './bars.js';
import { addChart, narrow } from './chart.js';
import { bytes, list, percent } from './format.js';
import { kColours, kScale } from './theme.js';
import { aside, kBreak } from './markup.js';

const kAxes = ['x', 'y', 'z'];
/// Larger slices are drawn by three of their faces.
const kMostChips = 600;

/// The chips of the box, z fastest as podsim numbers them; each has the simulated chip that stands
/// for its links.
class Slice {
    constructor(torus) {
        Object.assign(this, torus);
        [this.nx, this.ny, this.nz] = torus.shape;
    }
    index(x, y, z) {
        return (x * this.ny + y) * this.nz + z;
    }
    /// Returns the busy fraction of the link that leaves a chip along an axis (0 to 2) in a
    /// direction (0: up, 1: down); null without a link.
    busy(point, axis, direction) {
        return this.links[this.place_of_chip[this.index(...point)]].busy[2 * axis + direction];
    }
    carried(point, axis, direction) {
        return this.links[this.place_of_chip[this.index(...point)]].bytes[2 * axis + direction];
    }
    *points() {
        for (let x = 0; x < this.nx; x++)
            for (let y = 0; y < this.ny; y++) for (let z = 0; z < this.nz; z++) yield [x, y, z];
    }
}

/// Returns links as lines: from, to, and the directed links that they represent.
function edges(slice) {
    const whole = slice.place_of_chip.length <= kMostChips;
    const shown = (a, b) =>
        whole || kAxes.some((_, axis) => a[axis] === slice.shape[axis] - 1 && b[axis] === slice.shape[axis] - 1);
    const found = [];
    for (const point of slice.points()) {
        kAxes.forEach((name, axis) => {
            const length = slice.shape[axis];
            if (length === 1) return;
            const next = point.slice();
            next[axis] += 1;
            const up = slice.busy(point, axis, 0);
            if (point[axis] < length - 1) {
                if (shown(point, next))
                    found.push({
                        from: point,
                        to: next,
                        axis: name,
                        up,
                        down: slice.busy(next, axis, 1),
                        bytes: slice.carried(point, axis, 0),
                    });
            } else if (up !== null && shown(point, point)) {
                // A link around the torus: a stub at the far end, and its other half at the near
                // one.
                const start = point.slice();
                start[axis] = 0;
                const out = point.slice();
                out[axis] += 0.45;
                found.push({
                    from: point,
                    to: out,
                    axis: name,
                    round: true,
                    up,
                    down: slice.busy(start, axis, 1),
                    bytes: slice.carried(point, axis, 0),
                });
                if (whole) {
                    const before = start.slice();
                    before[axis] -= 0.45;
                    found.push({
                        from: before,
                        to: start,
                        axis: name,
                        round: true,
                        up,
                        down: slice.busy(start, axis, 1),
                        bytes: slice.carried(point, axis, 0),
                    });
                }
            }
        });
    }
    return { found, whole };
}

const busier = (edge) => Math.max(edge.up ?? 0, edge.down ?? 0);

function torusTraces({ found }, most, theme) {
    const line = { x: [], y: [], z: [], colour: [] };
    for (const edge of found) {
        for (const point of [edge.from, edge.to, [null, null, null]]) {
            line.x.push(point[0]);
            line.y.push(point[1]);
            line.z.push(point[2]);
            line.colour.push(100 * busier(edge));
        }
    }
    const middle = (axis) => found.map((edge) => (edge.from[axis] + edge.to[axis]) / 2);
    const scale = { colorscale: kScale, cmin: 0, cmax: 100 * most };
    return [
        {
            type: 'scatter3d',
            mode: 'lines',
            x: line.x,
            y: line.y,
            z: line.z,
            line: { color: line.colour, width: found.length > 400 ? 3 : 6, ...scale },
            hoverinfo: 'skip',
            showlegend: false,
        },
        {
            type: 'scatter3d',
            mode: 'markers',
            name: 'links',
            x: middle(0),
            y: middle(1),
            z: middle(2),
            showlegend: false,
            marker: {
                size: found.length > 400 ? 1.5 : 3,
                color: found.map((edge) => 100 * busier(edge)),
                ...scale,
                colorbar: {
                    title: { text: 'busy' },
                    ticksuffix: ' %',
                    thickness: 14,
                    len: 0.8,
                    outlinecolor: theme.soft,
                },
            },
            customdata: found.map(
                (edge) =>
                    `${edge.axis} link${edge.round ? ' round the slice' : ''} at ${edge.from.map(Math.floor).join(', ')}${kBreak}up ${percent(edge.up ?? 0)}, down ${percent(edge.down ?? 0)} of the step${kBreak}${bytes(edge.bytes ?? 0)} up`,
            ),
            hovertemplate: `%{customdata}${aside()}`,
        },
    ];
}

async function addTorus(parent, torus, slice, most) {
    const drawn = edges(slice);
    const axis = (title, theme) => ({
        title: { text: title },
        color: theme.ink,
        gridcolor: theme.line,
        backgroundcolor: 'rgba(0,0,0,0)',
        zerolinecolor: theme.line,
    });
    const part = drawn.whole
        ? 'All its links are drawn'
        : `Of ${slice.place_of_chip.length} chips those of three faces are drawn`;
    await addChart(parent, {
        id: 'torus',
        title: `The slice ${torus.shape.join('x')}${torus.twisted ? ', twisted' : ''}`,
        height: 520,
        how: `${part}; links that go round the slice are the stubs that stick out. A link has the colour of its busier direction. Drag to turn.`,
        alt: `${drawn.found.length} links drawn; the busiest is held ${percent(most)} of the step, the idlest ${percent(Math.min(...drawn.found.map(busier)))}.`,
        build: (theme) => ({
            data: torusTraces(drawn, most, theme),
            layout: {
                margin: { l: 0, r: 0, t: 0, b: 0 },
                uirevision: 'torus',
                scene: {
                    aspectmode: 'data',
                    xaxis: axis('x', theme),
                    yaxis: axis('y', theme),
                    zaxis: axis('z', theme),
                    camera: { eye: narrow() ? { x: 2.6, y: 2.2, z: 1.4 } : { x: 1.7, y: 1.4, z: 0.9 } },
                },
            },
        }),
    });
}

/// Returns the mean over the chips at each position along the axis.
function heat(slice) {
    const used = kAxes.map((name, axis) => ({ name, axis })).filter(({ axis }) => slice.shape[axis] > 1);
    const rows = used.flatMap(({ name, axis }) =>
        [0, 1].map((direction) => ({ label: `${name} ${direction === 0 ? 'up' : 'down'}`, axis, direction })),
    );
    const width = Math.max(...used.map(({ axis }) => slice.shape[axis]));
    const z = rows.map(({ axis, direction }) => {
        const sums = Array.from({ length: width }, () => [0, 0]);
        for (const point of slice.points()) {
            const busy = slice.busy(point, axis, direction);
            if (busy !== null) {
                sums[point[axis]][0] += busy;
                sums[point[axis]][1] += 1;
            }
        }
        return sums.map(([sum, n]) => (n > 0 ? (100 * sum) / n : null));
    });
    return { labels: rows.map(({ label }) => label), z, width };
}

async function addHeat(parent, slice, most) {
    const { labels, z, width } = heat(slice);
    const means = z
        .map((row) => row.filter((value) => value !== null))
        .map((row) => row.reduce((sum, value) => sum + value, 0) / Math.max(row.length, 1));
    await addChart(parent, {
        id: 'heat',
        title: 'Links by axis and direction',
        height: 130 + 42 * labels.length,
        how: 'Mean over the links that leave the chips at each place along the axis, in % of the step.',
        alt: `${list(labels.map((label, i) => `${label} ${means[i].toFixed(1)} %`))} of the step on average.`,
        build: (theme) => ({
            data: [
                {
                    type: 'heatmap',
                    x: Array.from({ length: width }, (_, i) => i),
                    y: labels,
                    z,
                    zmin: 0,
                    zmax: 100 * most,
                    colorscale: kScale,
                    xgap: 1,
                    ygap: 3,
                    hoverongaps: false,
                    text: z.map((row) => row.map((value) => (value === null ? '' : value.toFixed(0)))),
                    texttemplate: width <= 16 ? '%{text}' : undefined,
                    textfont: { size: 11 },
                    hovertemplate: `%{y} at %{x}: %{z:.2f} %${aside()}`,
                    colorbar: { ticksuffix: ' %', thickness: 14, outlinecolor: theme.soft },
                },
            ],
            layout: {
                xaxis: {
                    title: 'place along the axis',
                    dtick: width > 40 ? undefined : width > 16 ? 4 : 1,
                    zeroline: false,
                },
                yaxis: { autorange: 'reversed', ticks: '', dtick: 1 },
            },
        }),
        numbers: {
            columns: [
                { name: 'Links' },
                ...z[0].map((_, i) => ({ name: String(i), number: true, text: (value) => value.toFixed(2) })),
            ],
            rows: labels.map((label, i) => [label, ...z[i]]),
        },
    });
}

export async function addLinks(section, step, torus) {
    await addBars(section, {
        id: 'link-use',
        title: 'Links and HBM by kind',
        how: 'Share of the step in which they are held: the mean over all of a kind, and the busiest.',
        alt: `${list(step.links.map((link) => `${link.name} ${percent(link.busy)} (the busiest ${percent(link.busiest)}), ${bytes(link.bytes)} each`))}.`,
        groups: [
            { name: 'mean', rows: step.links.map((link) => [link.name, link.busy]) },
            { name: 'busiest', rows: step.links.map((link) => [`${link.name}, busiest`, link.busiest]) },
        ],
        colours: [kColours.blue, kColours.orange],
        text: percent,
        axis: 'share of the step',
    });
    // A single chip has no links to others.
    if (!torus || torus.shape.every((length) => length === 1)) return;
    const slice = new Slice(torus);
    const most = Math.max(...torus.links.flatMap((link) => link.busy.filter((busy) => busy !== null)), 1e-9);
    const pair = section.appendChild(el('div', { class: 'pair' }));
    await addTorus(pair, torus, slice, most);
    await addHeat(pair, slice, most);
}
