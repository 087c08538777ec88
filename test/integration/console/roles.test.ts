// @proves forbidden, conflict, permissions, foreign-ids

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MAY } from '../../../api/console/contract/permissions.ts';
import type { ConsoleRoute } from '../../../api/console/kit/route.ts';
import { ROLES, type Role } from '../../../api/store/store.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  nameOf,
  pathWith,
  SAMPLES,
  type Sample,
  stateOf,
} from '../../support/console/console-rows.ts';
import { httpCall } from '../../support/http-call.ts';

const OTHERS = [
  'nobody',
  'a stranger',
  'an owner elsewhere',
  'an operator',
  'an operator who is a viewer',
] as const;
type Caller = Role | (typeof OTHERS)[number];
const CALLERS: Caller[] = [...ROLES, ...OTHERS];

const isMember = (caller: Caller): caller is Role => (ROLES as readonly string[]).includes(caller);

const CODES: Record<number, string> = {
  400: 'validation_error',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
};

/** The status by the rules, independent of the rows. */
function expectedStatus(caller: Caller, { needs, good }: Sample, method: string): number {
  if (needs === 'public') return good;
  if (caller === 'nobody') return 401;
  const operates = caller === 'an operator' || caller === 'an operator who is a viewer';
  if (needs === 'signed-in') return good;
  if (needs === 'operator') return operates ? good : 403;
  // Administrators of the installation read every account, but no PDFs.
  if (operates && method === 'get' && needs.endsWith('.read')) return good;
  const role = caller === 'an operator who is a viewer' ? 'viewer' : caller;
  if (!isMember(role)) return 404;
  return MAY[role].includes(needs) ? good : 403;
}

describe('the management API', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let rows: readonly ConsoleRoute[];
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    rows = fixture.api.consoleRows;
  });
  after(() => fixture.stop());

  async function person(caller: Caller, account: string): Promise<TestUser> {
    if (isMember(caller)) return fixture.createUser({ role: caller, account });
    if (caller === 'an operator') return fixture.createUser({ operator: true });
    if (caller === 'an operator who is a viewer')
      return fixture.createUser({ operator: true, role: 'viewer', account });
    if (caller === 'an owner elsewhere')
      return fixture.createUser({ role: 'owner', account: await fixture.account2() });
    return fixture.createUser();
  }

  /** An account with an owner of its own, so that the caller is not its last. */
  async function anAccount(): Promise<string> {
    const account = await fixture.account2();
    await fixture.createUser({ role: 'owner', account });
    return account;
  }

  it('has a sample call of every row, and a row for every sample', () => {
    expect(rows.map(nameOf).sort()).to.deep.equal(Object.keys(SAMPLES).sort());
  });

  it('has the access of the sample table for every row', () => {
    const declared = rows.map(row => [
      nameOf(row),
      typeof row.access === 'object' ? row.access.permission : row.access,
    ]);
    const expected = rows.map(row => [nameOf(row), SAMPLES[nameOf(row)]?.needs]);
    // Any member may leave, so this row accepts every role that sees the team and decides the rest.
    const leaving = 'DELETE /accounts/:account/team/members/:user';
    expect(declared.find(([name]) => name === leaving)).to.deep.equal([leaving, 'team.read']);
    expect(declared.filter(([name]) => name !== leaving)).to.deep.equal(
      expected.filter(([name]) => name !== leaving),
    );
  });

  it('is closed to callers without a session, except for its OpenAPI document', async () => {
    const open: string[] = [];
    for (const row of rows) {
      const answer = await httpCall(
        fixture.api.port(),
        row.method.toUpperCase(),
        pathWith(row, { account: await anAccount() }),
        { 'content-type': 'application/json', cookie: 'pressroom-session=x' },
        row.body ? '{}' : undefined,
      );
      if (answer.status !== 401) open.push(`${answer.status} ${nameOf(row)}`);
    }
    expect(open).to.deep.equal(['200 GET /openapi.json']);
  });

  for (const [name, sample] of Object.entries(SAMPLES)) {
    const [method = '', path = ''] = name.split(' ');
    const rowOf = () => {
      const row = rows.find(each => nameOf(each) === name);
      if (!row) throw new Error(`there is no row ${name}`);
      return row;
    };

    describe(name, () => {
      it('admits exactly the permitted callers and changes nothing for others', async () => {
        const row = rowOf();
        const outcome: Record<string, number> = {};
        const expected: Record<string, number> = {};
        await Promise.all(
          CALLERS.map(async caller => {
            const account = await anAccount();
            const one = await person(caller, account);
            const scene = { fixture, account, caller: one };
            const ids = { account, ...(await sample.make?.(scene)) };
            const before = await stateOf(fixture, [account]);
            const answer = await one.call(
              method,
              pathWith(row, ids),
              sample.body?.(scene),
              caller === 'nobody' ? { cookie: '' } : {},
            );
            outcome[caller] = answer.status;
            expected[caller] = expectedStatus(caller, sample, row.method);
            if (answer.status < 300) return;
            expect(answer.error().code, `${caller}: ${answer.body}`).to.equal(CODES[answer.status]);
            expect(await stateOf(fixture, [account]), caller).to.equal(before);
          }),
        );
        expect(outcome).to.deep.equal(expected);
      });

      const others = [...path.matchAll(/:(\w+)/g)]
        .map(match => match[1]!)
        .filter(param => param !== 'account');
      if (others.length > 0 && sample.needs !== 'operator')
        it('does not find or change objects of another account', async () => {
          const row = rowOf();
          const [own, foreign] = [await anAccount(), await anAccount()];
          const [caller, other] = [
            await fixture.createUser({ role: 'owner', account: own }),
            await fixture.createUser({ role: 'owner', account: foreign }),
          ];
          const ids = {
            ...(await sample.make!({ fixture, account: foreign, caller: other })),
            account: own,
          };
          const before = await stateOf(fixture, [own, foreign]);
          const sessions = await fixture.store.console.sessions.countDocuments({ user: other.id });
          const answer = await caller.call(
            method,
            pathWith(row, ids),
            sample.body?.({ fixture, account: own, caller }),
          );
          expect(answer.status, String(answer.body)).to.equal(404);
          expect(await stateOf(fixture, [own, foreign])).to.equal(before);
          expect(await fixture.store.console.sessions.countDocuments({ user: other.id })).to.equal(
            sessions,
          );
        });

      if (others.length > 0)
        it('returns 404 for an unknown id', async () => {
          const row = rowOf();
          const account = await anAccount();
          const caller = await fixture.createUser({
            role: 'owner',
            account,
            operator: sample.needs === 'operator',
          });
          const unknown = Object.fromEntries(others.map(param => [param, randomUUID()]));
          const answer = await caller.call(
            method,
            pathWith(row, { account, ...unknown }),
            sample.body?.({ fixture, account, caller }),
          );
          expect(answer.status, String(answer.body)).to.equal(404);
        });
    });
  }

  it('applies a changed role from the next call on', async () => {
    const account = await anAccount();
    const admin = await fixture.createUser({ role: 'admin', account });
    await admin.good('GET', `/accounts/${account}/audit`);
    await fixture.store.console.teams.updateOne(
      { _id: account, 'members.user': admin.id },
      { $set: { 'members.$.role': 'viewer' } },
    );
    expect((await admin.call('GET', `/accounts/${account}/audit`)).status).to.equal(403);
    await fixture.store.console.teams.updateOne(
      { _id: account },
      { $pull: { members: { user: admin.id } } },
    );
    expect((await admin.call('GET', `/accounts/${account}/audit`)).status).to.equal(404);
  });
});
