// The page of `podsim run`: a step.
import { el, table } from './dom.js';
import { addSection } from './chart.js';
import { addBars } from './bars.js';
import { stepOf } from './data.js';
import { expectationsTable } from './expectations.js';
import { bytes, count, list, percent, several, time } from './format.js';
import { addInputs } from './inputs.js';
import { addLinks } from './links.js';
import { addMemory } from './memory.js';
import { addRoofline } from './roofline.js';
import { kColours } from './theme.js';
import { addTimelines } from './timeline.js';
import { addWaterfall } from './waterfall.js';

/// Returns the sentences of the text report. fit, look_ahead: its words for memory.
function verdict(step, { fit, look_ahead: lookAhead }) {
    const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
    const lines = [
        `A step takes ${time(step.step)} on ${several(step.chips, 'chip')} of ${step.chip}.`,
        ...step.diagnosis.map(sentence),
        ...(step.faster.length > 0 ? [fasterText(step)] : []),
        `It ${fit.startsWith('tight') ? 'is ' : ''}${fit}.`,
        ...(lookAhead ? [sentence(lookAhead)] : []),
    ];
    return el(
        'div',
        { class: 'verdict' },
        lines.map((line) => el('p', {}, line)),
    );
}

/// `10 % faster saves of the step: compute 5.9 %, ...`
function fasterText(step) {
    const texts = step.faster
        .slice()
        .sort((a, b) => b.saved_fraction - a.saved_fraction)
        .map(
            (one) =>
                `${one.resource} ${percent(one.saved_fraction)}${
                    one.saved_fraction < -0.0005 ? ' (slower, by the order of operations)' : ''
                }`,
        );
    const twice = step.twice.map((one) => `${one.resource} ${percent(one.saved_fraction)}`);
    return `10 % faster saves of the step: ${list(texts)}${
        twice.length > 0 ? `; twice as fast: ${list(twice)}` : ''
    }.`;
}

function tiles(step) {
    const all = [
        ['Step time', time(step.step), step.band
                ? `${step.likePublished ? 'published steps like it' : 'no published step is like it'}: ±${(100 * step.band).toFixed(0)} %`
                : ''],
        ['MFU', percent(step.mfu), `HFU ${percent(step.hfu)}`],
        ['Tokens per second', count(step.tokensPerSecond), `${count(step.tokensPerSecond / step.chips)} a chip`],
        ['Bound', time(step.lower), `by ${step.bound}; step / bound ${(step.step / step.lower).toFixed(2)}`],
        ['Waiting', percent(step.exposed / step.step), `${time(step.exposed)} of the step`],
        [
            'Memory',
            percent(step.memory.peak / step.memory.capacity),
            `${bytes(step.memory.peak)} of ${bytes(step.memory.capacity)}`,
        ],
    ];
    if (step.training) {
        all.push([
            'Training run',
            `${step.training.days.toFixed(1)} days`,
            step.training.cost_usd
                ? `${count(step.training.cost_usd)} USD`
                : `${count(step.training.chip_hours)} chip-hours`,
        ]);
    }
    if (step.inference?.time_per_token_s) all.push(['Time per token', time(step.inference.time_per_token_s), '']);
    return el(
        'dl',
        { class: 'tiles' },
        all.map(([name, value, more]) =>
            el('div', {}, el('dt', {}, name), el('dd', {}, value, more ? el('small', {}, more) : '')),
        ),
    );
}

/// Returns settings as written in a shell.
const options = (set) =>
    set.map((setting) => (/[ {}[\]]/.test(setting) ? `--set '${setting}'` : `--set ${setting}`)).join(' ');

/// Returns remedies for a step that does not fit.
function remedies({ remedies, leastPeak }) {
    if (remedies.length === 0) {
        const best = leastPeak === undefined ? '' : `; the best reaches ${bytes(leastPeak)}`;
        return el('p', { id: 'remedies' }, `No single change of the plan would make it fit${best}.`);
    }
    return table({
        id: 'remedies',
        caption: 'Changes that make it fit, each alone',
        columns: [
            { name: 'Change' },
            { name: 'Memory', number: true, text: bytes },
            { name: 'Options' },
            { name: 'Simulated' },
        ],
        rows: remedies.map((one) => [
            one.meaning,
            one.peak_bytes,
            options(one.set),
            one.simulated ? 'yes' : 'no, in program order',
        ]),
    });
}

