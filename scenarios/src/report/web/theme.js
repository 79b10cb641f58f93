// Colours: those of Okabe and Ito (2008), which the colour-blind can distinguish; Cividis for
// scales.

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
/// Yellow is last: it is faint on white.
export const kOrder = ['blue', 'orange', 'green', 'vermilion', 'sky', 'purple', 'grey', 'yellow'].map(
    (name) => kColours[name],
);
export const kScale = 'Cividis';
/// Symbols accompany colours, so that series differ without them.
export const kSymbols = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x', 'star', 'hexagon'];
/// Hatching of bars, for the same reason.
export const kHatches = ['', '/', '\\', 'x', '-', '|', '+', '.'];

const kRoot = document.documentElement;

export function isDark() {
    const chosen = kRoot.dataset.theme;
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/// Returns the colours of the style sheet that charts use.
export function colours() {
    const style = getComputedStyle(kRoot);
    const of = (name) => style.getPropertyValue(name).trim();
    return { ink: of('--ink'), soft: of('--soft'), line: of('--line'), ground: of('--ground'), raised: of('--raised') };
}

/// Returns the button that switches between light and dark, and then calls `redraw`.
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
