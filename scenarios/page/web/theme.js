// Colours: those of Okabe and Ito (2008), which the colour-blind can tell apart; Cividis for what is more or less.

export const kColours = {
    blue: '#0072B2',
    orange: '#E69F00',
    green: '#009E73',
    vermilion: '#D55E00',
    sky: '#56B4E9',
    purple: '#CC79A7',
    yellow: '#F0E442',
    grey: '#8a8f98',
};
/// Yellow last: it is faint on white.
export const kOrder = ['blue', 'orange', 'green', 'vermilion', 'sky', 'purple', 'grey', 'yellow'].map(
    (name) => kColours[name],
);
export const kScale = 'Cividis';
/// With colours, so that they are told apart without.
export const kSymbols = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x', 'star', 'hexagon'];
/// Hatching of bars, for the same.
export const kHatches = ['', '/', '\\', 'x', '-', '|', '+', '.'];

const kRoot = document.documentElement;

export function isDark() {
    const chosen = kRoot.dataset.theme;
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/// What charts take from the style sheet.
export function colours() {
    const style = getComputedStyle(kRoot);
    const of = (name) => style.getPropertyValue(name).trim();
    return { ink: of('--ink'), soft: of('--soft'), line: of('--line'), ground: of('--ground'), raised: of('--raised') };
}

/// The button that changes between light and dark; `redraw` follows.
export function themeButton(redraw) {
    const button = document.createElement('button');
    button.type = 'button';
    button.id = 'theme';
    const say = () => {
        button.textContent = isDark() ? 'Light' : 'Dark';
    };
    button.setAttribute('aria-label', 'Change between light and dark colours');
    button.addEventListener('click', () => {
        kRoot.dataset.theme = isDark() ? 'light' : 'dark';
        say();
        redraw();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        say();
        redraw();
    });
    say();
    return button;
}
