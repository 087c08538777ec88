import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Link, openLink } from './harness/link.ts';
import { connectPeer, type Peer, startPeers } from './harness/peer.ts';

const MIB = 1024 * 1024;

describe('the test link between two processes', () => {
  let target: Awaited<ReturnType<typeof startPeers>>;
  let link: Link;
  let clean: Link;
  let clients: Peer[];
  beforeEach(async () => {
    target = await startPeers();
    link = await openLink(target.port);
    clean = await openLink(target.port);
    clients = [];
  });
  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await Promise.all([link.close(), clean.close(), target.close()]);
  });

  async function client(through: Link = link): Promise<Peer> {
    const made = await connectPeer(through.port);
    clients.push(made);
    return made;
  }
  /** A connection that has reached the target: both of its ends. */
  async function pair(through: Link = link): Promise<[Peer, Peer]> {
    const known = target.peers.length;
    const near = await client(through);
    await eventually(() => expect(target.peers.length).to.equal(known + 1));
    return [near, target.peers.at(-1)!];
  }
  const receives = (peer: Peer, text: string) =>
    eventually(() => expect(peer.received()).to.equal(text));
  const becomes = (peer: Peer, state: string) =>
    eventually(() => expect(peer.state()).to.equal(state));
  /**
   * Uses and ends a connection past the link: what the link does not delay has arrived afterwards.
   */
  async function roundTrip(): Promise<void> {
    const [near, far] = await pair(clean);
    near.socket.end('there');
    await becomes(far, 'ended');
    far.socket.end('and back');
    await becomes(near, 'ended');
    target.peers.pop();
  }
  /** The bytes that the link has accepted once it accepts no more. */
  async function bytesWhenStill(): Promise<number> {
    let [before, looks] = [-1, 0];
    while (looks < 5) {
      looks = link.bytes().up === before ? looks + 1 : 0;
      before = link.bytes().up;
      await roundTrip();
    }
    return before;
  }

  describe('without rules', () => {
    it('passes on bytes both ways and counts them', async () => {
      const [near, far] = await pair();
      near.socket.write('a question');
      await receives(far, 'a question');
      far.socket.write('an answer');
      await receives(near, 'an answer');
      expect(link.bytes()).to.deep.equal({ up: 10, down: 9 });
      expect(link.connections()).to.equal(1);
    });

    it('passes on an end and keeps the other direction open', async () => {
      const [near, far] = await pair();
      near.socket.end('all I had');
      await becomes(far, 'ended');
      expect(near.state()).to.equal('open');
      far.socket.write('late');
      await receives(near, 'late');
      far.socket.end();
      await becomes(near, 'ended');
      await eventually(() => expect(link.connections()).to.equal(0));
    });

    it('passes on a reset from either side after the previous bytes', async () => {
      const [near, far] = await pair();
      near.socket.write('last words', () => near.socket.resetAndDestroy());
      await becomes(far, 'ECONNRESET');
      expect(far.received()).to.equal('last words');
      const [near2, far2] = await pair();
      far2.socket.resetAndDestroy();
      await becomes(near2, 'ECONNRESET');
      await eventually(() => expect(link.connections()).to.equal(0));
    });

    it('resets connections when the target does not listen', async () => {
      await target.close();
      await becomes(await client(), 'ECONNRESET');
      target = await startPeers();
    });

    it('applies backpressure when the receiver does not read, and loses nothing', async () => {
      const [near, far] = await pair();
      far.socket.pause();
      const totalBytes = 40 * MIB;
      near.socket.write(Buffer.alloc(totalBytes, 'x'));
      // The kernel buffers some MiB at each of the four sockets.
      await eventually(() => expect(link.bytes().up).to.be.at.least(4 * MIB));
      expect(await bytesWhenStill()).to.be.lessThan(totalBytes / 2);
      let arrived = 0;
      far.socket.removeAllListeners('data').on('data', chunk => {
        arrived += chunk.length;
      });
      far.socket.resume();
      await eventually(() => expect(arrived).to.equal(totalBytes));
    });
  });

  describe('that swallows bytes', () => {
    it('keeps bytes back and sockets open until it is healed', async () => {
      const [near, far] = await pair();
      link.swallow();
      near.socket.write('one ');
      far.socket.write('uno ');
      await eventually(() => expect(link.bytes()).to.deep.equal({ up: 4, down: 4 }));
      near.socket.write('two');
      await roundTrip();
      expect([near.received(), near.state(), far.received(), far.state()]).to.deep.equal([
        '',
        'open',
        '',
        'open',
      ]);
      link.heal();
      await receives(far, 'one two');
      await receives(near, 'uno ');
    });

    it('accepts connections that do not reach the target until it is healed', async () => {
      link.swallow();
      const near = await client();
      near.socket.write('hello?');
      await eventually(() => expect(link.bytes().up).to.equal(6));
      await roundTrip();
      expect(target.peers).to.deep.equal([]);
      link.heal();
      await eventually(() => expect(target.peers.length).to.equal(1));
      await receives(target.peers[0]!, 'hello?');
    });

    it('drops a connection that was closed before it reached the target', async () => {
      link.swallow();
      const [ended, reset] = [await client(), await client()];
      await eventually(() => expect(link.connections()).to.equal(2));
      ended.socket.end();
      reset.socket.resetAndDestroy();
      await eventually(() => expect(link.connections()).to.equal(0));
      link.heal();
      await roundTrip();
      expect(target.peers).to.deep.equal([]);
    });

    it('keeps ends and resets back as well', async () => {
      const [near, far] = await pair();
      const [near2, far2] = await pair();
      link.swallow();
      near.socket.end('bye');
      near2.socket.resetAndDestroy();
      await eventually(() => expect(link.bytes().up).to.equal(3));
      await roundTrip();
      expect([far.state(), far2.state()]).to.deep.equal(['open', 'open']);
      link.heal();
      await becomes(far, 'ended');
      await becomes(far2, 'ECONNRESET');
    });

    it('swallows one direction only, if requested', async () => {
      const [near, far] = await pair();
      link.swallow('down');
      near.socket.write('question');
      await receives(far, 'question');
      far.socket.write('answer');
      await eventually(() => expect(link.bytes().down).to.equal(6));
      await roundTrip();
      expect(near.received()).to.equal('');
      link.heal();
      await receives(near, 'answer');
    });

    it('applies backpressure instead of buffering everything, and loses nothing', async () => {
      const [near, far] = await pair();
      link.swallow();
      const sent = Buffer.alloc(12 * MIB, 'x');
      near.socket.write(sent);
      await eventually(() => expect(link.bytes().up).to.be.at.least(4 * MIB));
      expect(await bytesWhenStill()).to.be.lessThan(5 * MIB);
      link.heal();
      await eventually(() => expect(far.received().length).to.equal(sent.length));
    });

    it('keeps the bytes that a slow receiver has not read', async () => {
      const [near, far] = await pair();
      far.socket.pause();
      near.socket.write(Buffer.alloc(40 * MIB, 'x'));
      await eventually(() => expect(link.bytes().up).to.be.at.least(4 * MIB));
      const taken = await bytesWhenStill();
      link.swallow();
      far.socket.resume();
      await bytesWhenStill();
      expect(far.received().length).to.be.lessThan(taken - 2 * MIB);
      link.heal();
      await eventually(() => expect(far.received().length).to.equal(40 * MIB));
    });

    it('drops its bytes when it is cut before it is healed', async () => {
      const [near, far] = await pair();
      link.swallow();
      near.socket.write('lost');
      await eventually(() => expect(link.bytes().up).to.equal(4));
      link.cut();
      link.heal();
      await becomes(near, 'ECONNRESET');
      await becomes(far, 'ECONNRESET');
      expect(far.received()).to.equal('');
    });
  });

  it('resets open connections when it is cut, and accepts new ones', async () => {
    const [near, far] = await pair();
    link.cut();
    await becomes(near, 'ECONNRESET');
    await becomes(far, 'ECONNRESET');
    const [near2, far2] = await pair();
    near2.socket.write('again');
    await receives(far2, 'again');
  });

  it('can be cut while it passes on an end', async () => {
    const [near, far] = await pair();
    link.swallow();
    near.socket.end();
    await roundTrip();
    link.heal();
    link.cut();
    await eventually(() => expect(link.connections()).to.equal(0));
    expect(far.state()).not.to.equal('open');
  });

  it('resets open and new connections while it refuses, until it is healed', async () => {
    const [near, far] = await pair();
    link.refuse();
    await becomes(near, 'ECONNRESET');
    await becomes(far, 'ECONNRESET');
    await becomes(await client(), 'ECONNRESET');
    expect(target.peers.length).to.equal(1);
    link.heal();
    await pair();
  });

  describe('that delays bytes', () => {
    it('delivers bytes and the end later and in order', async () => {
      const [near, far] = await pair();
      link.delay(150, 'up');
      const sentMs = performance.now();
      near.socket.write('one ');
      await eventually(() => expect(link.bytes().up).to.equal(4));
      near.socket.end('two');
      await once(far.socket, 'data');
      expect(performance.now() - sentMs).to.be.at.least(150);
      await becomes(far, 'ended');
      expect(far.received()).to.equal('one two');
      far.socket.end('at once');
      await receives(near, 'at once');
    });

    it('delays new connections as well', async () => {
      link.delay(150);
      const startedMs = performance.now();
      await pair();
      expect(performance.now() - startedMs).to.be.at.least(150);
    });

    it('delivers delayed bytes at once when it is healed', async () => {
      const [near, far] = await pair();
      link.delay(3_600_000);
      near.socket.write('urgent');
      await eventually(() => expect(link.bytes().up).to.equal(6));
      await roundTrip();
      expect(far.received()).to.equal('');
      link.heal();
      await receives(far, 'urgent');
    });
  });

  it('closes all sockets when it is closed, even with delayed bytes', async () => {
    const [near, far] = await pair();
    link.delay(3_600_000);
    near.socket.write('never to arrive');
    await eventually(() => expect(link.bytes().up).to.equal(15));
    link.swallow();
    const late = await client();
    await eventually(() => expect(link.connections()).to.equal(2));
    await link.close();
    expect(link.connections()).to.equal(0);
    for (const peer of [near, far, late])
      await eventually(() => expect(peer.state()).not.to.equal('open'));
    expect(far.received()).to.equal('');
  });
});
