// The teams of accounts: members, roles, leaving. One document an account, written only as it was
// read, so that two changes at once cannot add up to what neither of them may do.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Role, Store, TeamDocument, UserDocument } from '../../store/store.ts';
import { type Members, stillGiven, without, withRole } from './team-rules.ts';

export type Person = Pick<UserDocument, '_id' | 'name' | 'email' | 'lastSignInAt' | 'disabled'>;

export interface Teams {
  /** Of an account that has nobody yet: a team without members. */
  of(account: string): Promise<TeamDocument>;
  /** People by id; who is gone is missing. */
  people(ids: readonly string[]): Promise<Map<string, Person>>;
  /**
   * Throws ApiError `forbidden`, `not_found`, or `conflict` for the last owner. Returns the role
   * before. Invitations that the person gave and could give no more are void.
   */
  setRole(account: string, actor: string, user: string, role: Role): Promise<Role>;
  /**
   * The same for leaving and removing; the apps that the person connected to the account end with
   * it.
   */
  remove(account: string, actor: string, user: string): Promise<Role>;
  /**
   * Reads the team, lets `next` decide (it may be asked again), and writes only when nobody wrote
   * in between. Passes on what `next` throws; ApiError `conflict` when too many change the team at
   * once. Returns the team as it was before.
   */
  change(
    account: string,
    next: (team: TeamDocument) => Partial<Pick<TeamDocument, 'members' | 'invitations'>>,
  ): Promise<TeamDocument>;
}

/** So many changes of one team can meet; each round one of them gets through. */
const ROUNDS = 40;
const MAX_PAUSE_MS = 25;

export function createTeams(store: Store): Teams {
  const { teams, users, oauthGrants } = store.console;
  const { limits, limited } = store;

  const stored = async (_id: string) =>
    (await limited(teams.findOne({ _id }, limits))) ?? undefined;
  const of = async (account: string): Promise<TeamDocument> =>
    (await stored(account)) ?? { _id: account, members: [], invitations: [] };

  async function made(_id: string): Promise<TeamDocument> {
    await limited(
      teams.updateOne(
        { _id },
        { $setOnInsert: { members: [], invitations: [] } },
        { upsert: true, ...limits },
      ),
    );
    return of(_id);
  }

  const change: Teams['change'] = async (account, next) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const team = (await stored(account)) ?? (await made(account));
      const { _id, members, invitations } = team;
      const written = await limited(
        teams.updateOne({ _id, members, invitations }, { $set: next(team) }, limits),
      );
      if (written.matchedCount === 1) return team;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    throw new ApiError(
      'conflict',
      'Others are changing the team at the same time. Look at it again, then repeat what is still missing.',
    );
  };

  async function changeMembers(
    account: string,
    user: string,
    next: (members: Members) => Members,
  ): Promise<Role> {
    const { members } = await change(account, team => {
      const changed = next(team.members);
      return { members: changed, invitations: stillGiven(team.invitations, changed, user) };
    });
    return members.find(member => member.user === user)!.role;
  }

  return {
    of,
    change,
    people: async ids => {
      const projection = { name: 1, email: 1, lastSignInAt: 1, disabled: 1 } as const;
      const found = await limited(
        users.find({ _id: { $in: [...ids] } }, { projection, ...limits }).toArray(),
      );
      return new Map(found.map(person => [person._id, person]));
    },
    setRole: (account, actor, user, role) =>
      changeMembers(account, user, members => withRole(members, actor, user, role)),
    remove: async (account, actor, user) => {
      const role = await changeMembers(account, user, members => without(members, actor, user));
      // Their tokens are worth nothing while the person has no place in the team, and would be
      // worth something again with the next one.
      await limited(oauthGrants.deleteMany({ user, account }, limits));
      return role;
    },
  };
}
