// Numbers with units, with four digits as in the reports of podsim.

const kBlank = '\u00a0'; // number and unit stay on one line

function scaled(value, steps, separator = kBlank) {
    if (value === 0) return `0${separator}${steps[steps.length - 1][1]}`.trim();
    const [scale, unit] = steps.find(([least]) => Math.abs(value) >= least * 0.99995) ?? steps[steps.length - 1];
    const number = value / scale;
    const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(number)) + 1e-9));
    return `${number.toFixed(Math.min(digits, 3))}${separator}${unit}`.trim();
}

const kDecimal = [
    [1e18, 'E'],
    [1e15, 'P'],
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
    [1, ''],
];
const withUnit = (unit) => kDecimal.map(([scale, prefix]) => [scale, prefix + unit]);

export const time = (s) =>
    scaled(s, [
        [1, 's'],
        [1e-3, 'ms'],
        [1e-6, 'µs'],
        [1e-9, 'ns'],
    ]);
export const bytes = (b) => scaled(b, withUnit('B'));
export const rate = (r) => scaled(r, withUnit('B/s'));
export const flopRate = (r) => scaled(r, withUnit('FLOP/s'));
export const count = (n) => (Number.isInteger(n) && Math.abs(n) < 1e5 ? String(n) : scaled(n, kDecimal, ''));
export const percent = (share) => `${(100 * share).toFixed(1)}${kBlank}%`;
export const signed = (share) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}${kBlank}%`;
export const number = (n) => (Number.isInteger(n) ? String(n) : n.toPrecision(4));

/// `1 layer`, `2 layers`.
export const several = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

/// `a`, `a and b`, `a, b and c`.
export function list(words) {
    return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}
