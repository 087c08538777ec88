import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createSessions } from '../../../api/console/auth/sessions.ts';
import { passwords } from '../../../api/console/security/passwords.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { runNodeProgram } from '../../support/run-program.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const PASSWORD = 'correct horse battery';
const PROGRAMS = {
  'the command line': fileURLToPath(new URL('../../../cli/main.ts', import.meta.url)),
  'the command of the image': fileURLToPath(new URL('../../../cli/in-image.ts', import.meta.url)),
};

describe('pressroom admin', () => {
  const folder = temporaryFolder();
  let fixture: ConsoleFixture;

  function run(args: string[], input = '', program = PROGRAMS['the command line']) {
    const env = { MONGODB_URI: fixture.uri, PRESSROOM_PEPPER: 'a pepper of the tests' };
    return runNodeProgram(program, ['admin', ...args], env, { input });
  }
  const admin = (args: string[], ...more: [input?: string, program?: string]) =>
    run(['create', ...args], ...more);
  const who = (email: string) => ['--email', email, '--name', 'Ada Lovelace'];
  const rolesIn = async (account: string) => {
    const { _id } = (await fixture.store.accounts.findOne({ name: account }))!;
    return (await fixture.store.console.teams.findOne({ _id }))?.members.map(({ user, role }) => [
      user,
      role,
    ]);
  };

  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  after(() => fixture.stop());

  for (const [name, program] of Object.entries(PROGRAMS))
    it(`creates an operator by ${name}, with a password from standard input`, async () => {
      const email = `${name.replaceAll(' ', '-')}@example.com`;
      const { code, out, errors } = await admin(
        [...who(email.toUpperCase()), '--password-stdin'],
        `${PASSWORD}\n`,
        program,
      );
      expect(code, errors).to.equal(0);
      expect(out).to.equal(`${email}\n`);
      const user = (await createUsers(fixture.store).byEmail(email))!;
      expect(user).to.include({ operator: true, name: 'Ada Lovelace' });
      expect(
        await passwords.verify(user.password, PASSWORD, { kind: 'known', id: user._id }),
      ).to.equal(true);
      expect(
        await fixture.store.console.audit.countDocuments({ actor: 'command line', target: email }),
      ).to.equal(1);
    });

  it('uses the email address as the name when none is given', async () => {
    const { code, errors } = await admin(
      ['--email', 'grace.hopper@example.com', '--password-stdin'],
      PASSWORD,
    );
    expect(code, errors).to.equal(0);
    expect((await createUsers(fixture.store).byEmail('grace.hopper@example.com'))!.name).to.equal(
      'grace.hopper',
    );
  });

  it('reads the password from a file', async () => {
    const file = join(folder(), 'password');
    await writeFile(file, `${PASSWORD}\r\n`);
    const { code, errors } = await admin([...who('file@example.com'), '--password-file', file]);
    expect(code, errors).to.equal(0);
    const user = (await createUsers(fixture.store).byEmail('file@example.com'))!;
    expect(
      await passwords.verify(user.password, PASSWORD, { kind: 'known', id: user._id }),
    ).to.equal(true);
  });

  it('makes the user an owner of the named account', async () => {
    const { code, errors } = await admin(
      [...who('owner@example.com'), '--password-stdin', '--account', fixture.account],
      PASSWORD,
    );
    expect(code, errors).to.equal(0);
    const user = (await createUsers(fixture.store).byEmail('owner@example.com'))!;
    expect(await rolesIn(fixture.account)).to.deep.include([user._id, 'owner']);
  });

  it('makes the user an owner of `default` if it exists', async () => {
    await fixture.accounts.createAccount('default');
    const { errors } = await admin([...who('default@example.com'), '--password-stdin'], PASSWORD);
    expect(errors).to.include('owner of account `default`');
    const user = (await createUsers(fixture.store).byEmail('default@example.com'))!;
    expect(await rolesIn('default')).to.deep.equal([[user._id, 'owner']]);
  });

  for (const [args, input, code, message] of [
    [
      [...who('twice@example.com'), '--password-stdin', '--account', 'nobody’s'],
      PASSWORD,
      1,
      'There is no account named',
    ],
    [[...who('no address'), '--password-stdin'], PASSWORD, 2, '--email must be an email address'],
    [
      [...who('a@example.com'), '--password-stdin'],
      'short',
      2,
      'The password must be at least 12 characters',
    ],
    [
      [...who('a@example.com'), '--password-stdin', '--password-file', 'x'],
      PASSWORD,
      2,
      'not both',
    ],
    [
      [...who('a@example.com'), '--password-file', '/nowhere/at/all'],
      '',
      1,
      'Cannot read /nowhere/at/all (ENOENT)',
    ],
    [who('a@example.com'), '', 2, '--password-stdin'],
    [['--name', 'Ada'], '', 2, '--email'],
  ] as const)
    it(`rejects ${args.join(' ')}`, async () => {
      const ran = await admin([...args], input);
      expect(ran.code, ran.errors).to.equal(code);
      expect(ran.errors).to.include(message).and.not.include(PASSWORD);
      expect(ran.out).to.equal('');
      expect(await createUsers(fixture.store).byEmail(args[1])).to.equal(undefined);
    });

  it('does not change an existing user', async () => {
    const { password } = await createUsers(fixture.store).create({
      email: 'there@example.com',
      name: 'There',
      password: PASSWORD,
    });
    const { code, errors } = await admin(
      [...who('there@example.com'), '--password-stdin'],
      'another long password',
    );
    expect(code).to.equal(1);
    expect(errors).to.include('there@example.com already exists');
    expect(await createUsers(fixture.store).byEmail('there@example.com')).to.deep.include({
      password,
      operator: false,
      name: 'There',
    });
  });

  describe('reset-password', () => {
    const email = 'forgetful@example.com';
    let userId: string;

    before(async () => {
      const users = createUsers(fixture.store);
      userId = (await users.create({ email, name: 'Forgetful', password: PASSWORD }))._id;
      await createSessions(fixture.store).open({
        user: userId,
        method: 'password',
        ip: '192.0.2.1',
        userAgent: 'a test',
      });
      await fixture.store.console.users.updateOne(
        { _id: userId },
        {
          $set: {
            twoFactor: { secret: 'x', recoveryCodes: [], lastStep: 0, confirmedAt: new Date() },
          },
        },
      );
    });

    it('sets a new password, ends the sessions and keeps the second factor', async () => {
      const { code, errors } = await run(
        ['reset-password', '--email', email.toUpperCase(), '--password-stdin'],
        'another long password',
      );
      expect(code, errors).to.equal(0);
      expect(errors).to.include('Sessions ended: 1.');
      const user = (await createUsers(fixture.store).byId(userId))!;
      expect(
        await passwords.verify(user.password, 'another long password', {
          kind: 'known',
          id: user._id,
        }),
      ).to.equal(true);
      expect(user).to.have.property('twoFactor');
      expect(
        await fixture.store.console.audit.countDocuments({
          action: 'person.password_reset',
          target: email,
        }),
      ).to.equal(1);
    });

    it('turns two-factor authentication off with the option', async () => {
      await run(
        ['reset-password', '--email', email, '--password-stdin', '--two-factor-off'],
        PASSWORD,
      );
      expect(await createUsers(fixture.store).byId(userId)).not.to.have.property('twoFactor');
    });

    it('reports an unknown user', async () => {
      const { code, errors } = await run(
        ['reset-password', '--email', 'nobody@example.com', '--password-stdin'],
        PASSWORD,
      );
      expect(code).to.equal(1);
      expect(errors).to.include('No user has the email address nobody@example.com');
    });
  });
});
