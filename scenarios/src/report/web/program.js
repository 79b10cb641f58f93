// The page of `podsim run` of a program: stages one after the other.
import { el } from './dom.js';
import { addChart, addSection } from './chart.js';
import { programOf } from './data.js';
import { expectationsTable } from './expectations.js';
import { percent, time } from './format.js';
import { addLinks } from './links.js';
import { kColours, kOrder } from './theme.js';
import { addWaterfall } from './waterfall.js';
import { aside, kBreak } from './markup.js';

async function addStages(section, program) {
    const resources = [...new Set(program.stages.map((stage) => stage.resource))];
    await addChart(section, {
        id: 'stages',
        title: 'Stages over time',
        how: 'From the first piece of a stage to its last; the diamond is where its bound alone would end.',
        alt: `${program.stages.map((stage) => `${stage.name} from ${time(stage.began_s)} to ${time(stage.ended_s)}`).join('; ')}.`,
        height: 120 + 40 * program.stages.length,
        build: () => ({
            data: [
                ...resources.map((resource, i) => {
                    const some = program.stages.filter((stage) => stage.resource === resource);
                    return {
                        type: 'bar',
                        orientation: 'h',
                        name: resource,
                        y: some.map((stage) => stage.name),
                        base: some.map((stage) => stage.began_s),
                        x: some.map((stage) => stage.ended_s - stage.began_s),
                        marker: { color: kOrder[i] },
                        customdata: some.map(
                            (stage) => `${time(stage.ended_s - stage.began_s)}, bound ${time(stage.bound_s)}`,
                        ),
                        hovertemplate: `%{y}${kBreak}%{customdata}${aside()}`,
                    };
                }),
                {
                    type: 'scatter',
                    mode: 'markers',
                    name: 'bound',
                    y: program.stages.map((stage) => stage.name),
                    x: program.stages.map((stage) => stage.began_s + stage.bound_s),
                    marker: { symbol: 'diamond', size: 10, color: kColours.vermilion },
                    customdata: program.stages.map((stage) => time(stage.bound_s)),
                    hovertemplate: `%{y}: bound %{customdata}${aside()}`,
                },
            ],
            layout: {
                barmode: 'overlay',
                xaxis: { title: 'time', tickformat: '~s', ticksuffix: 's', rangemode: 'tozero' },
                yaxis: {
                    autorange: 'reversed',
                    categoryorder: 'array',
                    categoryarray: program.stages.map((stage) => stage.name),
                    ticks: '',
                },
            },
        }),
        numbers: {
            columns: [
                { name: 'Stage' },
                { name: 'Resource' },
                { name: 'Begins', number: true, text: time },
                { name: 'Ends', number: true, text: time },
                { name: 'Bound', number: true, text: time },
            ],
            rows: program.stages.map((stage) => [
                stage.name,
                stage.resource,
                stage.began_s,
                stage.ended_s,
                stage.bound_s,
            ]),
        },
    });
}

export async function programPage(page) {
    const program = programOf(page.result);
    addSection(
        'summary',
        'Summary',
        el(
            'p',
            { class: 'verdict' },
            `The program takes ${time(program.time)} on ${program.chips} chips of ${program.chip}; its ${program.bound} stage alone takes ${time(program.lower)}, ${percent(program.lower / program.time)} of that.`,
        ),
        program.warnings.map((warning) => el('p', { class: 'warning' }, warning)),
    );
    await addStages(addSection('stages-section', 'Stages'), program);
    await addWaterfall(addSection('bound', 'Bound and simulation'), {
        id: 'gap',
        title: 'From the bound to the simulated time',
        from: ['roofline_lower', program.lower],
        to: ['simulated', program.time],
        terms: program.gap,
    });
    await addLinks(addSection('links', 'Links'), program);
    if (program.expectations.length > 0)
        addSection('expectations', 'Expectations').append(expectationsTable(program.expectations));
}
