// An answer that is sent piece by piece: what a reader must take at a time is small, however large
// the pieces are.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { sendPieces } from '../../../../api/http/send-pieces.ts';
import { httpCall } from '../../../support/http-call.ts';

describe('a response in pieces', () => {
  it('sends a slow reader a quarter of a MiB at a time, and loses nothing', async () => {
    const pieces = [randomBytes(3 * 2 ** 20 + 1), randomBytes(1), randomBytes(256 * 1_024)];
    const sizes: number[] = [];
    const server = createServer(async (_request, response) => {
      const { write } = response;
      response.write = ((piece: Buffer) => {
        sizes.push(piece.length);
        return write.call(response, piece, 'utf8');
      }) as typeof write;
      await sendPieces(
        response,
        (async function* () {
          yield* pieces;
        })(),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { body } = await httpCall((server.address() as AddressInfo).port, 'GET', '/');
    expect(body.equals(Buffer.concat(pieces))).to.equal(true);
    expect(Math.max(...sizes)).to.equal(256 * 1_024);
    await new Promise(resolve => server.close(resolve));
  });
});
