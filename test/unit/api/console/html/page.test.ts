import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { field, form, pageHtml, sendPage } from '../../../../../api/console/html/page.ts';
import { pageRoutes } from '../../../../../api/console/html/page-route.ts';
import type { Context } from '../../../../../api/http/state.ts';
import { DatabaseTimeout } from '../../../../../api/store/store.ts';
import { ApiError } from '../../../../../common/contract/errors.ts';
import { markup } from '../../../../../common/contract/markup.ts';
import { silentLog } from '../../../../../common/log.ts';

const between = (html: string, tag: string) =>
  new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)![1]!;
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('a server-rendered page', () => {
  it('allows exactly its own style and script', () => {
    const headers: Record<string, string> = {};
    const set = (name: string, value: string) => void Object.assign(headers, { [name]: value });
    const ctx = { path: '/app/sign-in', query: {}, set } as unknown as Context;
    sendPage(ctx, { title: 'A page', body: markup`` });
    const html = String(ctx.body);
    expect(headers['Content-Security-Policy']).to.include(
      `style-src ${hash(between(html, 'style'))};`,
    );
    expect(headers['Content-Security-Policy']).to.include(
      `script-src ${hash(between(html, 'script'))};`,
    );
  });

  it('isolates its opener except in the consent flow', () => {
    const opener = (path: string, next?: string) => {
      const headers: Record<string, string> = {};
      const set = (name: string, value: string) => void Object.assign(headers, { [name]: value });
      sendPage({ path, query: { next }, set } as unknown as Context, {
        title: 'A page',
        body: markup``,
      });
      return headers['Cross-Origin-Opener-Policy'];
    };
    for (const [path, next] of [
      ['/app/sign-in'],
      ['/app/sign-in', '/app/keys'],
      ['/app/sign-in', '/app/allow/../keys'],
      ['/app/sign-in', 'https://evil.example/app/allow/x'],
      ['/app/sign-in', '/app/allowed'],
      ['/app/setup'],
    ] as const)
      expect(opener(path, next), `${path} ${next}`).to.equal('same-origin');
    for (const [path, next] of [
      ['/app/sign-in', '/app/allow/x'],
      ['/app/sign-in/code', '/app/allow/x'],
      ['/app/sign-in/company', '/app/allow/x'],
      ['/app/allow/x'],
      ['/oauth/authorize'],
      ['/oauth/authorize/x'],
    ] as const)
      expect(opener(path, next), `${path} ${next}`).to.equal(undefined);
  });

  it('has no style attributes and no event handlers', () => {
    const html = pageHtml({
      title: 'A page',
      error: 'wrong',
      body: form('/app/x', [field({ name: 'a', label: 'A', autocomplete: 'off' })], 'Go'),
    });
    expect(html.replace(/<script>[\s\S]*<\/script>/, '')).not.to.match(/ style=| on\w+=/);
  });

  it('escapes title and error', () => {
    const html = pageHtml({ title: '<b>', error: '</p><script>alert(1)</script>', body: markup`` });
    expect(html)
      .to.include('&lt;b&gt;')
      .and.include('&lt;script&gt;')
      .and.not.include('<script>alert');
  });

  it('links a field to its label, hint and error', () => {
    const { text } = field({
      name: 'email',
      label: 'Email',
      type: 'email',
      autocomplete: 'username',
      value: 'a"b',
      hint: 'A hint.',
      error: 'Wrong.',
      focus: true,
      maxLength: 9,
    });
    expect(text).to.include('<label for="email">Email</label>');
    expect(text).to.include(
      '<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" value="a&quot;b" maxlength="9" aria-describedby="email-hint email-error" aria-invalid="true" required autofocus>',
    );
    expect(text)
      .to.include('<p class="hint" id="email-hint">A hint.</p>')
      .and.include('<p class="wrong" id="email-error">Wrong.</p>');
  });
});

describe('an error of a page', () => {
  /** The answer to a handler that throws. */
  async function answer(error: Error, method = 'GET', complete = true) {
    const headers: Record<string, string> = {};
    const ctx = {
      method,
      path: '/app/x',
      query: {},
      req: { complete },
      state: { requestId: '01a2' },
      get: (name: string) => (name === 'Sec-Fetch-Site' ? 'same-origin' : ''),
      set: (name: string | Record<string, string>, value?: string) =>
        Object.assign(headers, typeof name === 'string' ? { [name]: value } : name),
    } as unknown as Context;
    const route = pageRoutes({ publicUrl: 'http://localhost', log: silentLog });
    const { handle } = route('get', '/app/x', () => {
      throw error;
    });
    const run = (at: number): Promise<unknown> =>
      Promise.resolve(handle[at]!(ctx, () => run(at + 1)));
    await run(0);
    return { status: ctx.status, body: String(ctx.body), headers, code: ctx.state.code };
  }

  it('is shown as a page with its status and headers', async () => {
    const error = new ApiError('conflict', 'There is <one> already.', {
      headers: { 'X-Thing': '1' },
    });
    const { status, body, headers, code } = await answer(error);
    expect([status, code, headers['X-Thing']]).to.deep.equal([409, 'conflict', '1']);
    expect(body).to.include('There is &lt;one&gt; already.').and.include('Request ID: 01a2');
  });

  it('hides the details of an unexpected error', async () => {
    const { status, body } = await answer(new Error('secret inside'));
    expect(status).to.equal(500);
    expect(body).to.include('An internal error occurred').and.not.include('secret inside');
  });

  it('is 503 when the database is unavailable', async () => {
    const { status, headers } = await answer(new DatabaseTimeout(5_000));
    expect([status, headers['Retry-After']]).to.deep.equal([503, '5']);
  });

  it('is left to the application while the body is unread', async () => {
    const error = new ApiError('payload_too_large', 'too large');
    expect(await answer(error, 'POST', false).catch(thrown => thrown)).to.equal(error);
    expect((await answer(error, 'POST', true)).status).to.equal(400);
  });
});
