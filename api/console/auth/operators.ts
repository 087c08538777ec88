// Who runs the installation, and who may sign in at all. Owns that there is always somebody who can
// run it.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import { stillGiven } from '../users/team-rules.ts';
import { createTeams } from '../users/teams.ts';
import type { Sessions } from './sessions.ts';

export interface UserChange {
  operator?: boolean | undefined;
  disabled?: boolean | undefined;
  /** Forgets who the person is at the company's sign-in. */
  company?: false | undefined;
}

export interface Operators {
  /**
   * Changes another person, and ends the sessions and the apps of one who is disabled or whose
   * identity of the company is forgotten; invitations that the person gave and could give no more
   * are void. Returns the person as it was before. Throws ApiError `not_found`, or `conflict` for
   * oneself and for the last operator.
   */
  change(actor: string, user: string, change: UserChange): Promise<UserDocument>;
}

export function createOperators(store: Store, sessions: Pick<Sessions, 'endAll'>): Operators {
  const { users } = store.console;
  const { limits, limited } = store;
  const { change: changeTeam } = createTeams(store);

  /** As an operator the person invited into every account; as a member into some. */
  async function takeBackInvitations(user: string): Promise<void> {
    const found = store.console.teams.find(
      { 'invitations.by': user },
      { projection: { _id: 1 }, ...limits },
    );
    for (const { _id } of await limited(found.toArray()))
      await changeTeam(_id, ({ members, invitations }) => ({
        invitations: stillGiven(invitations, members, user),
      }));
  }

  const hasOperator = async () =>
    (await limited(
      users.countDocuments({ operator: true, disabled: { $ne: true } }, { limit: 1, ...limits }),
    )) > 0;

  async function change(
    actor: string,
    user: string,
    { operator, disabled, company }: UserChange,
  ): Promise<UserDocument> {
    if (actor === user)
      throw new ApiError('conflict', 'You cannot change this of yourself. Ask another operator.');
    const before = await limited(
      users.findOneAndUpdate(
        { _id: user },
        {
          $set: {
            ...(operator !== undefined && { operator }),
            ...(disabled !== undefined && { disabled }),
            ...(company === false && { identities: [] }),
          },
        },
        { returnDocument: 'before', ...limits },
      ),
    );
    if (!before) throw new ApiError('not_found', 'There is no such person.');
    // Two can unmake each other at the same moment. Each has written before it looks, so that at
    // least the later of them sees that nobody is left.
    if (!(await hasOperator())) {
      const { operator: was, disabled: wasDisabled = false, identities } = before;
      await limited(
        users.updateOne(
          { _id: user },
          { $set: { operator: was, disabled: wasDisabled, identities } },
          limits,
        ),
      );
      throw new ApiError(
        'conflict',
        'An installation is never without an operator. Make somebody else one first.',
      );
    }
    if (disabled || company === false) {
      await sessions.endAll(user);
      // Whoever was in the person's place may have allowed apps of their own. All of them end here,
      // and none is let in again with the person.
      await limited(store.console.oauthGrants.deleteMany({ user }, limits));
    }
    // Links that the person gave away would let in whoever holds them.
    if (disabled)
      await limited(
        store.console.teams.updateMany(
          { 'invitations.by': user },
          { $pull: { invitations: { by: user } } },
          limits,
        ),
      );
    else if (operator === false) await takeBackInvitations(user);
    return before;
  }

  return { change };
}
