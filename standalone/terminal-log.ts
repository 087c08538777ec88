// The log of `npm start` on a terminal: one readable line for each request, with colors unless
// NO_COLOR is set. Otherwise the log is JSON lines.
import { type MessageFormatFunc, prettyFactory } from 'pino-pretty';
import type { AccessLine } from '../api/http/access-log.ts';

type Colors = Parameters<MessageFormatFunc>[3]['colors'];

/** Control and format characters, by which pages and callers could change what a terminal shows. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Only a stack has several lines. */
const visible = (name: string, text: string): string =>
  text.replace(INVISIBLE, char => (char === '\n' && name === 'stack' ? char : '\u{fffd}'));

const fieldsOf = (line: string): Record<string, unknown> =>
  JSON.parse(line, (name, value) => (typeof value === 'string' ? visible(name, value) : value));

const sized = (bytes: number): string =>
  bytes < 2 ** 20 ? `${Math.ceil(bytes / 1_024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The status, with the error in color: yellow when the caller can correct it. */
function answerText({ status, code, reason, outcome }: AccessLine, colors: Colors): string {
  const text = [status, code, reason && `(${reason})`].filter(Boolean).join(' ');
  if (code === undefined) return text;
  const failed = outcome === 'failed' || (status ?? 0) >= 500;
  return failed ? colors.red(text) : colors.yellow(text);
}

/** `POST /v1/render 200: 412.3 ms, 2 pages, 18 KiB, request 019...`. */
function requestText(line: AccessLine, colors: Colors): string {
  const { method, path, clientAddress, code, ms, pages, bytes } = line;
  const { resourceErrors, reference, requestId } = line;
  const details = [
    `${ms} ms`,
    pages !== undefined && counted(pages, 'page'),
    bytes !== undefined && code === undefined && sized(bytes),
    resourceErrors && counted(resourceErrors, 'resource error'),
    reference !== undefined && `reference ${JSON.stringify(reference)}`,
    clientAddress !== undefined && `from ${clientAddress}`,
    `request ${requestId}`,
  ];
  return `${method} ${path} ${answerText(line, colors)}: ${details.filter(Boolean).join(', ')}`;
}

const COMMON = { translateTime: 'SYS:HH:MM:ss', ignore: 'process' };
const requestLine = prettyFactory({
  ...COMMON,
  hideObject: true,
  messageFormat: (line, _message, _level, { colors }) =>
    requestText(line as unknown as AccessLine, colors),
});
const otherLine = prettyFactory({ ...COMMON, singleLine: true });

/** A destination of `createLog`. `write` receives whole lines. */
export const terminalLog = (write: (lines: string) => void) => ({
  write(line: string): void {
    const fields = fieldsOf(line);
    write((fields.msg === 'request' ? requestLine : otherLine)(fields));
  },
});
