import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../support/eventually.ts';
import { type Direction, openLink } from './harness/link.ts';
import { connectPeer, startPeers } from './harness/peer.ts';

const direction = fc.constantFrom<Direction[]>('up', 'down', 'both');
const bytes = fc.integer({ min: 1, max: 100_000 });

/** An action on a link or its ends. */
const action = fc.oneof(
  { weight: 2, arbitrary: fc.record({ does: fc.constant('ask' as const), bytes }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('answer' as const), bytes }) },
  fc.record({ does: fc.constant('swallow' as const), direction }),
  fc.record({ does: fc.constant('delay' as const), direction, ms: fc.nat(4) }),
  fc.record({ does: fc.constant('heal' as const) }),
);

describe('the test link under random rules', () => {
  it('neither loses nor reorders bytes', async () => {
    const target = await startPeers();
    const link = await openLink(target.port);
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 40 }), async actions => {
          link.heal();
          const known = target.peers.length;
          const near = await connectPeer(link.port);
          await eventually(() => expect(target.peers.length).to.equal(known + 1));
          const far = target.peers[known]!;
          const sent = { ask: '', answer: '' };
          for (const each of actions) {
            if (each.does === 'ask' || each.does === 'answer') {
              const more = randomBytes(each.bytes).toString('latin1');
              sent[each.does] += more;
              (each.does === 'ask' ? near : far).socket.write(more, 'latin1');
            } else if (each.does === 'swallow') link.swallow(each.direction);
            else if (each.does === 'delay') link.delay(each.ms, each.direction);
            else link.heal();
            await new Promise(setImmediate);
          }
          near.socket.end();
          far.socket.end();
          link.heal();
          await eventually(() =>
            expect([near.state(), far.state()]).to.deep.equal(['ended', 'ended']),
          );
          expect(far.received() === sent.ask).to.equal(true);
          expect(near.received() === sent.answer).to.equal(true);
        }),
        { numRuns: 30 },
      );
      await eventually(() => expect(link.connections()).to.equal(0));
    } finally {
      await Promise.all([link.close(), target.close()]);
    }
  });
});
