import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import {
  answerId,
  CdpPipe,
  eventOf,
  OWN_IDS_FROM,
  PipeClosed,
  sessionOf,
} from '../../../../worker/browser/cdp-pipe.ts';
import { eventually } from '../../../support/eventually.ts';

const SESSION = 'A1B2C3D4E5F60718293A4B5C6D7E8F90';

describe('the routing of CDP messages by head and tail', () => {
  const rows: [string, string | undefined][] = [
    [`{"id":1,"result":{},"sessionId":"${SESSION}"}`, SESSION],
    [`{"method":"Page.loadEventFired","params":{"timestamp":1},"sessionId":"${SESSION}"}`, SESSION],
    ['{"id":1,"result":{}}', undefined],
    ['{"method":"Target.attachedToTarget","params":{"sessionId":"X"}}', undefined],
    [
      String.raw`{"method":"Runtime.consoleAPICalled","params":{"text":"\"sessionId\":\"X\"}"}}`,
      undefined,
    ],
    [String.raw`{"id":1,"result":"\"sessionId\":\"X"}`, undefined],
    ['{"a":"sessionId"}', undefined],
    ['{}', undefined],
    ['', undefined],
  ];
  for (const [frame, session] of rows)
    it(`finds ${session ? 'the session' : 'none'} in ${frame.slice(0, 60) || 'nothing'}`, () => {
      expect(sessionOf(Buffer.from(frame))).to.equal(session);
    });

  it('reads the id of an answer and none of an event', () => {
    expect(answerId(Buffer.from('{"id":42,"result":{}}'))).to.equal(42);
    expect(answerId(Buffer.from(`{"id":${OWN_IDS_FROM},"error":{}}`))).to.equal(OWN_IDS_FROM);
    expect(answerId(Buffer.from('{"method":"Page.x","params":{}}'))).to.equal(undefined);
    expect(answerId(Buffer.from('{}'))).to.equal(undefined);
  });

  it('reads the name of an event and none of an answer', () => {
    expect(eventOf(Buffer.from('{"method":"Page.x","params":{"method":"Page.y"}}'))).to.equal(
      'Page.x',
    );
    for (const none of ['{"id":42,"result":{"method":"Page.x"}}', '{"method":', '{}', ''])
      expect(eventOf(Buffer.from(none))).to.equal(undefined);
  });
});

describe('the pipe to Chrome', () => {
  const open = () => {
    const input = new PassThrough();
    const output = new PassThrough();
    return { input, output, pipe: new CdpPipe(input, output) };
  };

  it('delivers the messages of each session unchanged, independent of chunk boundaries', async () => {
    const { output, pipe } = open();
    const message = `{"method":"Page.x","params":{"text":"${'ä€😀'.repeat(50)}"},"sessionId":"${SESSION}"}`;
    const bytes = Buffer.from(`${message}\0${message}\0`);
    for (let cut = 1; cut < bytes.length; cut += 7) {
      const got: string[] = [];
      const both = Promise.withResolvers<void>();
      pipe.route(SESSION, frame => got.push(frame.toString()) === 2 && both.resolve());
      output.write(bytes.subarray(0, cut));
      output.write(bytes.subarray(cut));
      await both.promise;
      expect(got).to.deep.equal([message, message]);
    }
  });

  it('settles its own commands without passing them to the listener of the session', async () => {
    const { input, output, pipe } = open();
    pipe.route(SESSION, () => expect.fail('the listener was called'));
    const answer = pipe.command<{ ok: number }>('Page.enable', {}, SESSION);
    const [sent] = (await once(input, 'data')) as [Buffer];
    const { id } = JSON.parse(sent.toString().replace(/\0$/, ''));
    output.write(`{"id":${id},"result":{"ok":1},"sessionId":"${SESSION}"}\0`);
    expect(await answer).to.deep.equal({ ok: 1 });
  });

  it('rejects a command with the error message of Chrome', async () => {
    const { output, pipe } = open();
    const answer = pipe.command('Target.createTarget');
    output.write(
      `{"id":${OWN_IDS_FROM},"error":{"code":-32000,"message":"Failed to find context"}}\0`,
    );
    const error = await answer.then(
      () => undefined,
      (e: Error) => e,
    );
    expect(error?.message).to.equal('Target.createTarget: Failed to find context');
  });

  it('does not treat a parse error of Chrome as a browser event', async () => {
    const { output, pipe } = open();
    const event = Promise.withResolvers<unknown>();
    pipe.onBrowserEvent((method, { sessionId }) => event.resolve([method, sessionId]));
    const unread =
      '{"error":{"code":-32700,"message":"JSON: stack limit exceeded at position 366"}}';
    output.write(
      `${unread}\0{"method":"Target.detachedFromTarget","params":{"sessionId":"${SESSION}"}}\0`,
    );
    expect(await event.promise).to.deep.equal(['Target.detachedFromTarget', SESSION]);
  });

  it('records that a page exceeded its event budget', async () => {
    const { output, pipe } = open();
    const frame = `${JSON.stringify({ method: 'Page.x', params: { text: 'x'.repeat(2 ** 20) }, sessionId: SESSION })}\0`;
    for (let sent = 0; sent < 60; sent++) output.write(frame);
    await eventually(() => expect(output.readableLength).to.equal(0));
    expect(pipe.overBudget()).to.equal(false);
    for (let sent = 0; sent < 60; sent++) output.write(frame);
    await eventually(() => expect(pipe.overBudget()).to.equal(true));
    output.destroy();
  });

  it('rejects pending and later commands when the pipe closes', async () => {
    const { output, pipe } = open();
    const errorOf = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        error => error,
      );
    const waiting = errorOf(pipe.command('Browser.getVersion'));
    output.destroy();
    expect(await waiting).to.be.instanceOf(PipeClosed);
    await pipe.closed;
    expect(await errorOf(pipe.command('Browser.getVersion'))).to.be.instanceOf(PipeClosed);
  });
});
