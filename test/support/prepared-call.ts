// A call of one row of the management API that is good as it is, by somebody who may do everything:
// for tests that make one thing wrong in it.
import { expect } from 'chai';
import type { ConsoleRoute } from '../../api/console/kit/route.ts';
import type { ConsoleFixture, Person } from './console/console-fixture.ts';
import { nameOf, pathWith, SAMPLES, stateOf } from './console/console-rows.ts';

export interface PreparedCall {
  row: ConsoleRoute;
  account: string;
  caller: Person;
  ids: Record<string, string>;
  path: string;
  body: unknown;
  method: string;
}

/** `name`: of a sample, such as `PATCH /me`. In an account of its own. */
export async function preparedCall(fixture: ConsoleFixture, name: string): Promise<PreparedCall> {
  const row = fixture.api.consoleRows.find(each => nameOf(each) === name)!;
  const account = await fixture.account2();
  const caller = await fixture.person({ role: 'owner', account, operator: true });
  const scene = { fixture, account, caller };
  const sample = SAMPLES[name]!;
  const ids = { account, ...(await sample.make?.(scene)) };
  return {
    row,
    account,
    caller,
    ids,
    path: pathWith(row, ids),
    body: sample.body?.(scene),
    method: row.method.toUpperCase(),
  };
}

/** Expects that the account and the caller are after `act` what they were before. */
export async function changesNothing(
  fixture: ConsoleFixture,
  { account, caller }: PreparedCall,
  act: () => Promise<void>,
): Promise<void> {
  const all = async () => [
    await stateOf(fixture, [account]),
    await fixture.store.console.users.findOne({ _id: caller.id }),
  ];
  const before = await all();
  await act();
  expect(await all()).to.deep.equal(before);
}
