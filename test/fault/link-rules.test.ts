import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Link, openLink } from './harness/link.ts';
import { connectPeer, type Peer, startPeers } from './harness/peer.ts';

describe('a frame rule of the test link', () => {
  const closing: (() => unknown)[] = [];
  let link: Link;
  let near: Peer;
  let far: Peer;
  beforeEach(async () => {
    const target = await startPeers();
    closing.push(target.close);
    link = await openLink(target.port);
    closing.push(link.close);
    near = await connectPeer(link.port);
    closing.push(() => near.socket.destroy());
    await eventually(() => expect(target.peers.length).to.equal(1));
    far = target.peers[0]!;
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  /** Sends each as a separate chunk. */
  async function send(...chunks: string[]) {
    for (const chunk of chunks) {
      const { up } = link.bytes();
      near.socket.write(chunk);
      await eventually(() => expect(link.bytes().up).to.equal(up + chunk.length));
    }
  }
  const receives = (text: string) => eventually(() => expect(far.received()).to.equal(text));
  const is = (text: string) => (frame: Buffer) => frame.toString() === text;

  it('loses a frame and keeps the connection', async () => {
    const rule = link.onFrame({ direction: 'up', matches: is('b'), do: 'lose' });
    await send('a', 'b', 'c', 'b', 'd');
    await receives('acd');
    expect(rule.hits()).to.equal(2);
  });

  it('applies at most `times` times', async () => {
    const rule = link.onFrame({ direction: 'both', matches: is('b'), do: 'duplicate', times: 2 });
    await send('a', 'b', 'b', 'b');
    await receives('abbbbb');
    expect(rule.hits()).to.equal(2);
  });

  it('does not apply after it is removed or the link is healed', async () => {
    const rule = link.onFrame({ direction: 'up', matches: is('b'), do: 'lose' });
    await send('b');
    rule.remove();
    await send('b');
    await receives('b');
    link.onFrame({ direction: 'up', matches: is('b'), do: 'lose' });
    link.heal();
    await send('b');
    await receives('bb');
  });

  it('applies as the first match, in its direction only', async () => {
    const down = link.onFrame({ direction: 'down', matches: () => true, do: 'lose' });
    const first = link.onFrame({ direction: 'up', matches: is('a'), do: 'duplicate' });
    const second = link.onFrame({
      direction: 'up',
      matches: () => true,
      do: { rewrite: frame => Buffer.from(`<${frame}>`) },
    });
    await send('a', 'b');
    await receives('aa<b>');
    expect([down.hits(), first.hits(), second.hits()]).to.deep.equal([0, 1, 1]);
  });

  it('cuts the connection at a frame, after all previous frames', async () => {
    link.onFrame({ direction: 'up', matches: is('b'), do: 'cut' });
    await send('a', 'b');
    await eventually(() => expect(far.state()).to.equal('ECONNRESET'));
    await eventually(() => expect(near.state()).to.equal('ECONNRESET'));
    expect(far.received()).to.equal('a');
  });

  it('delays a frame and all frames after it', async () => {
    link.onFrame({ direction: 'up', matches: is('b'), do: { delayMs: 150 } });
    await send('a');
    await receives('a');
    const sentMs = performance.now();
    await send('b', 'c');
    await receives('abc');
    expect(performance.now() - sentMs).to.be.at.least(150);
  });

  it('stops delaying when the link is healed', async () => {
    link.onFrame({ direction: 'up', matches: is('b'), do: { delayMs: 3_600_000 } });
    await send('a', 'b', 'c');
    await receives('a');
    link.heal();
    await receives('abc');
  });

  it('silences one connection from a frame on, until the link is healed', async () => {
    link.onFrame({ direction: 'up', matches: is('b'), do: 'swallow' });
    await send('a', 'b', 'c');
    far.socket.write('delayed');
    await eventually(() => expect(link.bytes().down).to.equal(7));
    const other = await connectPeer(link.port);
    closing.push(() => other.socket.destroy());
    other.socket.write('d');
    await eventually(() => expect(link.bytes().up).to.equal(4));
    await receives('a');
    expect(near.received()).to.equal('');
    link.heal();
    await receives('abc');
    await eventually(() => expect(near.received()).to.equal('delayed'));
  });

  it('receives the last frame of the other direction', async () => {
    link.onFrame({
      direction: 'down',
      matches: (_, { before }) => before?.toString() === 'b',
      do: 'lose',
    });
    await send('a');
    await receives('a');
    far.socket.write('to a ');
    await eventually(() => expect(near.received()).to.equal('to a '));
    await send('b');
    await receives('ab');
    far.socket.write('to b ');
    await eventually(() => expect(link.bytes().down).to.equal(10));
    await send('c');
    await receives('abc');
    far.socket.write('to c ');
    await eventually(() => expect(near.received()).to.equal('to a to c '));
  });
});
