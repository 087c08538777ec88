import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { createLog } from '../../../common/log.ts';
import { terminalLog } from '../../../standalone/terminal-log.ts';

describe('the log on a terminal', () => {
  const requestId = '01a217c6-acbe-7b17-a48e-338b171dc585';
  const request = { requestId, method: 'POST', path: '/v1/render', status: 200, ms: 412.3 };

  /** What is written for one line of the log, without colors and time. */
  function shown(level: 'info' | 'warn' | 'error', fields: object, message: string): string {
    let text = '';
    const log = createLog(
      'info',
      'standalone',
      terminalLog(lines => (text += lines)),
    );
    log[level](fields, message);
    const plain = stripVTControlCharacters(text);
    expect(plain).to.match(/^\[\d\d:\d\d:\d\d\] .*\n$/s);
    return plain.slice('[00:00:00] '.length, -1);
  }
  const requestLine = (fields: object) => shown('info', { ...request, ...fields }, 'request');

  it('has one line for a request, with the facts that a reader needs', () => {
    expect(requestLine({ pages: 2, bytes: 18_000, resourceErrors: 0 })).to.equal(
      `INFO: POST /v1/render 200: 412.3 ms, 2 pages, 18 KiB, request ${requestId}`,
    );
    expect(
      requestLine({
        ...{ pages: 1, bytes: 2_500_000, resourceErrors: 3, reference: 'order 7' },
        ...{ clientAddress: '192.0.2.1', accountId: '3fK9xQ2mLp', phases: { print: 1 } },
      }),
    ).to.equal(
      `INFO: POST /v1/render 200: 412.3 ms, 1 page, 2.4 MiB, 3 resource errors, reference "order 7", from 192.0.2.1, request ${requestId}`,
    );
  });

  it('names the error of a request', () => {
    const failed = { status: 502, code: 'render_failed', reason: 'page_timeout', bytes: 400 };
    expect(requestLine(failed)).to.equal(
      `INFO: POST /v1/render 502 render_failed (page_timeout): 412.3 ms, request ${requestId}`,
    );
    expect(requestLine({ status: undefined, code: 'client_closed' })).to.equal(
      `INFO: POST /v1/render client_closed: 412.3 ms, request ${requestId}`,
    );
  });

  it('has the message and the fields of other lines', () => {
    expect(shown('warn', { worker: 'a', ms: 3 }, 'worker ignored')).to.equal(
      'WARN: worker ignored {"worker":"a","ms":3}',
    );
  });

  it('has the stack of an error', () => {
    const text = shown('error', { err: new Error('broken') }, 'unexpected error');
    expect(text.split('\n')[0]).to.include('ERROR: unexpected error');
    expect(text).to.match(/Error: broken\n +at .*terminal-log\.test\.ts/);
  });

  it('has no character by which a caller or a page can change what the terminal shows', () => {
    const bad = '\u001b[2J\u009b1A\r\n\u202e\u2028\u0007';
    const texts = [
      requestLine({ path: `/v1/${bad}`, reference: bad }),
      shown('warn', { reason: bad }, `text ${bad}`),
      shown('error', { err: Object.assign(new Error('x'), { stack: `Error: ${bad}` }) }, 'error'),
    ];
    for (const text of texts)
      expect(text.replaceAll('\n', '')).to.match(/^[^\p{Cc}\p{Cf}\p{Zl}]*$/u);
    expect(texts[0]!.split('\n')).to.have.length(1);
    expect(texts[1]!.split('\n')).to.have.length(1);
  });
});
