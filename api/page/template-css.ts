// CSS of a header or footer without what it would load. A template loads nothing anyway, but Chromium 156 crashes over some of it (@import, fonts,
// masks and fills from an address), where any other page would go on without.

/** Escapes of letters and hyphens, which could hide a name: hexadecimal with an optional space behind, or the letter itself. */
const ESCAPE = /\\(?:0{0,4}([46][1-9a-f]|[57][0-9a]|2d)(?![0-9a-f])\s?|([g-z])|[\s\S])/gi;
const URL_TOKEN = /\burl\(\s*("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[^"'()\s]*)/gi;
const FONT_FACE = /@font-face[^{@]*\{[^}@]*/gi;
const NOTHING = 'url(data:,';

const isData = (address: string) => /^["']?\s*data:/i.test(address);
const isInside = (address: string) => /^["']?\s*#/.test(address);

/** Pure. Addresses other than `data:` become empty; `#name`, which is inside the template, stays where it can be. */
export function withoutLoads(css: string): string {
  return css
    .replace(ESCAPE, (whole, hex?: string, letter?: string) => (hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (letter ?? whole)))
    .replace(/@import\b/gi, '@no-import')
    .replace(FONT_FACE, face => face.replace(URL_TOKEN, (url, address: string) => (isData(address) ? url : NOTHING)))
    .replace(URL_TOKEN, (url, address: string) => (isData(address) || isInside(address) ? url : NOTHING));
}
