// No log line, metric or error contains what a caller sends: renders of every kind and outcome at
// log level trace.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type Answer, httpCall } from '../support/http-call.ts';
import {
  type Deployment,
  type DeploymentAccount,
  linesWith,
  startDeployment,
} from './harness/deployment.ts';

/** A unique text. Letters only, so that it is the same in a URL, JSON and HTML. */
const mark = () =>
  `Mark${randomUUID().replace(/[^a-f]/g, '')}${randomUUID().replace(/[^a-f]/g, '')}`;

describe('the secrets of callers', function () {
  this.timeout(180_000);
  let deployment: Deployment;
  let account: DeploymentAccount;
  let server: ReturnType<typeof createServer>;
  let page: string;
  const marks = {
    html: mark(),
    query: mark(),
    path: mark(),
    fragment: mark(),
    header: mark(),
    cookie: mark(),
    username: mark(),
    password: mark(),
    css: mark(),
    javascript: mark(),
    selector: mark(),
    expression: mark(),
    title: mark(),
    template: mark(),
    field: mark(),
    key: mark(),
    body: mark(),
    name: mark(),
  };

  before(async () => {
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url!, 'http://page');
      if (pathname.startsWith('/locked'))
        return void response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
      if (pathname.startsWith('/gone')) return void response.writeHead(404).end('no');
      if (pathname.startsWith('/away'))
        return void response.writeHead(302, { Location: `http://10.0.0.1/?${marks.query}` }).end();
      if (pathname.startsWith('/cut')) return void response.destroy();
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<p>${marks.html}</p>`);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    page = `http://127.0.0.1:${port}`;
    const verbose = {
      PRESSROOM_LOG_LEVEL: 'trace',
      PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${port}`,
      PRESSROOM_RENDER_TIMEOUT: '3s',
    };
    deployment = await startDeployment({
      apis: 1,
      workers: 1,
      api: verbose,
      worker: { ...verbose, PRESSROOM_RENDER_TIMEOUT: '' },
    });
    account = await deployment.account();
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await deployment?.stop();
  });

  const address = (path: string) =>
    `${page}${path}/${marks.path}?token=${marks.query}#${marks.fragment}`;
  const everything = () => ({
    extra_http_headers: { 'X-Secret': marks.header },
    cookies: [{ name: 'secret', value: marks.cookie, domain: '127.0.0.1' }],
    auth: { username: marks.username, password: marks.password },
    css: `.${marks.css} { color: red }`,
    metadata: { title: marks.title },
    header: { html: marks.template, height: '20mm' },
  });

  const renders: [what: string, body: () => object, status: number][] = [
    [
      'a page with every option',
      () => ({ url: address('/'), ...everything(), javascript: `void '${marks.javascript}'` }),
      200,
    ],
    [
      'a document',
      () => ({
        html: `<p>${marks.html}</p>`,
        wait_for_expression: `'${marks.expression}'`,
        sandbox: true,
      }),
      200,
    ],
    ['a page with status 404', () => ({ url: address('/gone'), ...everything() }), 502],
    ['a wrong password', () => ({ url: address('/locked'), ...everything() }), 502],
    ['a page whose server closes the connection', () => ({ url: address('/cut') }), 502],
    ['a redirect to a private address', () => ({ url: address('/away') }), 422],
    [
      'an address that is not public',
      () => ({ url: `http://10.1.2.3/${marks.path}?token=${marks.query}` }),
      422,
    ],
    [
      'an unknown host',
      () => ({ url: `http://${marks.path.toLowerCase()}.invalid/?token=${marks.query}` }),
      502,
    ],
    [
      'a script that throws',
      () => ({ html: marks.html, javascript: `throw new Error('${marks.javascript}')` }),
      400,
    ],
    ['a script from a URL', () => ({ html: marks.html, javascript: address('/gone') }), 502],
    [
      'a stylesheet from a private address',
      () => ({ html: marks.html, css: `http://10.0.0.9/${marks.css}` }),
      422,
    ],
    [
      'a wait that never ends',
      () => ({ html: marks.html, wait_for_selector: `#${marks.selector}` }),
      502,
    ],
    [
      'an expression that is never true',
      () => ({ html: marks.html, wait_for_expression: `window.${marks.expression}` }),
      502,
    ],
    ['an unknown field', () => ({ html: marks.html, [marks.field]: marks.body }), 400],
    ['an invalid value', () => ({ html: marks.html, format: marks.body }), 400],
    [
      'a page with an error and console output',
      () => ({ html: `<script>console.error('${marks.html}'); throw '${marks.html}'</script>` }),
      200,
    ],
  ];
  /** Credentials, which not even an error sent to their caller contains. */
  const { header, cookie, username, password } = marks;

  it('are in no error, log or metric, whatever the outcome of a render', async () => {
    for (const [what, body, status] of renders) {
      const answer = await deployment.render(account, body());
      expect(answer.status, `${what}: ${answer.status === 200 ? 'a PDF' : answer.body}`).to.equal(
        status,
      );
      if (status !== 200)
        for (const secret of [account.key, header, cookie, username, password])
          expect(answer.body.toString()).to.not.include(secret);
    }

    const { port } = deployment.apis[0]!;
    const send = (path: string, headers: Record<string, string>, body: string): Promise<Answer> =>
      httpCall(port, 'POST', path, { 'Content-Type': 'application/json', ...headers }, body);
    const authorized = { Authorization: `Bearer ${account.key}` };
    await send('/v1/render', { Authorization: `Bearer pressroom_live_${marks.key}` }, '{}');
    await send('/v1/render', { Authorization: `${marks.key} ${account.key}` }, '{}');
    await send('/v1/render', authorized, `{"html": "${marks.body}`);
    await send(`/v1/nowhere?token=${marks.query}`, authorized, '{}');
    await send(
      '/v1/render',
      {
        ...authorized,
        'X-Request-Id': marks.name,
        'User-Agent': marks.name,
        Cookie: `a=${marks.cookie}`,
      },
      '{}',
    );
    await send('/v1/trial/render', {}, JSON.stringify({ html: marks.html, title: marks.title }));

    const processes = [...deployment.apis, ...deployment.workers].map(({ process }) => process);
    const secrets = [...Object.values(marks), account.key, marks.path.toLowerCase()];
    for (const { operationsPort, log } of processes) {
      expect(log.length, 'it logs').to.be.greaterThan(3);
      const text = (await httpCall(operationsPort, 'GET', '/metrics')).body.toString();
      expect(secrets.filter(secret => text.includes(secret))).to.deep.equal([]);
    }
    expect(linesWith(processes, secrets)).to.deep.equal([]);
  });
});
