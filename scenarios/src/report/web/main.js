// A page of podsim: selects its kind, and adds the elements that all kinds share.
import { el } from './dom.js';
import { addPrinting, redrawAll } from './chart.js';
import { themeButton } from './theme.js';
import { collectivePage } from './collective.js';
import { comparePage } from './compare.js';
import { explainTerms } from './glossary.js';
import { programPage } from './program.js';
import { runPage } from './run.js';
import { sweepPage } from './sweep.js';

const kPages = {
    collective: collectivePage,
    compare: comparePage,
    program: programPage,
    run: runPage,
    sweep: sweepPage,
};

function saveButton(page) {
    return el(
        'button',
        {
            type: 'button',
            id: 'save',
            onclick: () => {
                const url = URL.createObjectURL(
                    new Blob([`${JSON.stringify(page.result, null, 2)}\n`], { type: 'application/json' }),
                );
                el('a', { href: url, download: 'podsim.json' }).click();
                URL.revokeObjectURL(url);
            },
        },
        'Save the JSON',
    );
}

window.podsimPage = async (page) => {
    window.podsimData = page;
    document
        .getElementById('head')
        .append(
            el('div', { class: 'title' }, el('p', { class: 'brand' }, 'podsim'), el('h1', {}, page.title)),
            el('div', { class: 'buttons' }, saveButton(page), themeButton(redrawAll)),
        );
    await kPages[page.kind](page);
    explainTerms(page.glossary);
    addPrinting();
    document
        .getElementById('foot')
        .append(
            ...(page.extra.thinned ?? []).map((sentence) => el('p', { class: 'thinned' }, sentence)),
            el(
                'p',
                {},
                `Simulated by podsim ${page.version}. Charts: plotly.js ${window.Plotly.version} (MIT licence). ` +
                    'Nothing on this page is fetched from elsewhere. On a chart: drag to zoom, double-click to see all; by keyboard arrows, + − and 0.',
            ),
        );
    document.documentElement.dataset.ready = 'true';
};
