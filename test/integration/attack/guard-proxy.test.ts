import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type EgressFixture, egressFixture, type Victim } from '../../support/egress-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type AttackVictim, startAttackVictim } from '../../support/pages/attack-victim.ts';

/** Reads until the guard closes the connection or has sent this many responses. */
async function received(socket: Socket, answers = Number.POSITIVE_INFINITY): Promise<string> {
  let text = '';
  try {
    for await (const chunk of socket) {
      text += chunk.toString('latin1');
      if (text.split('HTTP/1.1 ').length > answers && text.endsWith('the inside')) break;
    }
  } catch {
    // A reset ends the stream too.
  }
  return text;
}

describe('raw bytes on the port of an egress guard', () => {
  let fixture: EgressFixture;
  let open: Victim;
  let victim: AttackVictim;
  let seen: string[];

  beforeEach(async () => {
    fixture = await egressFixture();
    victim = await startAttackVictim();
    seen = [];
    open = await fixture.web((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host}`);
      request.resume().on('end', () => response.end('the inside'));
    });
  });
  afterEach(async () => {
    expect(victim.touched).to.deep.equal([]);
    await fixture.close();
    await victim.close();
  });

  /** Sends the text at once to a guard that allows one port of one address. */
  async function send(text: string, answers?: number) {
    const guard = await fixture.guard('intranet', [`127.0.0.1:${open.port}`], {
      ports: [80, 443, victim.port],
    });
    const socket = await fixture.raw(guard.port);
    socket.write(text, 'latin1');
    if (answers === undefined) socket.end();
    return { text: await received(socket, answers), reasons: guard.reasons() };
  }
  const site = () => `127.0.0.1:${open.port}`;
  const inside = () => `127.0.0.2:${victim.port}`;

  it('are detected by the victim if they reach it', async () => {
    for (const address of victim.addresses) {
      const socket = connect(victim.port, address);
      await once(socket, 'connect');
      socket.destroy();
    }
    const sender = createSocket('udp4');
    sender.send('x', victim.port, '127.0.0.1');
    await eventually(() => expect(victim.touched).to.have.length(victim.addresses.length + 1));
    sender.close();
    victim.touched.length = 0;
  });

  it('go to the host of the request line, not of the Host header', async () => {
    const { text } = await send(`GET http://${site()}/a HTTP/1.1\r\nHost: ${inside()}\r\n\r\n`, 1);
    expect(text).to.match(/^HTTP\/1.1 200 /);
    expect(seen).to.deep.equal([`GET /a ${site()}`]);
    const other = await send(`GET http://${inside()}/ HTTP/1.1\r\nHost: ${site()}\r\n\r\n`);
    expect(other).to.deep.equal({ text: '', reasons: [`${inside()} address`] });
  });

  it('are checked request by request on a kept connection', async () => {
    const { text, reasons } = await send(
      `GET http://${site()}/1 HTTP/1.1\r\nHost: a\r\n\r\nGET http://${inside()}/2 HTTP/1.1\r\nHost: ${site()}\r\n\r\nGET http://${site()}/3 HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(text.match(/the inside/g) ?? []).to.have.length.at.most(1);
    expect(reasons).to.deep.equal([`${inside()} address`]);
  });

  const SMUGGLED: [string, (hidden: string) => string][] = [
    [
      'a length and chunked encoding',
      hidden => `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'two Content-Length headers',
      hidden => `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    [
      'an unknown transfer encoding',
      hidden => `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'two transfer encodings',
      hidden => `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['a space before the colon', hidden => `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`],
    [
      'a folded header line',
      hidden => `X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${hidden}`,
    ],
    [
      'a bare line feed',
      hidden =>
        `X: a\nTransfer-Encoding: chunked\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['a negative length', hidden => `Content-Length: -1\r\n\r\n${hidden}`],
    [
      'a chunk longer than its size',
      hidden => `Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n${hidden}`,
    ],
    ['an upgrade', hidden => `Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n${hidden}`],
  ];
  for (const [what, fields] of SMUGGLED)
    it(`cannot smuggle a request for another host with ${what}`, async () => {
      const hidden = `GET http://${inside()}/hidden HTTP/1.1\r\nHost: ${inside()}\r\n\r\n`;
      await send(`POST http://${site()}/ HTTP/1.1\r\nHost: a\r\n${fields(hidden)}`);
      // Even the allowed site receives only what the guard parsed as a request.
      expect(seen.filter(line => /hidden/.test(line))).to.deep.equal([]);
      expect(seen.length).to.be.at.most(1);
    });

  it('cannot smuggle a request in the path', async () => {
    for (const path of [
      '/a\rGET /hidden',
      '/a\nGET',
      '/a GET',
      '/\0',
      '\\@127.0.0.2/',
      '@127.0.0.2/',
      ':80@127.0.0.2/',
      '#@127.0.0.2/',
    ])
      await send(`GET http://${site()}${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(
      seen.every(line => line.endsWith(` ${site()}`)),
      seen.join('|'),
    ).to.equal(true);
    expect(seen.filter(line => /GET.*GET/.test(line))).to.deep.equal([]);
  });

  it('open a tunnel only to the allowed address and port in CONNECT', async () => {
    for (const authority of [
      inside(),
      `localhost:${victim.port}`,
      `[::1]:${victim.port}`,
      `[::ffff:127.0.0.1]:${victim.port}`,
      `127.1:${victim.port}`,
      '127.0.0.1:22',
      '127.0.0.1:25',
      '127.0.0.1:6379',
      '127.0.0.1:9222',
      '93.184.216.34:25',
      '93.184.216.34:6379',
    ]) {
      const { text } = await send(
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${site()}\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
      );
      expect(text, authority).to.match(/^HTTP\/1.1 403 Forbidden\r\nContent-Length: 0\r\n/);
    }
    for (const authority of [
      `http://${inside()}/`,
      `${site()}@${inside()}`,
      `${site()},${inside()}`,
      `${site()}#${inside()}`,
      `127.0.0.1:${open.port}.${victim.port}`,
      `[${site()}]`,
      `[fe80::1%25lo]:${victim.port}`,
      `127.0.0.1:0${'0'.repeat(9)}80`,
      '',
    ]) {
      const { text } = await send(`CONNECT ${authority} HTTP/1.1\r\nHost: ${site()}\r\n\r\n`);
      expect(text, authority).to.not.match(/ 200 /);
    }
    expect(open.connections).to.equal(0);
  });

  it('reach no host after a rejected CONNECT on the same connection', async () => {
    const { text } = await send(
      `CONNECT ${inside()} HTTP/1.1\r\nHost: a\r\n\r\nGET http://${site()}/ HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(text.match(/HTTP\/1.1/g)).to.have.length(1);
    expect(seen).to.deep.equal([]);
  });

  it('are rejected unless they are HTTP/1.1', async () => {
    const frames = [
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x02\x00\x50',
      '\x04\x01\x00\x50\x7f\x00\x00\x02\x00',
      `PROXY TCP4 1.1.1.1 127.0.0.2 1 ${victim.port}\r\n\r\n`,
    ];
    for (const bytes of [
      ...frames,
      `GET ftp://${inside()}/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET //${inside()}/ HTTP/1.1\r\nHost: ${inside()}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${inside()}\r\n\r\n`,
      `GET http://${inside()}/ HTTP/0.9\r\n\r\n`,
    ])
      expect((await send(bytes)).text, JSON.stringify(bytes)).to.equal('');
  });
});
