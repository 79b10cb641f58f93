// The inputs, and the source of each value.
import { el } from './dom.js';

/// inputs: [{ group, rows: [{ name, value, source, assumed, meaning }] }]
export function addInputs(section, inputs) {
    const assumed = inputs.flatMap((group) => group.rows).filter((row) => row.assumed).length;
    section.append(
        el(
            'p',
            {},
            `${assumed} inputs are assumptions: nobody gave or measured them. They are marked `,
            el('span', { class: 'assumed' }, 'assumed'),
            '.',
        ),
    );
    for (const { group, rows } of inputs) {
        section.append(
            el(
                'div',
                { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': group },
                el(
                    'table',
                    { class: 'inputs' },
                    el('caption', {}, group),
                    el(
                        'thead',
                        {},
                        el(
                            'tr',
                            {},
                            ['Input', 'Value', '', 'Source'].map((name) => el('th', { scope: 'col' }, name)),
                        ),
                    ),
                    el(
                        'tbody',
                        {},
                        rows.map((row) =>
                            el(
                                'tr',
                                {},
                                el('th', { scope: 'row', title: row.meaning }, row.name),
                                el('td', { class: 'value' }, row.value),
                                el('td', {}, row.assumed ? el('span', { class: 'assumed' }, 'assumed') : ''),
                                el('td', {}, row.source),
                            ),
                        ),
                    ),
                ),
            ),
        );
    }
}
