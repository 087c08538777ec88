// @proves encodings

import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type RealPage, realPages } from '../../support/pages/real-pages.ts';
import type { Page } from '../../support/servers/web-server.ts';

const as =
  (body: Buffer, headers: Record<string, string> = {}): Page =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body);
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string, mark = '\uFEFF') => Buffer.from(`${mark}${text}`, 'utf16le');
const packed = (name: string, body: Buffer) => ({
  [`/${name}`]: as(body, { 'content-encoding': name, 'content-type': 'text/html; charset=utf-8' }),
});
const LONG = `<h1>größer</h1>${Array.from({ length: 3_000 }, (_, n) => `<p>${Math.sin(n)}</p>`).join('')}<h1>ENDE</h1>`;

const charsets: RealPage[] = [
  {
    what: 'UTF-8 that only its meta element names',
    serve: { '/meta': as(Buffer.from('<meta charset=utf-8><p>größer €')) },
    text: ['größer €'],
  },
  {
    what: 'UTF-8 that only its byte order mark names',
    serve: { '/bom': as(Buffer.from('\uFEFF<p>größer €')) },
    text: ['größer €'],
  },
  {
    what: 'a byte order mark against a wrong header',
    serve: {
      '/bom': as(Buffer.from('\uFEFF<p>größer €'), {
        'content-type': 'text/html; charset=iso-8859-1',
      }),
    },
    text: ['größer €'],
  },
  {
    what: 'ISO 8859-1 by header',
    serve: {
      '/latin': as(latin1('<p>größer'), { 'content-type': 'text/html; charset=iso-8859-1' }),
    },
    text: ['größer'],
  },
  {
    what: 'UTF-16 with a byte order mark',
    serve: { '/wide': as(utf16('<p>größer €')) },
    text: ['größer €'],
  },
  {
    what: 'UTF-16 by header',
    serve: {
      '/wide': as(utf16('<p>größer €', ''), { 'content-type': 'text/html; charset=utf-16le' }),
    },
    text: ['größer €'],
  },
  {
    what: 'Shift JIS',
    serve: {
      '/sjis': as(Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0xfa, 0x96, 0x7b]), {
        'content-type': 'text/html; charset=shift_jis',
      }),
    },
    text: ['日本'],
  },
  {
    what: 'a charset that does not exist',
    serve: {
      '/odd': as(Buffer.from('<p>plain'), { 'content-type': 'text/html; charset=klingon' }),
    },
    text: ['plain'],
  },
  {
    what: 'the wrong charset, as its header says',
    serve: {
      '/wrong': as(Buffer.from('<p>größer'), { 'content-type': 'text/html; charset=iso-8859-1' }),
    },
    text: ['grÃ¶ÃŸer'],
  },
  {
    what: 'bytes that are no UTF-8',
    serve: {
      '/broken': as(Buffer.from([0x3c, 0x70, 0x3e, 0x41, 0xff, 0xc3, 0x42]), {
        'content-type': 'text/html; charset=utf-8',
      }),
    },
    text: [/A.*B/],
  },
  {
    what: 'html with a byte order mark and half a pair',
    html: '\uFEFF<p>größer \ud800 €</p>',
    text: ['größer', '€'],
  },
  {
    what: 'html that says another charset of itself',
    html: '<meta charset=iso-8859-1><meta http-equiv=content-type content="text/html; charset=utf-16"><p>größer €',
    text: ['größer €'],
  },
  { what: 'html with a zero character', html: '<p>before\u0000after</p>', text: [/before.?after/] },
];

const bodies: RealPage[] = [
  { what: 'gzip', serve: packed('gzip', gzipSync(LONG)), text: ['größer', 'ENDE'] },
  {
    what: 'Brotli',
    at: 'secure',
    serve: packed('br', brotliCompressSync(LONG)),
    text: ['größer', 'ENDE'],
  },
  { what: 'deflate', serve: packed('deflate', deflateSync(LONG)), text: ['größer', 'ENDE'] },
  {
    what: 'Zstandard',
    at: 'secure',
    serve: packed('zstd', zstdCompressSync(LONG)),
    text: ['größer', 'ENDE'],
  },
  {
    what: 'gzip that is none',
    serve: packed('gzip', Buffer.from('<h1>no gzip at all</h1>')),
    fails: { reason: 'page_unreachable', message: /content decoding failed/ },
  },
  {
    what: 'gzip that is cut off',
    serve: packed('gzip', gzipSync(LONG).subarray(0, 5_000)),
    text: ['größer'],
  },
  {
    what: 'gzip that breaks in its middle',
    serve: packed(
      'gzip',
      Buffer.concat([gzipSync(LONG).subarray(0, 5_000), Buffer.alloc(3_000, 0xff)]),
    ),
    fails: { reason: 'page_unreachable', message: /content decoding failed/ },
  },
  {
    what: 'an unknown encoding',
    serve: packed('rot13', Buffer.from('<h1>SHOWN</h1>')),
    text: ['SHOWN'],
  },
  {
    what: 'a stylesheet and a script in gzip',
    serve: {
      '/uses': '<link rel=stylesheet href=/c.css><p id=o></p><script src=/s.js></script>',
      '/c.css': as(gzipSync('p::before { content: "STYLE " }'), {
        'content-type': 'text/css',
        'content-encoding': 'gzip',
      }),
      '/s.js': as(gzipSync('o.textContent = "SCRIPT"'), {
        'content-type': 'text/javascript',
        'content-encoding': 'gzip',
      }),
    },
    text: ['STYLE SCRIPT'],
  },
  {
    what: 'a page of 512 MiB in 512 KiB of gzip',
    // Packed in two goes, or making it would take as long as all the rest.
    serve: () => ({
      '/bomb': as(Buffer.concat(Array(32).fill(gzipSync(Buffer.alloc(2 ** 24, '<b>x</b>')))), {
        'content-encoding': 'gzip',
      }),
    }),
    fails: { reason: ['page_timeout', 'page_crash'], message: /2 s|memory|crashed/ },
  },
];

realPages('charsets', charsets);
realPages('compressed bodies', bodies);