function adviceTable(id, caption, advice) {
    return table({
        id,
        caption,
        columns: [
            { name: 'Change' },
            { name: 'Step', number: true, text: time },
            { name: 'Saved', number: true, text: percent },
            { name: 'Memory', number: true, text: bytes },
            { name: 'Options' },
        ],
        rows: advice.map((one) => [
            one.meaning,
            one.step_time_s,
            one.saved_fraction,
            one.peak_bytes,
            options(one.set),
        ]),
    });
}

function summary(step, extra) {
    const tokens = step.tokens ? `, ${count(step.tokens)} tokens` : '';
    const section = addSection(
        'summary',
        'Summary',
        verdict(step, extra),
        tiles(step),
        el(
            'p',
            { class: 'facts' },
            `${step.model}, ${step.chip} ${step.slice}, mesh ${step.mesh}${tokens}; profile ${step.profile}${step.profileVersion ? `@${step.profileVersion}` : ''}.`,
        ),
        step.warnings.map((warning) => el('p', { class: 'warning' }, warning)),
    );
    if (!step.memory.fits) section.append(remedies(step.memory));
    if (step.advice.length > 0)
        section.append(adviceTable('advice', 'Faster settings, each simulated', step.advice));
    if (step.adviceToFit.length > 0)
        section.append(adviceTable('fitting', 'Settings that fit, each simulated', step.adviceToFit));
}

async function addTimes(step) {
    const section = addSection('time', 'Time');
    const parts = [...step.passes, ...step.waits]
        .filter(([, s]) => s > 0)
        .sort((a, b) => b[1] - a[1])
        .slice(0, 3);
    const seen = (rows) => rows.filter(([, s]) => s !== 0);
    await addBars(section, {
        id: 'breakdown',
        title: 'The chip’s compute stream',
        how: 'Compute of the chip, and its waits while it computes nothing. The bars add up to the step.',
        alt: `Of ${time(step.step)} the chip computes ${percent(step.compute / step.step)} and waits ${percent(step.exposed / step.step)}; largest: ${list(parts.map(([name, s]) => `${name} ${time(s)}`))}.`,
        groups: [
            { name: 'computes', rows: seen(step.passes) },
            { name: 'waits for', rows: seen(step.waits) },
        ],
        colours: [kColours.blue, kColours.orange],
        text: time,
        of: { value: step.step, name: 'the step' },
        axis: 'seconds',
    });
    if (step.path.length > 0) {
        const path = seen(step.path);
        await addBars(section, {
            id: 'path',
            title: 'The critical path',
            how: 'The chain of waits behind the end of the step, walked back from it: by resource. The bars add up to the step.',
            alt: `The critical path is ${list(
                path
                    .slice()
                    .sort((a, b) => b[1] - a[1])
                    .slice(0, 3)
                    .map(([name, s]) => `${name} ${percent(s / step.step)}`),
            )}.`,
            groups: [{ name: 'critical path', rows: path }],
            colours: [kColours.purple],
            text: time,
            of: { value: step.step, name: 'the step' },
            axis: 'seconds',
        });
    }
    if (step.whatIf.length > 0) {
        const rows = [['as it is', step.step], ...step.whatIf];
        await addBars(section, {
            id: 'what-if',
            title: 'Without one cause',
            how: 'The step if one thing cost nothing.',
            alt: `${list(rows.map(([name, s]) => `${name}: ${time(s)}`))}.`,
            groups: [{ name: 'step', rows }],
            colours: [kColours.green],
            text: time,
            of: { value: step.step, name: 'the step' },
            axis: 'seconds',
        });
    }
}

export async function runPage(page) {
    const step = stepOf(page.result);
    const { extra } = page;
    summary(step, extra);
    await addTimes(step);
    if (step.gap.length > 0) {
        await addWaterfall(addSection('bound', 'Bound and simulation'), {
            id: 'gap',
            title: 'From the bound to the simulated step',
            from: ['roofline_lower', step.lower],
            to: ['simulated step', step.step],
            terms: step.gap,
        });
    }
    if (extra.timeline) await addTimelines(addSection('timeline', 'Timeline'), extra.timeline, step);
    if (extra.roofline) await addRoofline(addSection('roofline', 'Roofline'), extra.roofline, step);
    await addLinks(addSection('links', 'Links'), step, extra.torus);
    await addMemory(addSection('memory', 'Memory'), step.memory, extra.memory);
    if (step.expectations.length > 0)
        addSection('expectations', 'Expectations').append(expectationsTable(step.expectations));
    if (extra.inputs) addInputs(addSection('inputs', 'Inputs and assumptions'), extra.inputs);
}
