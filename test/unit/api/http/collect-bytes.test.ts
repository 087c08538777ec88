import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { collectBytes, receiveBytes } from '../../../../api/http/collect-bytes.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';

const memoryBytes = () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const KIB = 1_024;
const LIMITS = {
  maxBytes: 1_000 * KIB,
  tooLarge: () => new Error('too large'),
  total: { ms: 5_000, late: () => new Error('late') },
};

describe('the body of a request', () => {
  let request: EventEmitter;
  let reserved: number[];
  const collect = (declared?: number, bounds: Partial<Parameters<typeof collectBytes>[1]> = {}) => {
    reserved = [];
    request = Object.assign(new EventEmitter(), {
      headers: declared === undefined ? {} : { 'content-length': String(declared) },
      pause: () => {},
    });
    const reserve = (bytes: number) => {
      reserved.push(bytes / KIB);
      return undefined;
    };
    return collectBytes(request as IncomingMessage, { ...LIMITS, reserve, ...bounds });
  };
  const send = (...pieces: Buffer[]) => {
    for (const piece of pieces) request.emit('data', piece);
  };

  it('is reserved in steps that grow with the received bytes', async () => {
    const whole = collect();
    send(Buffer.alloc(1));
    expect(reserved).to.deep.equal([4]);
    send(Buffer.alloc(4 * KIB - 1), Buffer.alloc(100 * KIB));
    expect(reserved).to.deep.equal([4, 4, 8, 16, 32, 64]);
    request.emit('end');
    expect(await whole).to.have.length(104 * KIB);
  });

  it('is never reserved beyond its declared length', async () => {
    const whole = collect(3 * KIB);
    send(Buffer.alloc(KIB, 'a'), Buffer.alloc(2 * KIB, 'b'));
    request.emit('end');
    expect((await whole).toString()).to.equal('a'.repeat(KIB) + 'b'.repeat(2 * KIB));
    expect(reserved).to.deep.equal([3]);
  });

  it('holds no object for each chunk, however small the chunks are', async () => {
    const whole = collect();
    const beforeBytes = memoryBytes();
    for (let index = 0; index < 300_000; index++)
      send(Buffer.allocUnsafeSlow(1).fill(48 + (index % 10)));
    expect((memoryBytes() - beforeBytes) / 2 ** 20, 'MiB').to.be.lessThan(10);
    request.emit('end');
    expect((await whole).subarray(0, 12).toString()).to.equal('012345678901');
  });

  it('fails at the first block that cannot be reserved', async () => {
    let blocks = 0;
    const whole = collect(undefined, {
      reserve: () => (++blocks > 2 ? new Error('over budget') : undefined),
    });
    const failed = whole.catch((error: Error) => error.message);
    send(Buffer.alloc(100 * KIB));
    expect(await failed).to.equal('over budget');
    expect(blocks).to.equal(3);
  });

  for (const bound of ['silent', 'slow', 'total'] as const)
    it(`is read and not rejected as ${bound} when this process itself was frozen`, async () => {
      const [ms, late] = [50, () => new Error('late')];
      const bounds = {
        silent: { ms, late },
        slow: { graceMs: ms, bytesPerS: 1, late },
        total: { ms, late },
      };
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
      client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${KIB}\r\n\r\n`);
      const [request] = (await once(server, 'request')) as [IncomingMessage];
      const whole = collectBytes(request, { ...LIMITS, [bound]: bounds[bound] });
      client.write(Buffer.alloc(KIB));
      const untilMs = performance.now() + 2 * ms;
      while (performance.now() < untilMs);
      try {
        expect(await whole).to.have.length(KIB);
      } finally {
        client.destroy();
        server.close();
      }
    });

  it('fails when no data arrives, also with a timer that fires early', async () => {
    // A timer counts whole milliseconds: while the event loop turns it can fire some tenths of one
    // early.
    let turns = true;
    const turn = () => void (turns && setImmediate(turn));
    turn();
    const silent = { ms: 3, late: () => new Error('silent') };
    for (let round = 0; round < 50; round++)
      expect(await collect(undefined, { silent }).catch((error: Error) => error.message)).to.equal(
        'silent',
      );
    turns = false;
  });

  it('fails beyond the limit', async () => {
    const failed = collect(undefined, { maxBytes: 5 }).catch((error: Error) => error.message);
    send(Buffer.alloc(6));
    expect(await failed).to.equal('too large');
    expect(reserved).to.deep.equal([]);
  });

  describe('that is taken piece by piece', () => {
    let steps: string[];
    const receive = (
      take: Parameters<typeof receiveBytes>[2],
      bounds: Partial<Parameters<typeof receiveBytes>[1]> = {},
    ) => {
      steps = [];
      request = Object.assign(new EventEmitter(), {
        pause: () => steps.push('pause'),
        resume: () => steps.push('resume'),
      });
      return receiveBytes(request as IncomingMessage, { ...LIMITS, ...bounds }, take);
    };

    it('waits while a piece is taken, and does not count that as silence', async () => {
      const taken = Promise.withResolvers<void>();
      const silent = { ms: 30, late: () => new Error('silent') };
      const whole = receive(() => taken.promise, { silent });
      send(Buffer.alloc(1));
      expect(steps).to.deep.equal(['pause']);
      await new Promise(resolve => setTimeout(resolve, 100));
      taken.resolve();
      await taken.promise;
      await Promise.resolve();
      expect(steps).to.deep.equal(['pause', 'resume']);
      request.emit('end');
      await whole;
    });

    it('ends after its last piece is taken', async () => {
      const taken = Promise.withResolvers<void>();
      let hasEnded = false;
      const whole = receive(() => taken.promise).then(() => {
        hasEnded = true;
      });
      send(Buffer.alloc(1));
      for (const event of ['end', 'close']) request.emit(event);
      await new Promise(resolve => setTimeout(resolve, 10));
      expect(hasEnded).to.equal(false);
      taken.resolve();
      await whole;
    });

    it('fails with the error of a piece, and stays paused', async () => {
      const failed = receive(async () => {
        throw new Error('not valid');
      }).catch((error: Error) => error.message);
      send(Buffer.alloc(1));
      expect(await failed).to.equal('not valid');
      expect(steps).to.deep.equal(['pause', 'pause']);
      expect(request.listenerCount('data')).to.equal(0);
    });

    it('fails after its last piece is taken when the client disconnects', async () => {
      const taken = Promise.withResolvers<void>();
      let hasFailed = false;
      const failed = receive(() => taken.promise).catch((error: Error) => {
        hasFailed = true;
        return error.name;
      });
      send(Buffer.alloc(1));
      request.emit('close');
      await new Promise(resolve => setTimeout(resolve, 10));
      expect(hasFailed).to.equal(false);
      taken.resolve();
      expect(await failed).to.equal('ClientClosed');
      expect(steps).not.to.include('resume');
    });

    it('is not slow while a piece is taken', async () => {
      const slow = { graceMs: 20, bytesPerS: 1_000, late: () => new Error('slow') };
      const take = () => new Promise<void>(resolve => setTimeout(resolve, 100));
      const whole = receive(take, { slow });
      send(Buffer.alloc(1_000));
      request.emit('end');
      await whole;
    });
  });
});
