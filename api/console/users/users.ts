// Users in MongoDB: creates, finds and links them. Owns the rule that an email address and an SSO
// identity belong to one user.

import { ApiError } from '../../../common/contract/errors.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import { isDuplicate, type Store, type UserDocument } from '../../store/store.ts';
import { passwords } from '../security/passwords.ts';

/** A user at the identity provider: issuer and subject. */
export type Identity = UserDocument['identities'][number];

/** Validated by the caller: `emailText`, `nameText`, `newPassword` of the contract. */
export interface NewUser {
  email: string;
  name: string;
  /** Plain text. */
  password?: string | undefined;
  operator?: boolean;
  identity?: Identity | undefined;
}

export type Users = ReturnType<typeof createUsers>;

export const normalEmail = (email: string): string => email.trim().toLowerCase();

const taken = (email: string, identity: Identity | undefined) =>
  new ApiError(
    'conflict',
    identity
      ? `A user with the email address ${email} or with this SSO identity already exists.`
      : `A user with the email address ${email} already exists.`,
  );

export function createUsers(store: Store) {
  const { users } = store.console;
  const { limits, limited } = store;

  /** Rejects with ApiError `conflict` when the address or the identity is taken. */
  async function create({
    email: written,
    name,
    password,
    operator = false,
    identity,
  }: NewUser): Promise<UserDocument> {
    const email = normalEmail(written);
    const user: UserDocument = {
      _id: `usr_${randomBase62(20)}`,
      email,
      name,
      operator,
      ...(password !== undefined && { password: await passwords.hash(password, email) }),
      identities: identity ? [identity] : [],
      createdAt: new Date(),
    };
    try {
      await limited(users.insertOne(user, limits));
    } catch (error) {
      throw isDuplicate(error) ? taken(email, identity) : error;
    }
    return user;
  }

  const find = async (filter: Parameters<typeof users.findOne>[0]) =>
    (await limited(users.findOne(filter!, limits))) ?? undefined;

  /**
   * Does nothing when it is linked already. Rejects with ApiError `conflict` when the identity
   * belongs to another user, or the user has another identity of this issuer.
   */
  async function linkIdentity(userId: string, { issuer, subject }: Identity): Promise<void> {
    const conflict = () =>
      new ApiError(
        'conflict',
        'This SSO identity is linked to another user, or this user to another identity.',
      );
    try {
      const linked = await limited(
        users.updateOne(
          { _id: userId, 'identities.issuer': { $ne: issuer } },
          { $push: { identities: { issuer, subject } } },
          limits,
        ),
      );
      if (
        linked.matchedCount === 0 &&
        (await find({ _id: userId, identities: { $elemMatch: { issuer, subject } } })) === undefined
      )
        throw conflict();
    } catch (error) {
      throw isDuplicate(error) ? conflict() : error;
    }
  }

  /** `password` in plain text. False when the stored hash is no longer `onlyIf`. */
  async function setPassword(
    userId: string,
    password: string,
    onlyIf?: string | null,
  ): Promise<boolean> {
    const hash = await passwords.hash(password, userId);
    // In a MongoDB filter `null` also matches an absent field.
    const filter = { _id: userId, ...(onlyIf !== undefined && { password: onlyIf as string }) };
    return (
      (await limited(users.updateOne(filter, { $set: { password: hash } }, limits))).matchedCount >
      0
    );
  }

  return {
    create,
    byEmail: (email: string) => find({ email: normalEmail(email) }),
    byId: (id: string) => find({ _id: id }),
    byIdentity: (issuer: string, subject: string) =>
      find({ identities: { $elemMatch: { issuer, subject } } }),
    linkIdentity,
    setPassword,
    /** Stores the time of the sign-in. */
    signedIn: async (userId: string) => {
      await limited(
        users.updateOne({ _id: userId }, { $set: { lastSignInAt: new Date() } }, limits),
      );
    },
  };
}
