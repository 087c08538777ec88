import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { HttpApi, RequestError } from '../../../cli/http-api.ts';

const HOSTILE = '\u001b[2J\u009b31mred\r\n\u007f';
const CLEAN = ' [2J 31mred   ';

describe('requests of commands', () => {
  let server: Server;
  let api: HttpApi;

  before(async () => {
    const error = { code: HOSTILE, message: HOSTILE, request_id: HOSTILE };
    server = createServer(({ url }, response) => {
      const isError = url === '/error';
      const items = [{ reference: HOSTILE, pages: 2 }];
      response.statusCode = isError ? 400 : 200;
      response.end(JSON.stringify(isError ? { error } : { items }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    api = new HttpApi({ key: 'key', server: `http://127.0.0.1:${port}` });
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  it('return errors of the server without control characters', async () => {
    const reason = await api.request('/error').catch(error => error);
    expect(reason).to.be.instanceOf(RequestError);
    expect(reason.message).to.equal(`${CLEAN} (${CLEAN}, request ${CLEAN})`);
  });

  it('return fields of the server without control characters', async () => {
    const { body } = await api.json('/list');
    expect(body).to.deep.equal({ items: [{ reference: CLEAN, pages: 2 }] });
  });
});
