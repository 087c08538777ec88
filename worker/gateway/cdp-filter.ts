// What a slot's client may say to its page. Owns the list of CDP methods, what some of them may
// carry, and the rewriting of a client's frame into one for Chrome's pipe. Nothing of a client's
// text is passed on as it came, except the inside of one big string whose end is known: two parsers
// that read a doubled key differently could otherwise be talked past this list.
import { isUtf8 } from 'node:buffer';
import { END, OPEN, PING, STILL } from '../../common/protocol.ts';
import { OWN_IDS_FROM } from '../browser/cdp-pipe.ts';

const ALLOWED = new Set([
  'Emulation.setDeviceMetricsOverride',
  'Emulation.setEmulatedMedia',
  'IO.close',
  'IO.read',
  'Network.enable',
  'Page.createIsolatedWorld',
  'Page.handleJavaScriptDialog',
  'Page.navigate',
  'Page.printToPDF',
  'Page.setDocumentContent',
  'Runtime.callFunctionOn',
  'Runtime.evaluate',
]);

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Check = (value: unknown) => boolean;
const isText: Check = value => typeof value === 'string';
const isFlag: Check = value => typeof value === 'boolean';
const shape =
  (members: Record<string, Check>): Check =>
  value =>
    isPlainObject(value) &&
    Object.entries(value).every(
      ([name, member]) => Object.hasOwn(members, name) && members[name]!(member),
    );
const listOf =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check);

/**
 * Methods of which only these parameters are allowed, in these types. With a `url`,
 * `Fetch.continueRequest` would open another address than the page asked for, `file:` among them; a
 * pattern with a stage, or `interceptResponse`, would hand out answers.
 */
const PARAMETERS: Record<string, Check> = {
  'Fetch.enable': shape({
    patterns: listOf(shape({ urlPattern: isText })),
    handleAuthRequests: isFlag,
  }),
  'Fetch.continueRequest': shape({
    requestId: isText,
    headers: listOf(shape({ name: isText, value: isText })),
  }),
  'Fetch.continueWithAuth': shape({
    requestId: isText,
    authChallengeResponse: shape({ response: isText, username: isText, password: isText }),
  }),
  'Network.setCookie': shape({
    name: isText,
    value: isText,
    url: isText,
    domain: isText,
    path: isText,
    secure: isFlag,
    httpOnly: isFlag,
    sameSite: isText,
  }),
  'Page.setBypassCSP': shape({ enabled: isFlag }),
  'Runtime.disable': shape({}),
  'Runtime.enable': shape({}),
};

/**
 * Frames over this size must be the one shape that `setDocumentContent` has; all others are parsed
 * and written anew.
 */
