// People as they are stored: made, found and linked. Owns that an address and a company's identity
// belong to one person.

import { ApiError } from '../../../common/contract/errors.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import { isDuplicate, type Store, type UserDocument } from '../../store/store.ts';
import { passwords as ofThisProcess, type Passwords } from '../security/passwords.ts';

/** Who somebody is at the company's sign-in. */
export type Identity = UserDocument['identities'][number];

/** What has been checked before: `emailText`, `nameText`, `newPassword` of the contract. */
export interface NewUser {
  email: string;
  name: string;
  /** As it was typed. */
  password?: string | undefined;
  operator?: boolean;
  identity?: Identity | undefined;
}

export interface Users {
  /** Rejects with ApiError `conflict` when the address or the identity is somebody's already. */
  create(person: NewUser): Promise<UserDocument>;
  byEmail(email: string): Promise<UserDocument | undefined>;
  byId(id: string): Promise<UserDocument | undefined>;
  byIdentity(issuer: string, subject: string): Promise<UserDocument | undefined>;
  /**
   * Does nothing when it is linked. Rejects with ApiError `conflict` when it is another person's,
   * or the person has another one of this issuer.
   */
  linkIdentity(userId: string, identity: Identity): Promise<void>;
  /**
   * `password` as it was typed. False when `onlyIf`, a hash that was read before, is no longer the
   * stored one.
   */
  setPassword(userId: string, password: string, onlyIf?: string | null): Promise<boolean>;
  /** Notes the time. */
  signedIn(userId: string): Promise<void>;
}

export const normalEmail = (email: string): string => email.trim().toLowerCase();

export function createUsers(store: Store, passwords: Passwords = ofThisProcess): Users {
  const { users } = store.console;
  const { limits, limited } = store;

  const taken = (email: string) =>
    new ApiError(
      'conflict',
      `There is a person with the address ${email} already, or with this identity.`,
    );

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
      throw isDuplicate(error) ? taken(email) : error;
    }
    return user;
  }

  const find = async (filter: Parameters<typeof users.findOne>[0]) =>
    (await limited(users.findOne(filter!, limits))) ?? undefined;

  async function linkIdentity(userId: string, { issuer, subject }: Identity): Promise<void> {
    const conflict = () =>
      new ApiError(
        'conflict',
        'This identity of the company is linked to another person, or this person to another identity.',
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

  async function setPassword(
    userId: string,
    password: string,
    onlyIf?: string | null,
  ): Promise<boolean> {
    const hash = await passwords.hash(password, userId);
    // `null` stands for a field that is absent, to MongoDB as well.
    const filter = { _id: userId, ...(onlyIf !== undefined && { password: onlyIf as string }) };
    return (
      (await limited(users.updateOne(filter, { $set: { password: hash } }, limits))).matchedCount >
      0
    );
  }

  return {
    create,
    byEmail: email => find({ email: normalEmail(email) }),
    byId: id => find({ _id: id }),
    byIdentity: (issuer, subject) => find({ identities: { $elemMatch: { issuer, subject } } }),
    linkIdentity,
    setPassword,
    signedIn: async userId => {
      await limited(
        users.updateOne({ _id: userId }, { $set: { lastSignInAt: new Date() } }, limits),
      );
    },
  };
}
