// A valid request to an endpoint of the management API by a user with all permissions. Tests change
// one thing to make it invalid.
import { expect } from 'chai';
import type { ConsoleRoute } from '../../api/console/kit/route.ts';
import type { ConsoleFixture, TestUser } from './console/console-fixture.ts';
import { nameOf, pathWith, SAMPLES, stateOf } from './console/console-rows.ts';

export interface PreparedCall {
  row: ConsoleRoute;
  account: string;
  caller: TestUser;
  ids: Record<string, string>;
  path: string;
  body: unknown;
  method: string;
}

/** Prepares the sample `name`, such as `PATCH /me`, in a new account. */
export async function preparedCall(fixture: ConsoleFixture, name: string): Promise<PreparedCall> {
  const row = fixture.api.consoleRows.find(each => nameOf(each) === name)!;
  const account = await fixture.account2();
  const caller = await fixture.createUser({ role: 'owner', account, operator: true });
  const context = { fixture, account, caller };
  const sample = SAMPLES[name]!;
  const ids = { account, ...(await sample.make?.(context)) };
  return {
    row,
    account,
    caller,
    ids,
    path: pathWith(row, ids),
    body: sample.body?.(context),
    method: row.method.toUpperCase(),
  };
}

/** Expects that `act` changes neither the account nor the caller. */
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
