// The expectations of a result as a table.
import { table } from './dom.js';
import { number, percent, signed } from './format.js';

export function standing(row) {
    return row.holds ? (row.differs ? 'differs' : 'holds') : 'fails';
}

export function expectationsTable(rows) {
    return table({
        id: 'expectations-table',
        caption: 'Expectations of the scenario (base units)',
        sortable: true,
        columns: [
            { name: 'Quantity' },
            { name: 'Reference', number: true, text: number },
            { name: 'Here', number: true, text: number },
            { name: 'Error', number: true, text: signed },
            { name: 'Within', number: true, text: percent },
            { name: 'Standing' },
            { name: 'Source' },
        ],
        rows: rows.map((row) => [
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
