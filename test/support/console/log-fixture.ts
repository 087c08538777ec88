// Reads the render log of an account as its owner and waits until the rows are written.
import { expect } from 'chai';
import type { RenderDetail, RenderSummary } from '../../../api/console/contract/accounts.ts';
import { eventually } from '../eventually.ts';
import type { ConsoleFixture, TestUser } from './console-fixture.ts';

export interface LoggedRows {
  person: TestUser;
  /** Waits until there are exactly `count` rows and returns them. `query` starts with `?`. */
  rows(count: number, query?: string): Promise<RenderSummary[]>;
  /** Waits until the render is written and returns it. */
  detail(id: string): Promise<RenderDetail>;
}

export async function loggedRows(
  fixture: ConsoleFixture,
  account = fixture.accountId,
): Promise<LoggedRows> {
  const person = await fixture.createUser({ role: 'owner', account });
  const path = `/accounts/${account}/renders`;
  return {
    person,
    rows: (count, query = '') =>
      eventually(async () => {
        const { items } = await person.good<{ items: RenderSummary[] }>('GET', path + query);
        expect(items).to.have.length(count);
        return items;
      }),
    detail: id => eventually(() => person.good<RenderDetail>('GET', `${path}/${id}`)),
  };
}
