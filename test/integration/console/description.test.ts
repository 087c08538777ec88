// @proves console-openapi

import { expect } from 'chai';
import { z } from 'zod';
import type { ConsoleRoute } from '../../../api/console/kit/route.ts';
import type { ConsoleOpenApi, ConsoleOperation } from '../../../api/console/routes/openapi.ts';
import { HEADERS } from '../../../common/contract/answers.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { nameOf, pathWith, SAMPLES } from '../../support/console/console-rows.ts';
import { httpCall } from '../../support/http-call.ts';
import { generatorProblems } from '../../support/openapi-rules.ts';

describe('the OpenAPI document of the management API', () => {
  let fixture: ConsoleFixture;
  let description: ConsoleOpenApi;
  let rows: readonly ConsoleRoute[];
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    rows = fixture.api.consoleRows;
    description = await (await fixture.createUser()).good<ConsoleOpenApi>('GET', '/openapi.json');
  });
  after(() => fixture.stop());

  const operationOf = (row: ConsoleRoute): ConsoleOperation => {
    const path = row.path.replace(/:(\w+)/g, '{$1}');
    return description.paths[path]![row.method]!;
  };

  it('is OpenAPI 3.1 with server and security scheme', () => {
    expect(description.openapi).to.equal('3.1.0');
    expect(description.servers).to.deep.equal([{ url: 'http://localhost:8080/console/v1' }]);
    expect(description.security).to.deep.equal([{ session: [] }]);
    expect(description.components.securitySchemes['session']).to.include({
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-pressroom-session',
    });
  });

  it('contains exactly the rows', () => {
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        method => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      ),
    );
    expect(described.sort()).to.deep.equal(rows.map(nameOf).sort());
  });

  it('has a summary for each row', () => {
    for (const row of rows) expect(operationOf(row).summary.length, row.id).to.be.greaterThan(8);
  });

  it('suits client generators: named objects, one envelope, no default', () => {
    expect(generatorProblems(description)).to.deep.equal([]);
  });

  it('is public, and declares that it needs no session', async () => {
    const answer = await httpCall(fixture.api.port(), 'GET', '/console/v1/openapi.json', {
      'sec-fetch-site': 'cross-site',
    });
    expect(answer.status).to.equal(200);
    expect(JSON.parse(answer.body.toString())).to.deep.equal(description);
    expect(description.paths['/openapi.json']!['get']!.security).to.deep.equal([]);
    const open = rows.filter(({ access }) => access === 'public');
    expect(open.map(nameOf)).to.deep.equal(['GET /openapi.json']);
  });

  it('describes every path and query parameter', () => {
    for (const row of rows) {
      const { parameters } = operationOf(row);
      const inPath = parameters.filter(each => each.in === 'path').map(({ name }) => name);
      expect(inPath, row.id).to.deep.equal(
        [...row.path.matchAll(/:(\w+)/g)].map(match => match[1]),
      );
    }
    const list = description.paths['/operator/accounts']!['get']!.parameters;
    expect(list.map(({ name }) => name)).to.have.members(['cursor', 'limit', 'search', 'state']);
    expect(list.find(({ name }) => name === 'limit')).to.deep.include({
      required: false,
      in: 'query',
    });
    expect(list.find(({ name }) => name === 'limit')!.schema).to.include({
      type: 'integer',
      minimum: 1,
      maximum: 100,
    });
  });

  it('references only schemas and headers that it contains', () => {
    const refs = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map(
      match => match[1]!,
    );
    expect(refs.length).to.be.greaterThan(50);
    const { schemas, headers } = description.components;
    for (const ref of refs) {
      const [, kind, name] = /^#\/components\/(schemas|headers)\/(.+)$/.exec(ref)!;
      expect(Object.keys(kind === 'schemas' ? schemas : headers)).to.include(name);
    }
  });

  it('declares that bodies accept no other fields', () => {
    const strictBodies = Object.entries(description.components.schemas).filter(([name]) =>
      /^(New|Profile|Account(Change|Rename)|RoleChange)/.test(name),
    );
    expect(strictBodies.length).to.be.greaterThan(4);
    for (const [name, schema] of strictBodies) {
      if (name === 'NewPassword') continue;
      expect(schema, name).to.include({ additionalProperties: false });
    }
  });

  it('has no secrets in any response', () => {
    expect(JSON.stringify(description.components.schemas)).not.to.match(
      /"(passwordHash|hash|recoveryCodesHash|lastStep)"/,
    );
  });

  it('matches the status and the response of every sample call', async () => {
    for (const row of rows) {
      const sample = SAMPLES[nameOf(row)]!;
      const account = await fixture.account2();
      const caller = await fixture.createUser({ role: 'owner', account, operator: true });
      const scene = { fixture, account, caller };
      const ids = { account, ...(await sample.make?.(scene)) };
      const answer = await caller.call(
        row.method.toUpperCase(),
        pathWith(row, ids),
        sample.body?.(scene),
      );
      const described = operationOf(row).responses[String(answer.status)];
      expect(described, `${row.id}: ${answer.status} ${answer.body}`).not.to.equal(undefined);
      for (const name of Object.keys(HEADERS))
        if (name.toLowerCase() in answer.headers)
          expect(Object.keys(described!.headers), `${row.id} ${answer.status}`).to.include(name);
      expect(Object.keys(described!.content ?? {}), row.id).to.deep.equal(
        answer.status === 204 ? [] : [answer.headers['content-type']!.split(';')[0]!],
      );
      if (answer.status < 300 && row.answer instanceof z.ZodType) {
        // Nothing is lost on the way: the answer is what the schema lets through.
        const json = JSON.parse(String(answer.body));
        expect(row.answer.parse(json), row.id).to.deep.equal(json);
      }
    }
  });
});
