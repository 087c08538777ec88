// The teams of accounts: members and their roles. One document per account, written by
// compare-and-swap, so that two concurrent changes cannot break a rule together.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Role, Store, TeamDocument, UserDocument } from '../../store/store.ts';
import { type Members, validInvitations, without, withRole } from './team-rules.ts';

export type TeamUser = Pick<UserDocument, '_id' | 'name' | 'email' | 'lastSignInAt' | 'disabled'>;

export type Teams = ReturnType<typeof createTeams>;

/** Bounds the concurrent changes of one team: each round lets one of them succeed. */
const ROUNDS = 40;
const MAX_PAUSE_MS = 25;

export function createTeams(store: Store) {
  const { teams, users, oauthGrants } = store.console;
  const { limits, limited } = store;

  const stored = async (_id: string) =>
    (await limited(teams.findOne({ _id }, limits))) ?? undefined;
  /** An account without a team document has a team without members. */
  const of = async (account: string): Promise<TeamDocument> =>
    (await stored(account)) ?? { _id: account, members: [], invitations: [] };

  async function createTeam(_id: string): Promise<TeamDocument> {
    await limited(
      teams.updateOne(
        { _id },
        { $setOnInsert: { members: [], invitations: [] } },
        { upsert: true, ...limits },
      ),
    );
    return of(_id);
  }

  /**
   * Reads the team and writes what `next` returns, unless the team changed in between: then it
   * repeats both. Returns the team before the change. Rejects with what `next` throws, and with
   * ApiError `conflict` after too many rounds.
   */
  async function change(
    account: string,
    next: (team: TeamDocument) => Partial<Pick<TeamDocument, 'members' | 'invitations'>>,
  ): Promise<TeamDocument> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const team = (await stored(account)) ?? (await createTeam(account));
      const { _id, members, invitations } = team;
      const written = await limited(
        teams.updateOne({ _id, members, invitations }, { $set: next(team) }, limits),
      );
      if (written.matchedCount === 1) return team;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    throw new ApiError(
      'conflict',
      'The team is being changed by others. Reload it, then try again.',
    );
  }

  async function changeMembers(
    account: string,
    user: string,
    next: (members: Members) => Members,
  ): Promise<Role> {
    const { members } = await change(account, team => {
      const changed = next(team.members);
      return { members: changed, invitations: validInvitations(team.invitations, changed, user) };
    });
    return members.find(member => member.user === user)!.role;
  }

  return {
    of,
    change,
    /** Users by id; deleted ones are missing. */
    usersOf: async (ids: readonly string[]): Promise<Map<string, TeamUser>> => {
      const projection = { name: 1, email: 1, lastSignInAt: 1, disabled: 1 } as const;
      const found = await limited(
        users.find({ _id: { $in: [...ids] } }, { projection, ...limits }).toArray(),
      );
      return new Map(found.map(user => [user._id, user]));
    },
    /**
     * Returns the previous role. Throws ApiError `forbidden`, `not_found`, or `conflict` for the
     * last owner. Revokes invitations that the user may no longer create.
     */
    setRole: (account: string, actor: string, user: string, role: Role) =>
      changeMembers(account, user, members => withRole(members, actor, user, role)),
    /** The same for leaving and removing. Also disconnects the user's apps from the account. */
    remove: async (account: string, actor: string, user: string) => {
      const role = await changeMembers(account, user, members => without(members, actor, user));
      // Tokens of a user who left are rejected, but would work again if the user came back.
      await limited(oauthGrants.deleteMany({ user, account }, limits));
      return role;
    },
  };
}
