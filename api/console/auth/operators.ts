// Changes the operator role of users, and disables and enables users. Owns the rule that at least
// one enabled operator remains.
import type { z } from 'zod';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import type { operatorUserChange } from '../contract/accounts.ts';
import { validInvitations } from '../users/team-rules.ts';
import { createTeams } from '../users/teams.ts';
import type { Sessions } from './sessions.ts';

export type UserChange = z.output<typeof operatorUserChange>;

export type Operators = ReturnType<typeof createOperators>;

export function createOperators(store: Store, sessions: Pick<Sessions, 'endAll'>) {
  const { users } = store.console;
  const { limits, limited } = store;
  const { change: changeTeam } = createTeams(store);

  /** An operator may invite to every account; a member only to some. */
  async function revokeInvitations(user: string): Promise<void> {
    const found = store.console.teams.find(
      { 'invitations.by': user },
      { projection: { _id: 1 }, ...limits },
    );
    for (const { _id } of await limited(found.toArray()))
      await changeTeam(_id, ({ members, invitations }) => ({
        invitations: validInvitations(invitations, members, user),
      }));
  }

  const hasOperator = async () =>
    (await limited(
      users.countDocuments({ operator: true, disabled: { $ne: true } }, { limit: 1, ...limits }),
    )) > 0;

  /**
   * Changes another user. Disabling or unlinking ends the user's sessions and disconnects their
   * apps. Revokes invitations that the user may no longer create. Returns the user before the
   * change. Throws ApiError `not_found`, or `conflict` for oneself and for the last operator.
   */
  async function change(
    actor: string,
    user: string,
    { operator, disabled, company }: UserChange,
  ): Promise<UserDocument> {
    if (actor === user)
      throw new ApiError(
        'conflict',
        'You cannot change your own user here. Ask another administrator.',
      );
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
    if (!before) throw new ApiError('not_found', 'User not found.');
    // Two operators may remove each other concurrently. Each writes before it reads, so at least
    // the later one sees that no operator is left.
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
        'An installation needs at least one administrator. Add another one first.',
      );
    }
    if (disabled || company === false) {
      await sessions.endAll(user);
      // An attacker with access to the login may have connected apps. Disconnect them all, so that
      // none works again once the user is enabled.
      await limited(store.console.oauthGrants.deleteMany({ user }, limits));
    }
    // Otherwise the links would still work.
    if (disabled)
      await limited(
        store.console.teams.updateMany(
          { 'invitations.by': user },
          { $pull: { invitations: { by: user } } },
          limits,
        ),
      );
    else if (operator === false) await revokeInvitations(user);
    return before;
  }

  return { change };
}
