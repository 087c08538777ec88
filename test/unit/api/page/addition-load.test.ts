import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { AdditionLoad } from '../../../../api/page/addition-load.ts';
import type { Session } from '../../../../api/workers/session.ts';

const URL_OF_SHEET = 'https://other.example/missing.css';
const REQUEST = {
  requestId: '1',
  frameId: 'F',
  type: 'Stylesheet',
  request: { url: URL_OF_SHEET },
};
const WITHHELD = { requestId: '1', errorText: 'net::ERR_BLOCKED_BY_ORB' };

/** The message for a load with these events, in this order. */
async function messageAfter(events: [string, object][]): Promise<string | undefined> {
  const emitter = new EventEmitter();
  const session = Object.assign(emitter, { frameId: 'F' }) as unknown as Session;
  const blockedRequests = { of: () => undefined, isOverLimit: () => false };
  const load = new AdditionLoad({ session, blockedRequests }, 'css', URL_OF_SHEET);
  for (const [name, event] of events) emitter.emit(name, event);
  return (await load.problem(false))?.message;
}

describe('the load of an added stylesheet', () => {
  const status = (statusCode: number): [string, object] => [
    'Network.responseReceivedExtraInfo',
    { requestId: '1', statusCode },
  ];
  const request: [string, object] = ['Network.requestWillBeSent', REQUEST];
  const redirect: [string, object] = [
    'Network.requestWillBeSent',
    { ...REQUEST, redirectResponse: { status: 302 } },
  ];
  const failure: [string, object] = ['Network.loadingFailed', WITHHELD];

  for (const [what, events] of Object.entries({
    'after its request': [request, status(404), failure],
    'before its request': [status(404), request, failure],
    'after a redirect': [request, status(302), redirect, status(404), failure],
    'before the event of a redirect': [request, status(302), status(404), redirect, failure],
  }))
    it(`has the status that arrives ${what}`, async () => {
      expect(await messageAfter(events)).to.include('the server returned 404');
    });
});
