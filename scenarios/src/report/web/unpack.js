// Unpacks the compressed parts of the file, and starts the page.
'use strict';

async function unpacked(id) {
    const packed = atob(document.getElementById(id).textContent.trim());
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).text();
}

function run(code) {
    const script = document.createElement('script');
    script.textContent = code;
    document.head.append(script);
}

(async () => {
    const status = document.getElementById('status');
    try {
        const [library, script, data] = await Promise.all(['library', 'script', 'data'].map(unpacked));
        run(library);
        run(script);
        await window.podsimPage(JSON.parse(data));
        status.remove();
    } catch (error) {
        status.textContent = `This page could not be drawn: ${error.message}. It needs a browser of 2023 or later.`;
        throw error;
    }
})();
