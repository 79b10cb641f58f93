// Texts of charts. Plotly takes `<b>`, `<a href=...>` and `&lt;` in any text for markup, and names may hold them. So all texts that are
// drawn are plain, and markup is written by characters that no text has: they become tags where a chart is drawn, at one place.

/// Another line, and bold text.
export const kBreak = '\uFDD0';
const kBold = '\uFDD1';
const kPlain = '\uFDD2';
export const bold = (text) => kBold + text + kPlain;
/// What a hover text says beside its point: nothing, or a text.
const kAside = '\uFDD3';
const kAsideEnds = '\uFDD4';
export const aside = (text = '') => kAside + text + kAsideEnds;

const kTags = { [kBreak]: '<br>', [kBold]: '<b>', [kPlain]: '</b>', [kAside]: '<extra>', [kAsideEnds]: '</extra>' };
const kEntities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const drawnText = (text) =>
    text.replace(/[&<>]/g, (c) => kEntities[c]).replace(/[\uFDD0-\uFDD4]/g, (mark) => kTags[mark]);

/// The traces and the layout of a chart as Plotly wants them: copies, with every text in them as it is to be read.
export function drawable(value) {
    if (typeof value === 'string') return drawnText(value);
    if (Array.isArray(value)) {
        return value.some((each) => typeof each === 'string' || typeof each === 'object') ? value.map(drawable) : value;
    }
    if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
        return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, drawable(each)]));
    }
    return value;
}
