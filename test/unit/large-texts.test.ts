import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { inPieces, type MessageSocket, PIECE_CHARS, sendInPieces, setAside } from '../../api/render/large-texts.ts';

const LARGE = '<p class="a">é€😀</p>\n'.repeat(PIECE_CHARS / 5);

/** The texts of whole messages, and how many turns of the event loop had gone by at each write. */
function recorder() {
  const messages: string[] = [];
  const writtenIn: number[] = [];
  let [begun, turns, over] = ['', 0, false];
  const count = () => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const socket: MessageSocket = {
    readyState: 1,
    send(data: string, options: unknown) {
      writtenIn.push(turns);
      begun += data;
      if ((options as { fin?: boolean })?.fin === false) return;
      messages.push(begun);
      begun = '';
    },
  };
  // As the library does it: a frame is made and written in the turn in which it is sent.
  const client = { send: async (method: string, params?: object) => socket.send(JSON.stringify({ method, params }), () => {}) };
  const send = sendInPieces(client, socket);
  return {
    send,
    writtenIn,
    /** Resolves with them when there are so many. */
    whole: async (wanted: number) => {
      while (messages.length < wanted) await nextTurn();
      over = true;
      return messages.map(text => JSON.parse(text));
    },
  };
}

describe('the large texts of commands', () => {
  it('are set aside, and small ones are not', () => {
    const small = { frameId: 'F', html: 'x'.repeat(PIECE_CHARS), depth: 1 };
    expect(setAside(small)).to.deep.equal({ params: small, texts: [] });
    const { params, texts } = setAside({ ...small, html: LARGE });
    expect(texts).to.deep.equal([LARGE]);
    expect(JSON.stringify(params).length).to.be.below(200);
  });

  it('are the same JSON in pieces as at once, wherever they are cut', () => {
    for (let shift = 0; shift < 24; shift++) {
      const params = { before: 1, html: 'x'.repeat(shift) + LARGE, css: LARGE, after: '"\ud800' };
      const aside = setAside(params);
      const pieces = [...inPieces(JSON.stringify(aside.params), aside.texts)];
      expect(JSON.parse(pieces.join(''))).to.deep.equal(params);
      for (const piece of pieces) expect(piece.length).to.be.below(3 * PIECE_CHARS);
    }
  });

  it('are written one piece a turn, so that others have the event loop between them', async () => {
    const { send, writtenIn, whole } = recorder();
    void send('open', { html: LARGE });
    expect(await whole(1)).to.deep.equal([{ method: 'open', params: { html: LARGE } }]);
    expect(writtenIn.length).to.be.at.least(LARGE.length / PIECE_CHARS);
    expect(new Set(writtenIn).size).to.equal(writtenIn.length);
  });

  it('hold back what is sent while they are written, in its order, and what is sent alone goes at once', async () => {
    const { send, writtenIn, whole } = recorder();
    void send('zero', { html: 'small' });
    expect(writtenIn).to.have.length(1);
    void send('first', { html: LARGE });
    void send('second');
    void send('third', { html: LARGE });
    void send('fourth');
    const messages = await whole(5);
    expect(messages.map(({ method }) => method)).to.deep.equal(['zero', 'first', 'second', 'third', 'fourth']);
    await nextTurn();
    const before = writtenIn.length;
    void send('fifth');
    expect(writtenIn).to.have.length(before + 1);
  });
});
