// The images in the HTML of a header or footer, which loads nothing: only `data:` URLs are drawn.
// Pure; linear in the length.

const SOURCES: Record<string, readonly string[]> = {
  img: ['src', 'srcset'],
  source: ['srcset'],
  image: ['href', 'xlink:href'],
  input: ['src'],
};

const FONTS_AND_IMPORTS = /@(?:font-face[^{@]*\{[^}@]*|import\b[^;@]*)/gi;
const URL_TOKEN = /\burl\(\s*(?:"([^"]*)"|'([^']*)'|([^"'()\s]*))/gi;

/** `data:` and references within the HTML need no load. */
const isLoaded = (address: string) => {
  const text = address.trim();
  return text !== '' && !/^(?:data:|#|about:blank)/i.test(text);
};

/** The first address in a stylesheet that would have to be loaded; fonts and imports aside. */
export function imageOfCss(css: string): string | undefined {
  for (const [, double, single, bare] of css.replace(FONTS_AND_IMPORTS, '').matchAll(URL_TOKEN)) {
    const address = double ?? single ?? bare ?? '';
    if (isLoaded(address)) return address;
  }
  return undefined;
}

/** The first address in an attribute of a tag that would have to be loaded as an image. */
export function imageOfAttribute(tag: string, name: string, value: string): string | undefined {
  if (name === 'style') return imageOfCss(value);
  const isSource = name === 'background' || SOURCES[tag]?.includes(name);
  return isSource && isLoaded(value) ? value.trim() : undefined;
}
