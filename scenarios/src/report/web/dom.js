// Elements, and the sortable table.

export function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
        else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.flat().filter((child) => child !== undefined && child !== null));
    return node;
}

const kFirstRows = 200;

/// Compares numbers by size and text by letter; missing values come last in both directions.
function compare(a, b, sign) {
    const missing = (value) => value === null || value === undefined || value === '';
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));
}

/// columns: [{ name, text(value), number }]; rows: arrays of values. `sortable` heads are buttons.
export function table({ caption, columns, rows, sortable = false, id }) {
    const body = el('tbody');
    const more = el('button', { type: 'button', class: 'more' });
    let order = rows.slice();
    let shown = kFirstRows;
    const draw = () => {
        body.replaceChildren(
            ...order.slice(0, shown).map((row) =>
                el(
                    'tr',
                    {},
                    columns.map((column, i) => {
                        const value = row[i];
                        const text = value === null || value === undefined ? '' : (column.text ?? String)(value);
                        return el(
                            i === 0 ? 'th' : 'td',
                            {
                                class: column.number ? 'number' : column.long ? 'long' : undefined,
                                title: column.long ? text : undefined,
                                scope: i === 0 ? 'row' : undefined,
                            },
                            text,
                        );
                    }),
                ),
            ),
        );
        more.hidden = order.length <= shown;
        more.textContent = `Show the other ${order.length - shown} rows`;
    };
    more.addEventListener('click', () => {
        shown = order.length;
        draw();
    });
    const heads = columns.map((column, i) => {
        if (!sortable) return el('th', { scope: 'col', class: column.number ? 'number' : undefined }, column.name);
        const head = el('th', { scope: 'col', 'aria-sort': 'none', class: column.number ? 'number' : undefined });
        head.append(
            el(
                'button',
                {
                    type: 'button',
                    title: `Sort by ${column.name}`,
                    onclick: () => {
                        const up = head.getAttribute('aria-sort') !== 'ascending';
                        heads.forEach((other) => other.setAttribute('aria-sort', 'none'));
                        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
                        order = rows.slice().sort((a, b) => compare(a[i], b[i], up ? 1 : -1));
                        draw();
                    },
                },
                column.name,
            ),
        );
        return head;
    });
    draw();
    return el(
        'div',
        { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
        el('table', { id }, el('caption', {}, caption), el('thead', {}, el('tr', {}, heads)), body),
        more,
    );
}
