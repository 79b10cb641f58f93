// Texts of charts. Plotly interprets `<b>`, `<a href=...>` and `&lt;` in any text as markup, and
// names may contain them. So all texts are plain, and markup is written with characters that no
// text contains; drawable() alone turns these into tags.

/// A line break, and bold text.
export const kBreak = '\uFDD0';
const kBold = '\uFDD1';
const kPlain = '\uFDD2';
export const bold = (text) => kBold + text + kPlain;
/// The text of a hover box beside its point; may be empty.
const kAside = '\uFDD3';
const kAsideEnds = '\uFDD4';
export const aside = (text = '') => kAside + text + kAsideEnds;

const kTags = { [kBreak]: '<br>', [kBold]: '<b>', [kPlain]: '</b>', [kAside]: '<extra>', [kAsideEnds]: '</extra>' };
const kEntities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const drawnText = (text) =>
    text.replace(/[&<>]/g, (c) => kEntities[c]).replace(/[\uFDD0-\uFDD4]/g, (mark) => kTags[mark]);

/// Returns copies of a chart's traces and layout for Plotly, with every text converted.
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
