// Filters the CDP commands of a slot's client. Owns the allowlist of methods and parameters, and
// serialises each frame again for Chrome's pipe: two parsers that read a duplicate key differently
// could otherwise be used to bypass the list. Only the content of one large string is copied as is.
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

/**
 * In a sealed page. Nothing here leaves a state that a reset would not remove, and nothing can open
 * the network.
 */
const ALLOWED_SEALED = new Set([
  'Emulation.setEmulatedMedia',
  'IO.close',
  'IO.read',
  'Page.createIsolatedWorld',
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
 * Methods with an allowlist of parameters and their types. With a `url`, `Fetch.continueRequest`
 * would open another address than the page requested, even `file:`; a pattern with a stage, or
 * `interceptResponse`, would expose responses.
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
 * Larger frames must have the exact shape of `setDocumentContent`; all others are parsed and
 * serialised again.
 */
const PARSED_BYTES = 1024 * 1024;
const HTML_HEAD =
  /^\{"id":([1-9]\d{0,8}),"method":"Page\.setDocumentContent","params":\{"frameId":"([0-9A-F]{32})","html":"/;

/** Commands to the worker itself, which never reach Chrome. */
const OWN = [END, OPEN, PING, STILL] as const;
type Own = (typeof OWN)[number];
const isOwn = (method: string): method is Own => (OWN as readonly string[]).includes(method);

export type Filtered =
  | {
      kind: 'forward';
      parts: Buffer[];
      /** The parameters of `Network.enable`, if it is that command. */
      network?: Record<string, unknown>;
    }
  /** A command to the gateway itself. */
  | { kind: 'own'; id: number; method: Own; params: Record<string, unknown> }
  /** Answered with an error; the slot stays open. */
  | { kind: 'rejected'; id: number; method: string; problem: string }
  /** Never sent by Pressroom's API; ends the slot. */
  | { kind: 'garbage'; problem: string };

const garbage = (problem: string): Filtered => ({ kind: 'garbage', problem });

/**
 * Over CDP `Page.navigate` opens even `file:` and `chrome:`, so the scheme is checked here: http(s)
 * or about:blank.
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

/** A table with 1 for each of `bytes`. Tables, since every byte of a large document is checked. */
const tableOf = (bytes: Iterable<number>) => {
  const table = new Uint8Array(256);
  for (const byte of bytes) table[byte] = 1;
  return table;
};
/**
 * Bytes that need no escape in a JSON string (RFC 8259 section 7). NUL is not among them: it would
 * terminate a message on the pipe.
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
 * The offset of the closing quote of the JSON string whose content starts at `from`. Undefined when
 * the string is not valid JSON.
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

/** Forwards a large `setDocumentContent` without parsing it. Undefined for any other frame. */
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
 * Chrome rejects a command nested 300 deep without its id, so no answer can be assigned. The API
 * needs less than a tenth of this depth.
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
  isSealed: boolean,
): Filtered {
  const rejected = (problem: string): Filtered => ({
    kind: 'rejected',
    id,
    method: method.slice(0, 80),
    problem,
  });
  if (isSealed && !ALLOWED_SEALED.has(method))
    return rejected('this method is not allowed in a sealed page');
  const check = Object.hasOwn(PARAMETERS, method) ? PARAMETERS[method] : undefined;
  if (check && !check(params)) return rejected('a parameter is not allowed');
  if (!check && !ALLOWED.has(method)) return rejected('this method is not allowed');
  if (method === 'Page.navigate' && !navigable(params.url))
    return rejected('only http, https and about:blank can be opened');
  if (nestsDeeper(params, MAX_DEPTH)) return garbage('a frame is nested too deeply');
  return {
    kind: 'forward',
    parts: [Buffer.from(JSON.stringify({ id, method, params, sessionId }))],
    ...(method === 'Network.enable' && { network: params }),
  };
}

/**
 * Decides about one text frame of a slot's client. Pure. `sessionId` is the slot's own CDP session;
 * a session in the frame is ignored. A sealed page accepts fewer commands.
 */
export function filterFrame(frame: Buffer, sessionId: string, isSealed = false): Filtered {
  const html = filterHtml(frame, sessionId);
  if (html) return html;
  if (frame.length > PARSED_BYTES)
    return garbage(`a frame of ${frame.length} bytes is not a Page.setDocumentContent`);
  let message: unknown;
  try {
    message = JSON.parse(frame.toString());
  } catch {
    return garbage('a frame is not JSON');
  }
  if (!isPlainObject(message)) return garbage('a frame is not an object');
  const { id, method, params = {} } = message;
  if (
    !Number.isInteger(id) ||
    (id as number) < 1 ||
    (id as number) >= OWN_IDS_FROM ||
    typeof method !== 'string' ||
    !isPlainObject(params)
  )
    return garbage('a frame has no valid id, method or params');
  const command = id as number;
  if (isOwn(method)) return { kind: 'own', id: command, method, params };
  return filterCommand(command, method, params, sessionId, isSealed);
}
