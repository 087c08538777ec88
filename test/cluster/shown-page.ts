// Checks that the API in an image serves the dashboard.
import { expect } from 'chai';
import { createSessions } from '../../api/console/auth/sessions.ts';
import type { Store } from '../../api/store/store.ts';
import { httpCall } from '../support/http-call.ts';

/** Loads the dashboard as a signed-in user, and checks compression and caching of its assets. */
export async function showsItsPage(port: number, store: Store): Promise<void> {
  await store.console.users.insertOne({
    _id: 'ada',
    email: 'a@b.example',
    name: 'Ada',
    operator: true,
    identities: [],
    createdAt: new Date(),
  });
  const { token } = await createSessions(store).open({
    user: 'ada',
    method: 'password',
    ip: '127.0.0.1',
    userAgent: 'a test',
  });
  const page = await httpCall(port, 'GET', '/app', { cookie: `__Host-pressroom-session=${token}` });
  expect(page.status, String(page.body)).to.equal(200);
  const [script] = /\/app\/assets\/[\w-]+\.js/.exec(String(page.body))!;
  const { status, headers } = await httpCall(port, 'GET', script, { 'accept-encoding': 'br' });
  expect(status).to.equal(200);
  expect(headers).to.include({
    'content-encoding': 'br',
    'cache-control': 'public, max-age=31536000, immutable',
  });
}
