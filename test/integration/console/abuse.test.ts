// @proves console-unknown-fields, mongodb-operators, console-bodies, display-names

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { nameOf, pathWith, SAMPLES } from '../../support/console/console-rows.ts';
import { changesNothing, type PreparedCall, preparedCall } from '../../support/prepared-call.ts';

const WITH_BODY = Object.entries(SAMPLES).flatMap(([name, { body }]) => (body ? [name] : []));
const WITH_PARAMS = Object.keys(SAMPLES).filter(name => name.includes(':'));
const READING = Object.keys(SAMPLES).filter(name => name.startsWith('GET'));

describe('a malicious request to the management API', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  after(() => fixture.stop());

  const prepared = (name: string) => preparedCall(fixture, name);
  const unchanged = (call: PreparedCall, act: () => Promise<void>) =>
    changesNothing(fixture, call, act);

  describe('with unknown fields', () => {
    for (const name of WITH_BODY)
      it(`is rejected naming the fields: ${name}`, async () => {
        const call = await prepared(name);
        await unchanged(call, async () => {
          for (const field of [
            'superuser',
            '_id',
            '$set',
            'members.0.role',
            'constructor',
            '__proto__',
          ]) {
            const body = JSON.parse(
              `{${JSON.stringify(field)}: "owner", ${JSON.stringify(call.body).slice(1)}`,
            );
            const answer = await call.caller.call(call.method, call.path, body);
            expect([answer.status, answer.error().code], field).to.deep.equal([
              400,
              'validation_error',
            ]);
            expect(answer.error().message).to.include(`\`${field}\``);
          }
        });
      });

    it('is rejected with the control characters of their names replaced', async () => {
      const { caller, path } = await prepared('PATCH /accounts/:account');
      const answer = await caller.call('PATCH', path, { name: 'x', 'a\u0007\u202eb': 1 });
      expect(answer.error().message).to.equal('`a\ufffd\ufffdb` is not a valid field.');
    });
  });

  describe('with a MongoDB operator', () => {
    for (const name of WITH_BODY)
      it(`in place of a value is rejected: ${name}`, async () => {
        const call = await prepared(name);
        await unchanged(call, async () => {
          for (const field of Object.keys(call.body as object))
            for (const value of [{ $gt: '' }, { $ne: null }, [{ $gt: '' }], null, 7]) {
              const answer = await call.caller.call(call.method, call.path, {
                ...(call.body as object),
                [field]: value,
              });
              expect([answer.status, answer.error().code], field).to.deep.equal([
                400,
                'validation_error',
              ]);
              expect(answer.error().message, field).to.include(field);
            }
        });
      });

    for (const name of WITH_PARAMS)
      it(`in place of an id finds nothing: ${name}`, async () => {
        const call = await prepared(name);
        const names = [...call.row.path.matchAll(/:(\w+)/g)].map(match => match[1]!);
        await unchanged(call, async () => {
          for (const param of names)
            for (const id of [
              '{"$gt":""}',
              '[$ne]',
              '$where',
              '__proto__',
              '\0',
              '../../me',
              'x'.repeat(3_000),
            ]) {
              const answer = await call.caller.call(
                call.method,
                pathWith(call.row, { ...call.ids, [param]: id }),
                call.body,
              );
              expect(
                [answer.status, answer.error().code],
                `${param} ${id.slice(0, 20)}`,
              ).to.deep.equal([404, 'not_found']);
            }
        });
      });

    it('in the query is rejected naming the parameter', async () => {
      for (const name of READING) {
        const { caller, path } = await prepared(name);
        for (const [query, field] of [
          ['cursor[$ne]=1', 'cursor[$ne]'],
          ['limit[$gt]=1', 'limit[$gt]'],
          ['__proto__[operator]=1', '__proto__[operator]'],
          ['__proto__=1', '__proto__'],
          ['$where=1', '$where'],
        ]) {
          const answer = await caller.call('GET', `${path}?${query}`);
          expect([answer.status, answer.error().code], `${name} ${query}`).to.deep.equal([
            400,
            'validation_error',
          ]);
          expect(answer.error().message).to.equal(`\`${field}\` is not a valid parameter.`);
        }
      }
    });

    it('cannot be built by repeating a query parameter', async () => {
      const { caller, path } = await prepared('GET /accounts/:account/audit');
      for (const field of ['cursor', 'limit']) {
        const answer = await caller.call('GET', `${path}?${field}=1&${field}=2`);
        expect(answer.status).to.equal(400);
        expect(answer.error().message).to.include(`\`${field}\` must be`);
      }
    });

    it('in the cookie opens no session', async () => {
      const token = (await fixture.createUser()).cookie.split('=')[1]!;
      for (const value of [
        '{"$gt":""}',
        'x',
        '',
        `${token}x`,
        token.toLowerCase(),
        encodeURIComponent('{"$ne":null}'),
      ]) {
        const answer = await fixture.call('GET', '/console/v1/me', {
          cookie: `__Host-pressroom-session=${value}`,
        });
        expect([answer.status, answer.error().code]).to.deep.equal([401, 'unauthorized']);
      }
    });
  });

  describe('with a body', () => {
    it('that is too large is rejected before it is read', async () => {
      for (const name of WITH_BODY) {
        const call = await prepared(name);
        if (call.row.bodyMaxBytes !== undefined) continue;
        await unchanged(call, async () => {
          const answer = await call.caller.call(call.method, call.path, {
            ...(call.body as object),
            name: 'x'.repeat(65_536),
          });
          expect([answer.status, answer.error().code], name).to.deep.equal([
            400,
            'payload_too_large',
          ]);
        });
      }
    });

    it('that is missing gets an error that does not mention html', async () => {
      const { caller, path } = await prepared('PATCH /accounts/:account');
      expect((await caller.call('PATCH', path)).error().message).to.equal(
        'The request body is missing. Send a JSON object.',
      );
    });

    it('that is not a JSON object is rejected', async () => {
      for (const name of WITH_BODY) {
        const call = await prepared(name);
        await unchanged(call, async () => {
          for (const text of [
            '[]',
            '"x"',
            'null',
            '1',
            '{',
            '',
            '['.repeat(20_000),
            '{"a":1,"a"',
            '\ufeff',
          ])
            expect(await raw(call, text), `${name} ${text.slice(0, 10)}`).to.deep.equal([
              400,
              'validation_error',
            ]);
        });
      }
    });

    async function raw({ caller, method, path }: PreparedCall, text: string) {
      const headers = {
        cookie: caller.cookie,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      };
      const answer = await fixture.call(method, path, headers, text);
      return [answer.status, answer.error().code];
    }
  });

  describe('with a name', () => {
    const rename = async (name: string) => {
      const call = await prepared('PATCH /accounts/:account');
      return { call, answer: await call.caller.call('PATCH', call.path, { name }) };
    };

    for (const [what, name] of [
      ['a line feed', 'a\nlevel=error'],
      ['a zero', 'a\0b'],
      ['an escape', 'a\u001b[31mb'],
      ['an override of the direction', 'invoice\u202efdp.exe'],
      ['a mark of the direction', 'a\u200fb'],
      ['half a character', 'a\ud800b'],
      ['nothing to be seen', ' \u3000 '],
      ['more than a hundred characters', 'x'.repeat(101)],
    ] as const)
      it(`that has ${what} is rejected`, async () => {
        const { answer } = await rename(name);
        expect(answer.error()).to.include({ code: 'validation_error' });
        expect(answer.error().message).to.include('`name` must be');
      });

    for (const name of [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      '{{constructor}}',
      '=cmd|calc',
      '李小龍 & Søn',
      "Robert'); DROP",
    ])
      it(`such as ${name} is stored unchanged and returned as JSON, never as a page`, async () => {
        const unique = `${name} ${randomUUID().slice(0, 8)}`;
        const { call, answer } = await rename(unique);
        expect(answer.status).to.equal(204);
        const shown = await call.caller.call('GET', `/operator/accounts/${call.account}`);
        expect((shown.json() as { name: string }).name).to.equal(unique);
        expect(shown.headers).to.include({
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
        });
        expect(shown.headers['content-type']).to.match(/^application\/json/);
      });
  });

  describe('without a session cookie', () => {
    it('but with an API key, or the session elsewhere, is rejected', async () => {
      const { caller, path } = await prepared('GET /me');
      const token = caller.cookie.split('=')[1]!;
      for (const headers of [
        { authorization: `Bearer ${fixture.key}` },
        { authorization: `Bearer ${token}` },
        { cookie: `session=${token}` },
      ])
        expect((await fixture.call('GET', path, headers)).status).to.equal(401);
      expect((await fixture.call('GET', `${path}?session=${token}`)).status).to.equal(401);
    });

    it('at /v1/render is rejected even with a session', async () => {
      const person = await fixture.createUser({ role: 'owner' });
      const answer = await fixture.call(
        'POST',
        '/v1/render',
        { cookie: person.cookie, 'content-type': 'application/json' },
        '{"html":"x"}',
      );
      expect(answer.status).to.equal(401);
    });
  });

  it('with an unsupported method gets the allowed methods', async () => {
    const { caller, path } = await prepared('GET /me');
    const answer = await caller.call('PUT', path, {});
    expect([answer.status, answer.error().code, answer.headers['allow']]).to.deep.equal([
      405,
      'method_not_allowed',
      'GET, HEAD, PATCH',
    ]);
  });

  it('with a path that is not UTF-8 is rejected', async () => {
    const { caller } = await prepared('GET /me');
    for (const path of ['/accounts/%E0%A4%A/team', '/accounts/%ff/team']) {
      const answer = await caller.call('GET', path);
      expect(answer.status).to.be.oneOf([400, 404]);
    }
  });

  it('is tested for every row with a body', () => {
    const withBody = fixture.api.consoleRows.filter(({ body }) => body !== undefined);
    expect(withBody.map(nameOf).sort()).to.deep.equal([...WITH_BODY].sort());
  });
});
