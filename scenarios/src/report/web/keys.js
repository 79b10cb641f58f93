// Charts by keyboard: arrows move along x, + and - zoom, 0 shows all.

function ranges(node) {
    const layout = node._fullLayout;
    return layout?.xaxis && !layout.xaxis.fixedrange && layout.xaxis.range ? layout.xaxis.range.map(Number) : undefined;
}

export function addKeys(node) {
    if (!ranges(node)) return;
    node.setAttribute('aria-description', 'Arrow keys move, plus and minus zoom, 0 shows all.');
    node.addEventListener('keydown', (event) => {
        const range = ranges(node);
        if (!range || range.some(Number.isNaN) || event.ctrlKey || event.metaKey || event.altKey) return;
        const [from, to] = range;
        const width = to - from;
        const next = {
            ArrowLeft: [from - width / 5, to - width / 5],
            ArrowRight: [from + width / 5, to + width / 5],
            '+': [from + width / 4, to - width / 4],
            '=': [from + width / 4, to - width / 4],
            '-': [from - width / 2, to + width / 2],
        }[event.key];
        if (next) window.Plotly.relayout(node, { 'xaxis.range': next });
        else if (event.key === '0') window.Plotly.relayout(node, { 'xaxis.autorange': true, 'yaxis.autorange': true });
        else return;
        event.preventDefault();
    });
}
