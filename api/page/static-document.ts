// Decides whether HTML is static: nothing in it can move, run, or load when it is laid out. Such a
// page needs no screen frames, which cost a seventh of a render's CPU, and has no web fonts to wait
// for.

/** Looking through more costs more than it saves. */
const MAX_LENGTH = 256 * 1024;

/**
 * What may make a document dynamic: scripts and handlers, other documents, media, animations,
 * fonts, images that only layout asks for, loading put off, refreshes; and what is fetched at all,
 * since Chrome loads at half speed for a hidden page. When in doubt it matches; a backslash could
 * hide any of these in CSS.
 */
const DYNAMIC = new RegExp(
  [
    '<script|\\bon\\w+\\s*=|javascript:',
    '<link|<i?frame|<object|<embed|<portal|<applet|http-equiv',
    '<progress|<video|<audio|<canvas|<animate|<set\\b|<marquee|<image|<use|autofocus|contenteditable',
    '@import|@font-face|@keyframes|animation|transition|content-visibility',
    'url\\(|image-set|\\bsrc\\s*=(?!\\s*["\']?data:)|\\bbackground\\s*=|\\bloading\\s*=|\\bsrcset\\s*=',
    '\\\\',
  ].join('|'),
  'i',
);

export const isStaticHtml = (html: string): boolean =>
  html.length <= MAX_LENGTH && !DYNAMIC.test(html);
