// @proves forbidden, conflict, teams, invitations

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Team } from '../../../api/console/contract/users.ts';
import { ROLES, type Role } from '../../../api/store/store.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';

interface Invited {
  invitation: Team['invitations'][number];
  link: string;
}

describe('a team', () => {
  let fixture: ConsoleFixture;
  let account: string;
  let owner: TestUser;
  const base = () => `/accounts/${account}/team`;
  const member = (role: Role) => fixture.createUser({ role, account });
  const rolesOf = async () =>
    Object.fromEntries(
      (await owner.good<Team>('GET', base())).members.map(({ user, role }) => [user, role]),
    );
  const newAddress = () => `${randomUUID()}@example.com`;
  const invite = (by: TestUser, role: Role, email = newAddress()) =>
    by.call('POST', `${base()}/invitations`, { email, role });

  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  beforeEach(async () => {
    account = await fixture.account2();
    owner = await fixture.createUser({ role: 'owner', account });
  });
  after(() => fixture.stop());

  it('is listed with roles and addresses, marks the caller, and contains no hashes', async () => {
    const viewer = await member('viewer');
    await invite(owner, 'developer', 'ada@example.com');
    const answer = await viewer.call('GET', base());
    const { members, invitations } = answer.json() as Team;
    expect(members.map(({ user, role, you }) => ({ user, role, you }))).to.deep.equal([
      { user: owner.id, role: 'owner', you: false },
      { user: viewer.id, role: 'viewer', you: true },
    ]);
    expect(members[0]).to.include({ email: owner.email, name: 'A TestUser' });
    expect(invitations).to.have.length(1);
    expect(invitations[0]).to.include({
      email: 'ada@example.com',
      role: 'developer',
      invitedBy: 'A TestUser',
    });
    const { hash } = (await fixture.store.console.teams.findOne({ _id: account }))!.invitations[0]!;
    expect(answer.body.toString()).not.to.include(hash);
  });

  describe('roles', () => {
    it('are changed by admins and written to the audit log', async () => {
      const [admin, viewer] = [await member('admin'), await member('viewer')];
      await admin.good('PATCH', `${base()}/members/${viewer.id}`, { role: 'developer' });
      expect((await rolesOf())[viewer.id]).to.equal('developer');
      const entry = await fixture.store.console.audit.findOne({
        account,
        action: 'member.role_changed',
      });
      expect(entry).to.include({ user: admin.id, actor: admin.email, target: viewer.email });
      expect(entry!.details).to.deep.equal({ before: 'viewer', role: 'developer' });
    });

    it('of owners are changed only by owners', async () => {
      const [admin, second] = [await member('admin'), await member('owner')];
      for (const [user, role] of [
        [second.id, 'viewer'],
        [admin.id, 'owner'],
      ] as const) {
        const answer = await admin.call('PATCH', `${base()}/members/${user}`, { role });
        expect(answer.status).to.equal(403);
        expect(answer.error().message).to.include('Only owners');
      }
      expect((await admin.call('DELETE', `${base()}/members/${second.id}`)).status).to.equal(403);
      expect((await invite(admin, 'owner')).status).to.equal(403);
      await owner.good('PATCH', `${base()}/members/${admin.id}`, { role: 'owner' });
      expect((await rolesOf())[admin.id]).to.equal('owner');
    });

    it('are listed in the error for an unknown role', async () => {
      const answer = await owner.call('PATCH', `${base()}/members/${owner.id}`, { role: 'boss' });
      expect(answer.error()).to.include({
        code: 'validation_error',
        message: `\`role\` must be one of ${ROLES.join(', ')}.`,
      });
    });
  });

  describe('the last owner', () => {
    it('cannot step down, be removed, or leave', async () => {
      const own = `${base()}/members/${owner.id}`;
      for (const answer of [
        await owner.call('PATCH', own, { role: 'admin' }),
        await owner.call('DELETE', own),
      ]) {
        expect(answer.status).to.equal(409);
        expect(answer.error()).to.include({ code: 'conflict' });
        expect(answer.error().message).to.include('needs at least one owner');
      }
      expect(await rolesOf()).to.deep.equal({ [owner.id]: 'owner' });
    });

    it('remains when two owners remove each other concurrently', async () => {
      for (let round = 0; round < 8; round += 1) {
        account = await fixture.account2();
        const [one, other] = [await member('owner'), await member('owner')];
        const answers = await Promise.all([
          one.call('PATCH', `${base()}/members/${other.id}`, { role: 'viewer' }),
          round % 2
            ? other.call('PATCH', `${base()}/members/${one.id}`, { role: 'viewer' })
            : other.call('DELETE', `${base()}/members/${one.id}`),
        ]);
        expect(answers.filter(({ status }) => status === 204)).to.have.length(1);
        const { members } = (await fixture.store.console.teams.findOne({ _id: account }))!;
        expect(members.filter(({ role }) => role === 'owner')).to.have.length(1);
      }
    });

    it('remains when all owners leave concurrently', async () => {
      const owners = [
        owner,
        ...(await Promise.all(Array.from({ length: 7 }, () => member('owner')))),
      ];
      const answers = await Promise.all(
        owners.map(each => each.call('DELETE', `${base()}/members/${each.id}`)),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([
        ...Array(7).fill(204),
        409,
      ]);
    });
  });

  it('rejects a member who left from the next call on, whatever the role', async () => {
    for (const role of ['admin', 'developer', 'billing', 'viewer'] as const) {
      const person = await member(role);
      await person.good('DELETE', `${base()}/members/${person.id}`);
      expect((await person.call('GET', base())).status, role).to.equal(404);
    }
    expect(await rolesOf()).to.deep.equal({ [owner.id]: 'owner' });
    expect(
      await fixture.store.console.audit.countDocuments({ account, action: 'member.left' }),
    ).to.equal(4);
  });

  it('lets only owners and admins remove others', async () => {
    const victim = await member('viewer');
    for (const role of ['developer', 'billing', 'viewer'] as const) {
      const person = await member(role);
      expect((await person.call('DELETE', `${base()}/members/${victim.id}`)).status, role).to.equal(
        403,
      );
    }
    await (await member('admin')).good('DELETE', `${base()}/members/${victim.id}`);
    expect(await rolesOf()).not.to.have.property(victim.id);
    expect(
      await fixture.store.console.audit.findOne({ account, action: 'member.removed' }),
    ).to.include({ target: victim.email });
  });

  describe('invitations', () => {
    it('are links with 256 random bits in the fragment, of which only the hash is stored', async () => {
      const { link, invitation } = (await invite(owner, 'viewer')).json() as Invited;
      const [, token] = /^http:\/\/localhost:8080\/app\/invitation#([\w-]{43})$/.exec(link)!;
      const stored = (await fixture.store.console.teams.findOne({ _id: account }))!;
      expect(JSON.stringify(stored)).not.to.include(token);
      expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).to.equal(
        7 * 86_400_000,
      );
      const entry = (await fixture.store.console.audit.findOne({
        account,
        action: 'invitation.created',
      }))!;
      expect(JSON.stringify(entry)).not.to.include(token);
      expect(entry.target).to.equal(invitation.email);
    });

    it('are limited to one per address: a new one replaces the previous one', async () => {
      const first = (await invite(owner, 'viewer', 'ada@example.com')).json() as Invited;
      const second = (await invite(owner, 'admin', ' ADA@example.com ')).json() as Invited;
      const { invitations } = await owner.good<Team>('GET', base());
      expect(invitations.map(({ id, role }) => ({ id, role }))).to.deep.equal([
        { id: second.invitation.id, role: 'admin' },
      ]);
      expect(first.invitation.id).not.to.equal(second.invitation.id);
    });

    it('of owners cannot be replaced by admins', async () => {
      const admin = await member('admin');
      const { invitation } = (await invite(owner, 'owner', 'ada@example.com')).json() as Invited;
      expect((await invite(admin, 'viewer', 'ada@example.com')).status).to.equal(403);
      expect(
        (await admin.call('DELETE', `${base()}/invitations/${invitation.id}`)).status,
      ).to.equal(403);
      expect((await owner.good<Team>('GET', base())).invitations).to.have.length(1);
    });

    it('are void when the inviter loses the permission', async () => {
      const open = async () =>
        (await owner.good<Team>('GET', base())).invitations.map(({ email }) => email);
      const [admin, leaver, second] = [
        await member('admin'),
        await member('admin'),
        await member('owner'),
      ];
      await invite(owner, 'viewer', 'kept@example.com');
      await invite(admin, 'viewer', 'demoted@example.com');
      await invite(leaver, 'admin', 'left@example.com');
      await invite(second, 'owner', 'owner@example.com');
      await invite(second, 'admin', 'admin@example.com');
      await owner.good('PATCH', `${base()}/members/${admin.id}`, { role: 'viewer' });
      await leaver.good('DELETE', `${base()}/members/${leaver.id}`);
      await owner.good('PATCH', `${base()}/members/${second.id}`, { role: 'admin' });
      expect(await open()).to.deep.equal(['kept@example.com', 'admin@example.com']);
      const operator = await fixture.createUser({ operator: true });
      await operator.good('PATCH', `/operator/users/${second.id}`, { disabled: true });
      expect(await open()).to.deep.equal(['kept@example.com']);
    });

    it('are rejected for existing members', async () => {
      const viewer = await member('viewer');
      const answer = await invite(owner, 'admin', viewer.email);
      expect(answer.status).to.equal(409);
      expect(answer.error().message).to.include(viewer.email);
    });

    it('are removed when revoked, and can be revoked once', async () => {
      const { invitation } = (await invite(owner, 'viewer')).json() as Invited;
      await owner.good('DELETE', `${base()}/invitations/${invitation.id}`);
      expect((await owner.good<Team>('GET', base())).invitations).to.deep.equal([]);
      expect(
        (await owner.call('DELETE', `${base()}/invitations/${invitation.id}`)).status,
      ).to.equal(404);
    });

    it('are limited to 50 open ones, also when created concurrently', async () => {
      const made = await Promise.all(Array.from({ length: 12 }, () => invite(owner, 'viewer')));
      expect(made.map(({ status }) => status)).to.deep.equal(Array(12).fill(201));
      const { invitations } = (await fixture.store.console.teams.findOne({ _id: account }))!;
      const more = Array.from({ length: 37 }, (_, index) => ({
        ...invitations[0]!,
        id: `x${index}`,
        hash: `x${index}`,
        email: `${index}@example.com`,
      }));
      await fixture.store.console.teams.updateOne(
        { _id: account },
        { $push: { invitations: { $each: more } } },
      );
      const answers = await Promise.all(Array.from({ length: 4 }, () => invite(owner, 'viewer')));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409]);
    });

    it('do not count and are not listed after they expired', async () => {
      await invite(owner, 'viewer');
      await fixture.store.console.teams.updateOne(
        { _id: account },
        { $set: { 'invitations.0.expiresAt': new Date(Date.now() - 1) } },
      );
      expect((await owner.good<Team>('GET', base())).invitations).to.deep.equal([]);
    });
  });

  it('is limited to 100 members', async () => {
    const members = Array.from({ length: 99 }, (_, index) => ({
      user: `usr_${index}`,
      role: 'viewer' as const,
      since: new Date(),
    }));
    await fixture.store.console.teams.updateOne(
      { _id: account },
      { $push: { members: { $each: members } } },
    );
    const answer = await invite(owner, 'viewer');
    expect(answer.status).to.equal(409);
    expect(answer.error().message).to.include('100 members');
  });

  describe('the name of an account', () => {
    it('is changed by admins and written to the audit log', async () => {
      const name = `Renamed ${randomUUID()}`;
      await (await member('admin')).good('PATCH', `/accounts/${account}`, { name });
      expect((await fixture.store.accounts.findOne({ _id: account }))!.name).to.equal(name);
      expect(
        await fixture.store.console.audit.findOne({ account, action: 'account.renamed' }),
      ).to.include({ target: name });
    });

    it('must be unique', async () => {
      const answer = await owner.call('PATCH', `/accounts/${account}`, { name: fixture.account });
      expect(answer.error()).to.include({ code: 'conflict' });
    });
  });
});
