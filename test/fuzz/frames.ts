// Randomly broken frames of a slot's client. Every frame that the filter forwards is one JSON
// object with an allowed method and the slot's own session, for every parser.
import { isUtf8 } from 'node:buffer';
import { filterFrame } from '../../worker/gateway/cdp-filter.ts';
import type { Chance } from '../fault/harness/random.ts';
import { type Fuzzer, holds } from './fuzzer.ts';

const SESSION = 'A1B2C3D4E5F60718293A4B5C6D7E8F90';
const FRAME = '0123456789ABCDEF0123456789ABCDEF';
/** The methods that a render needs: a deliberate second copy of the list. */
const LISTED = new Set(
  (
    'Emulation.setDeviceMetricsOverride Emulation.setEmulatedMedia Fetch.continueRequest Fetch.continueWithAuth Fetch.enable IO.close IO.read Network.enable ' +
    'Network.setCookie Page.createIsolatedWorld Page.handleJavaScriptDialog Page.navigate Page.printToPDF Page.setBypassCSP Page.setDocumentContent ' +
    'Runtime.callFunctionOn Runtime.disable Runtime.enable Runtime.evaluate'
  ).split(' '),
);
const NOT_LISTED = [
  'Browser.close',
  'Target.createTarget',
  'Page.setDownloadBehavior',
  'Fetch.fulfillRequest',
  'DOM.setFileInputFiles',
  '__proto__',
  'page.navigate',
];
const OWN = ['Pressroom.end', 'Pressroom.ping', 'Pressroom.still'];
const ADDRESSES = [
  'http://a.example/',
  'https://a.example/',
  'about:blank',
  'file:///etc/passwd',
  'chrome://gpu',
  'javascript:1',
  ' http://a',
  'view-source:http://a',
  'HTTP:a',
  'http:\\\\a',
];
const PIECES = [
  ...[
    '"',
    '\\',
    '\\"',
    '\\\\',
    '\\u0022',
    '\\u005c',
    '\\x22',
    '\\u00',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"}}',
    '"}',
    '\u0000',
    '\n',
    '\u007f',
    '\u2028',
    '/*',
    '*/',
    '//',
    ' ',
    "'",
  ],
  ...[
    '"sessionId":"other"',
    ',"sessionId":"other"',
    '"method":"Browser.close"',
    ',"method":"Browser.close"',
    '"id":2',
    ',"id":1',
    '"params":{}',
    '"__proto__":{"method":"Browser.close"}',
  ],
  ...[
    '"url":"file:///etc/passwd"',
    ',"url":"file:///"',
    '\\u0066ile',
    '1e0',
    '1.0',
    '-0',
    'null',
    'true',
    '0',
    '9',
    '\ufeff',
    '\ud800',
    'é',
    '😀',
  ],
];
const BYTES = [
  0x00, 0x08, 0x0a, 0x1f, 0x20, 0x22, 0x2c, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xe2,
  0xed, 0xf0, 0xf5, 0xff,
];

function value(chance: Chance, depth = 0): unknown {
  const kind = chance.int(0, depth > 3 ? 4 : 6);
  if (kind < 3) return chance.pick([...ADDRESSES, ...PIECES, 'x']);
  if (kind === 3) return chance.pick([0, 1, -1, 1.5, 1e9, 1e300, Number.MAX_SAFE_INTEGER]);
  if (kind === 4) return chance.pick([true, false, null]);
  const members = Array.from({ length: chance.int(0, 3) }, () => value(chance, depth + 1));
  if (kind === 5) return members;
  const names = [
    'url',
    'html',
    'frameId',
    'headers',
    'name',
    'value',
    'patterns',
    'requestId',
    'sessionId',
    'method',
    'constructor',
  ];
  return Object.fromEntries(members.map(member => [chance.pick(names), member]));
}

