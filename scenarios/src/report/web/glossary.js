// Tooltips of terms: the first mention of a term in a heading or a cell shows its meaning.
import { el } from './dom.js';

const kPlaces = 'main h2, main h3, main th, main dt, main summary';

/// glossary: { term: meaning }.
export function explainTerms(glossary) {
    const terms = Object.keys(glossary).sort((a, b) => b.length - a.length);
    const meanings = new Map(Object.entries(glossary).map(([term, meaning]) => [term.toLowerCase(), meaning]));
    const any = new RegExp(`(?<![\\w-])(${terms.join('|')})(?![\\w-])`, 'i');
    for (const place of document.querySelectorAll(kPlaces)) {
        const texts = [...place.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
        for (const text of texts) {
            const found = any.exec(text.data);
            if (!found) continue;
            const term = text.splitText(found.index);
            term.splitText(found[0].length);
            term.replaceWith(el('abbr', { title: meanings.get(found[0].toLowerCase()) }, found[0]));
            break;
        }
    }
}
