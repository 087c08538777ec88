import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Link, openLink } from './harness/link.ts';
import { connectPeer, type Peer, startPeers } from './harness/peer.ts';

const MIB = 1024 * 1024;

describe('a link between two processes', () => {
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
   * A connection has been made, used both ways and ended past the link: what the link did not hold
   * back has arrived by then.
   */
  async function meanwhile(): Promise<void> {
    const [near, far] = await pair(clean);
    near.socket.end('there');
    await becomes(far, 'ended');
    far.socket.end('and back');
    await becomes(near, 'ended');
    target.peers.pop();
  }
  /** What the link has taken once it takes no more. */
  async function bytesWhenStill(): Promise<number> {
    let [before, looks] = [-1, 0];
    while (looks < 5) {
      looks = link.bytes().up === before ? looks + 1 : 0;
      before = link.bytes().up;
      await meanwhile();
    }
    return before;
  }

  describe('that behaves', () => {
    it('passes on bytes both ways and counts them', async () => {
      const [near, far] = await pair();
      near.socket.write('a question');
      await receives(far, 'a question');
      far.socket.write('an answer');
      await receives(near, 'an answer');
      expect(link.bytes()).to.deep.equal({ up: 10, down: 9 });
      expect(link.connections()).to.equal(1);
    });

    it('passes on an end and lets the other side speak on', async () => {
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

    it('passes on a reset, from either side, after the bytes before it', async () => {
      const [near, far] = await pair();
      near.socket.write('last words', () => near.socket.resetAndDestroy());
      await becomes(far, 'ECONNRESET');
      expect(far.received()).to.equal('last words');
      const [near2, far2] = await pair();
      far2.socket.resetAndDestroy();
      await becomes(near2, 'ECONNRESET');
      await eventually(() => expect(link.connections()).to.equal(0));
    });

    it('resets who connects when the target does not listen', async () => {
      await target.close();
      await becomes(await client(), 'ECONNRESET');
      target = await startPeers();
    });

    it('stops a sender whose receiver does not read, and loses nothing', async () => {
      const [near, far] = await pair();
      far.socket.pause();
      const totalBytes = 40 * MIB;
      near.socket.write(Buffer.alloc(totalBytes, 'x'));
      // Kernels hold some MiB at each of the four sockets on the way.
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

  describe('that swallows', () => {
    it('keeps bytes from arriving and sockets open, until it heals', async () => {
      const [near, far] = await pair();
      link.swallow();
      near.socket.write('one ');
      far.socket.write('uno ');
      await eventually(() => expect(link.bytes()).to.deep.equal({ up: 4, down: 4 }));
      near.socket.write('two');
      await meanwhile();
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

    it('accepts connections that reach nobody until it heals', async () => {
      link.swallow();
      const near = await client();
      near.socket.write('hello?');
      await eventually(() => expect(link.bytes().up).to.equal(6));
      await meanwhile();
      expect(target.peers).to.deep.equal([]);
      link.heal();
      await eventually(() => expect(target.peers.length).to.equal(1));
      await receives(target.peers[0]!, 'hello?');
    });

    it('forgets a connection that was given up before it reached the target', async () => {
      link.swallow();
      const [ended, reset] = [await client(), await client()];
      await eventually(() => expect(link.connections()).to.equal(2));
      ended.socket.end();
      reset.socket.resetAndDestroy();
      await eventually(() => expect(link.connections()).to.equal(0));
      link.heal();
      await meanwhile();
      expect(target.peers).to.deep.equal([]);
    });

    it('holds ends and resets back as well', async () => {
      const [near, far] = await pair();
      const [near2, far2] = await pair();
      link.swallow();
      near.socket.end('bye');
      near2.socket.resetAndDestroy();
      await eventually(() => expect(link.bytes().up).to.equal(3));
      await meanwhile();
      expect([far.state(), far2.state()]).to.deep.equal(['open', 'open']);
      link.heal();
      await becomes(far, 'ended');
      await becomes(far2, 'ECONNRESET');
    });

    it('does so in one direction only when asked', async () => {
      const [near, far] = await pair();
      link.swallow('down');
      near.socket.write('question');
      await receives(far, 'question');
      far.socket.write('answer');
      await eventually(() => expect(link.bytes().down).to.equal(6));
      await meanwhile();
      expect(near.received()).to.equal('');
      link.heal();
      await receives(near, 'answer');
    });

    it('blocks a sender in the end instead of holding all it has, and loses nothing', async () => {
      const [near, far] = await pair();
      link.swallow();
      const sent = Buffer.alloc(12 * MIB, 'x');
      near.socket.write(sent);
      await eventually(() => expect(link.bytes().up).to.be.at.least(4 * MIB));
      expect(await bytesWhenStill()).to.be.lessThan(5 * MIB);
      link.heal();
      await eventually(() => expect(far.received().length).to.equal(sent.length));
    });

    it('keeps what a slow receiver had left with it', async () => {
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

    it('gives up what it holds when it is cut before it heals', async () => {
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

  it('resets what is open when it is cut, and serves who connects afterwards', async () => {
    const [near, far] = await pair();
    link.cut();
    await becomes(near, 'ECONNRESET');
    await becomes(far, 'ECONNRESET');
    const [near2, far2] = await pair();
    near2.socket.write('again');
    await receives(far2, 'again');
  });

  it('is cut also while it passes on an end', async () => {
    const [near, far] = await pair();
    link.swallow();
    near.socket.end();
    await meanwhile();
    link.heal();
    link.cut();
    await eventually(() => expect(link.connections()).to.equal(0));
    expect(far.state()).not.to.equal('open');
  });

  it('refuses those who are there and those who come, until it heals', async () => {
    const [near, far] = await pair();
    link.refuse();
    await becomes(near, 'ECONNRESET');
    await becomes(far, 'ECONNRESET');
    await becomes(await client(), 'ECONNRESET');
    expect(target.peers.length).to.equal(1);
    link.heal();
    await pair();
  });

  describe('that delays', () => {
    it('delivers everything later, in order, the end too', async () => {
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

    it('lets a connection reach the target as late as its bytes', async () => {
      link.delay(150);
      const startedMs = performance.now();
      await pair();
      expect(performance.now() - startedMs).to.be.at.least(150);
    });

    it('delivers at once what waits when it heals', async () => {
      const [near, far] = await pair();
      link.delay(3_600_000);
      near.socket.write('urgent');
      await eventually(() => expect(link.bytes().up).to.equal(6));
      await meanwhile();
      expect(far.received()).to.equal('');
      link.heal();
      await receives(far, 'urgent');
    });
  });

  it('closes all sockets when it is closed, whatever it holds and waits for', async () => {
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