function good(chance: Chance): string {
  const id = chance.pick([1, 7, 999_999_999, chance.int(-2, 2e9)]);
  if (chance.percent(40))
    return `{"id":${id},"method":"Page.setDocumentContent","params":{"frameId":"${FRAME}","html":${JSON.stringify(`<p>${value(chance)}é\\"`)}}}`;
  const method = chance.pick([
    ...LISTED,
    'Page.navigate',
    'Fetch.continueRequest',
    ...NOT_LISTED,
    ...OWN,
  ]);
  const params = chance.percent(30) ? { url: chance.pick(ADDRESSES) } : value(chance);
  return JSON.stringify({ id, method, params, ...(chance.percent(20) && { sessionId: 'other' }) });
}

function nested(chance: Chance): string {
  const depth = chance.pick([10, 1_000, 20_000]);
  const [open, close] = chance.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  return `{"id":1,"method":"Page.printToPDF","params":{"a":${open.repeat(depth)}1${close.repeat(depth)}}}`;
}

/** Replaces, inserts, removes or repeats bytes. */
function broken(chance: Chance, bytes: Buffer): Buffer {
  let frame = bytes;
  for (let changes = chance.int(0, 4); changes > 0; changes--) {
    const at = chance.int(0, frame.length);
    const piece = chance.percent(50)
      ? Buffer.from(chance.pick(PIECES))
      : Buffer.from([chance.percent(50) ? chance.pick(BYTES) : chance.int(0, 255)]);
    const put = chance.pick([
      piece,
      piece,
      Buffer.alloc(0),
      frame.subarray(at, at + chance.int(1, 60)),
    ]);
    frame = Buffer.concat([
      frame.subarray(0, at),
      put,
      frame.subarray(at + chance.pick([0, 0, 1, 2, chance.int(0, 40)])),
    ]);
  }
  return frame;
}

function checkForwarded(bytes: Buffer, frame: Buffer): void {
  const tried = frame.toString('latin1');
  holds(isUtf8(bytes) && !bytes.includes(0), 'invalid text is forwarded', tried);
  const text = bytes.toString();
  holds(
    text.startsWith('{"id":') && text.endsWith(`,"sessionId":"${SESSION}"}`),
    'a frame without the slot’s session at its end is forwarded',
    tried,
  );
  let message: Record<string, unknown>;
  try {
    message = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Error(`what goes on is not JSON: ${JSON.stringify(tried)}`);
  }
  holds(
    Object.keys(message).join() === 'id,method,params,sessionId',
    'other members are forwarded',
    tried,
  );
  const { id, method, params, sessionId } = message as {
    id: number;
    method: string;
    params: { url?: unknown; frameId?: unknown; html?: unknown };
    sessionId: string;
  };
  holds(
    Number.isInteger(id) && id >= 1 && id < 1e9,
    'an id outside the range of clients is forwarded',
    tried,
  );
  holds(LISTED.has(method), 'a method outside the list is forwarded', tried);
  holds(sessionId === SESSION, 'another session is forwarded', tried);
  // Parsing and serialising drops one of two duplicate members. The html may be escaped
  // differently, but it is one string.
  const { frameId, html } = params;
  const head = `{"id":${id},"method":"Page.setDocumentContent","params":{"frameId":${JSON.stringify(frameId)},"html":`;
  const isOneString = () =>
    text.startsWith(head) &&
    JSON.parse(text.slice(head.length, -`},"sessionId":"${SESSION}"}`.length)) === html;
  holds(
    JSON.stringify(message) === text || isOneString(),
    'a frame with two readings goes on',
    tried,
  );
  const place = params.url;
  if (method === 'Page.navigate')
    holds(
      place === 'about:blank' ||
        ['http:', 'https:'].includes(URL.parse(String(place))?.protocol ?? ''),
      'a page is sent elsewhere',
      tried,
    );
}

export const frames: Fuzzer = {
  name: 'frames',
  attempt(chance) {
    const text = chance.percent(2) ? nested(chance) : good(chance);
    const frame = broken(chance, Buffer.from(text));
    const filtered = filterFrame(frame, SESSION);
    if (filtered.kind === 'forward') checkForwarded(Buffer.concat(filtered.parts), frame);
    else if (filtered.kind === 'own')
      holds(
        OWN.includes(filtered.method),
        'a method of our own that is none',
        frame.toString('latin1'),
      );
    else holds(filtered.problem.length < 200, 'a long problem', filtered.problem);
  },
};