const PARSED_BYTES = 1024 * 1024;
const HTML_HEAD =
  /^\{"id":([1-9]\d{0,8}),"method":"Page\.setDocumentContent","params":\{"frameId":"([0-9A-F]{32})","html":"/;

/** Commands of our own, which never reach Chrome. */
const OWN = [END, OPEN, PING, STILL] as const;
type Own = (typeof OWN)[number];
const isOwn = (method: string): method is Own => (OWN as readonly string[]).includes(method);

export type Filtered =
  | { kind: 'forward'; parts: Buffer[] }
  /** For the gateway itself. */
  | { kind: 'own'; id: number; method: Own; params: Record<string, unknown> }
  /** Answered with an error; the slot goes on. */
  | { kind: 'refused'; id: number; method: string; problem: string }
  /** No API of ours sends this; the slot ends. */
  | { kind: 'garbage'; problem: string };

/**
 * Over CDP `Page.navigate` opens `file:` and `chrome:` without a word, so the scheme is checked
 * here: http(s) or about:blank.
 */
function navigable(url: unknown): boolean {
  if (typeof url !== 'string') return false;
  if (url === 'about:blank') return true;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.protocol === 'http:' || parsed?.protocol === 'https:';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNICODE_ESCAPE = 0x75;

/** By byte: 1 for those of `bytes`. Tables, since every byte of a large document is looked up. */
const tableOf = (bytes: Iterable<number>) => {
  const table = new Uint8Array(256);
  for (const byte of bytes) table[byte] = 1;
  return table;
};
/**
 * What stands for itself in a JSON string (RFC 8259 section 7). A NUL, which does not, would end a
 * message on the pipe.
 */
const PLAIN = tableOf(
  Array.from({ length: 256 }, (_, byte) => byte).filter(
    byte => byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH,
  ),
);
const ESCAPED = tableOf(Buffer.from('"\\/bfnrt'));
const HEX = tableOf(Buffer.from('0123456789ABCDEFabcdef'));

const isHex4 = (frame: Buffer, at: number) =>
  HEX[frame[at]!] === 1 &&
  HEX[frame[at + 1]!] === 1 &&
  HEX[frame[at + 2]!] === 1 &&
  HEX[frame[at + 3]!] === 1;

/**
 * Where the JSON string ends whose inside begins at `from`: the offset of its closing quote.
 * Undefined when any of it is not JSON.
 */
function endOfString(frame: Buffer, from: number): number | undefined {
  for (let at = from; at < frame.length; ) {
    const byte = frame[at]!;
    if (PLAIN[byte] === 1) at += 1;
    else if (byte === QUOTE) return isUtf8(frame.subarray(from, at)) ? at : undefined;
    else if (byte !== BACKSLASH) return undefined;
    else if (ESCAPED[frame[at + 1]!] === 1) at += 2;
    else if (frame[at + 1] === UNICODE_ESCAPE && isHex4(frame, at + 2)) at += 6;
    else return undefined;
  }
  return undefined;
}

/**
 * The one frame that may be large, passed on without being parsed; undefined when it is anything
 * else.
 */
function filterHtml(frame: Buffer, sessionId: string): Filtered | undefined {
  const head = HTML_HEAD.exec(frame.toString('latin1', 0, 200));
  if (!head) return undefined;
  const end = endOfString(frame, head[0].length);
  if (end === undefined || frame.toString('latin1', end) !== '"}}') return undefined;
  return {
    kind: 'forward',
    parts: [
      Buffer.from(
        `{"id":${Number(head[1])},"method":"Page.setDocumentContent","params":{"frameId":"${head[2]}","html":"`,
      ),
      frame.subarray(head[0].length, end),
      Buffer.from(`"},"sessionId":"${sessionId}"}`),
    ],
  };
}

/**
 * Of a command nested 300 deep Chrome says that it cannot read it, and not which one. No API of
 * ours nests a tenth of this.
 */
const MAX_DEPTH = 100;
const nestsDeeper = (value: unknown, than: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (than === 0 || Object.values(value).some(member => nestsDeeper(member, than - 1)));

function filterCommand(
  id: number,
  method: string,
  params: Record<string, unknown>,
  sessionId: string,
): Filtered {
  const check = Object.hasOwn(PARAMETERS, method) ? PARAMETERS[method] : undefined;
  if (check && !check(params))
    return { kind: 'refused', id, method, problem: 'only some plain parameters are allowed' };
  if (!check && !ALLOWED.has(method))
    return {
      kind: 'refused',
      id,
      method: method.slice(0, 80),
      problem: 'this method is not allowed',
    };
  if (method === 'Page.navigate' && !navigable(params.url))
    return {
      kind: 'refused',
      id,
      method,
      problem: 'only http, https and about:blank can be opened',
    };
  if (nestsDeeper(params, MAX_DEPTH))
    return { kind: 'garbage', problem: 'a frame that nests too deep' };
  return {
    kind: 'forward',
    parts: [Buffer.from(JSON.stringify({ id, method, params, sessionId }))],
  };
}

/**
 * Decides about one text frame of a slot's client. Pure; `sessionId` is the slot's own CDP session,
 * whatever the frame says.
 */
export function filterFrame(frame: Buffer, sessionId: string): Filtered {
  const html = filterHtml(frame, sessionId);
  if (html) return html;
  if (frame.length > PARSED_BYTES)
    return {
      kind: 'garbage',
      problem: `a frame of ${frame.length} bytes that is no Page.setDocumentContent`,
    };
  let message: unknown;
  try {
    message = JSON.parse(frame.toString());
  } catch {
    return { kind: 'garbage', problem: 'a frame that is not JSON' };
  }
  if (!isPlainObject(message)) return { kind: 'garbage', problem: 'a frame that is no object' };
  const { id, method, params = {} } = message;
  if (
    !Number.isInteger(id) ||
    (id as number) < 1 ||
    (id as number) >= OWN_IDS_FROM ||
    typeof method !== 'string' ||
    !isPlainObject(params)
  )
    return { kind: 'garbage', problem: 'a frame without a usable id, method or params' };
  const command = id as number;
  if (isOwn(method)) return { kind: 'own', id: command, method, params };
  return filterCommand(command, method, params, sessionId);
}
