// @proves GET /files/…
// A client that disconnects during the database query, before the response has started.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import { linkRoute } from '../../../api/console/downloads/link.ts';
import type { PdfStore } from '../../../api/console/downloads/pdf-store.ts';
import { LINK_PATH } from '../../../api/http/access-log.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import type { State } from '../../../api/http/state.ts';
import type { StoredPdfDocument } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { httpCall } from '../../support/http-call.ts';

describe('a download link whose client disconnects early', () => {
  it('releases its memory', async () => {
    const queried = Promise.withResolvers<void>();
    const disconnected = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const metadata = { account: 'one' } as StoredPdfDocument['metadata'];
    const found = { _id: 'x', length: 1, filename: 'a.pdf', metadata } as StoredPdfDocument;
    const pdfs: Pick<PdfStore, 'byToken' | 'read'> = {
      byToken: async () => {
        queried.resolve();
        await disconnected.promise;
        return found;
      },
      read: async function* () {
        yield Buffer.alloc(1);
      },
    };
    const budget = createByteBudget(2 ** 30);
    const { path, handle } = linkRoute({ pdfs: pdfs as PdfStore, budget, log: silentLog });
    const router = new Router<State>();
    router.register(path, ['get'], handle);
    const app = new Koa<State>();
    app.use((ctx, next) => {
      ctx.res.once('close', disconnected.resolve);
      return next()
        .catch(() => {})
        .finally(ended.resolve);
    });
    const server = createServer(app.use(router.routes()).callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const call = httpCall((server.address() as AddressInfo).port, 'GET', `${LINK_PATH}/some`);
    call.catch(() => {});
    await queried.promise;
    call.disconnect();
    await ended.promise;
    expect(budget.used()).to.equal(0);
    await new Promise(resolve => server.close(resolve));
  });
});
