import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { groupOf, listeners } from '../../support/listeners.ts';
import { evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

describe('a page that scans its own machine', () => {
  const lines: string[] = [];
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker(
      {},
      pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    );
    await worker.until({ ready: 2 });
  });
  after(() => worker.stop());

  it('reaches no local port, such as DevTools, the gateway or the operations port', async () => {
    let connections = 0;
    const victim = createServer(socket => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>(resolve => victim.listen(0, resolve));
    const ports = [
      80,
      8080,
      9090,
      9222,
      9229,
      worker.worker.port(),
      (victim.address() as AddressInfo).port,
    ];
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0.0.0.0',
      '127.1',
      '[::ffff:127.0.0.1]',
      '0x7f000001',
      'a.localhost',
    ];
    const expression = `Promise.all(${JSON.stringify(hosts)}.flatMap(host => ${JSON.stringify(ports)}.flatMap(port => [
      fetch('http://' + host + ':' + port + '/json/version', { mode: 'no-cors' }).then(({ type }) => host + port + type, () => 'refused'),
      new Promise(resolve => {
        const socket = new WebSocket('ws://' + host + ':' + port + '/v1/status');
        socket.onopen = () => resolve(host + port + 'open');
        socket.onerror = () => resolve('refused');
      }),
    ])))`;
    const session = await worker.open();
    const outcomes = (await evaluate(session, expression)) as string[];
    expect(outcomes).to.deep.equal(Array(2 * ports.length * hosts.length).fill('refused'));
    expect(connections).to.equal(0);
    expect(lines.filter(line => line.includes('rejected a connection'))).to.deep.equal([]);
    session.close();
    await new Promise(resolve => victim.close(resolve));
  });

  it('finds no listening port of Chrome', async () => {
    const { pid } = worker.worker.chromes()[0]!;
    expect(listeners([process.pid]).length, 'the gateway listens').to.be.greaterThan(0);
    const chromes = groupOf(pid);
    expect(chromes.length, 'Chrome’s processes').to.be.greaterThan(2);
    expect(chromes).to.not.include(process.pid);
    expect(listeners(chromes)).to.deep.equal([]);
  });
});
