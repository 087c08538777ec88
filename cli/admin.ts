// `pressroom admin`: create administrators and reset passwords. Requires access to the database.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { createFirstOwner, WAITING_ACCOUNT } from '../api/console/auth/bootstrap.ts';
import { createSessions } from '../api/console/auth/sessions.ts';
import { twoFactorOff } from '../api/console/auth/two-factor.ts';
import { emailText, nameText } from '../api/console/contract/common.ts';
import { newPassword } from '../api/console/contract/users.ts';
import { createAudit } from '../api/console/security/audit.ts';
import { createUsers } from '../api/console/users/users.ts';
import { askPassword } from './ask-password.ts';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';
import type { Terminal } from './terminal.ts';

interface PasswordOptions {
  passwordFile?: string;
  passwordStdin?: boolean;
}

const FILE = [
  '--password-file <file>',
  'Read the password from a file (default: prompt for it)',
] as const;
const STDIN = ['--password-stdin', 'Read the password from standard input'] as const;

const withoutLineEnd = (written: string) => written.replace(/\r?\n$/, '');

async function passwordOf({ passwordFile, passwordStdin }: PasswordOptions): Promise<string> {
  if (passwordFile !== undefined && passwordStdin)
    throw wrongUsage('Use --password-file or --password-stdin, not both.');
  if (passwordStdin) return withoutLineEnd(await text(process.stdin));
  if (passwordFile === undefined) return askPassword();
  try {
    return withoutLineEnd(await readFile(passwordFile, 'utf8'));
  } catch (error) {
    throw new CliError(
      `Cannot read ${passwordFile} (${(error as NodeJS.ErrnoException).code}).`,
      1,
      error,
    );
  }
}

function checked<T>(
  option: string,
  parsed: { success: true; data: T } | { success: false; error: { issues: { message: string }[] } },
): T {
  if (parsed.success) return parsed.data;
  throw wrongUsage(`${option} must be ${parsed.error.issues[0]!.message}.`);
}

export function addAdminCommands(
  program: Command,
  { print, notify, withAccounts }: Terminal,
): void {
  const admin = program.command('admin').description('Manage administrators and reset passwords');

  admin
    .command('create')
    .description('Create an administrator')
    .requiredOption('--email <address>', 'Email address for signing in')
    .option('--name <name>', 'Full name (default: the part of the email address before the @)')
    .option(...FILE)
    .option(...STDIN)
    .option(
      '--account <name>',
      `Account to make the administrator an owner of (default: \`${WAITING_ACCOUNT}\`, if it exists)`,
    )
    .addHelpText(
      'after',
      `\nExample:\n  ${COMMAND} admin create --email ada@example.com --name "Ada Lovelace"`,
    )
    .action(
      async (options: PasswordOptions & { email: string; name?: string; account?: string }) => {
        const email = checked('--email', emailText.safeParse(options.email));
        const name = checked('--name', nameText().safeParse(options.name ?? email.split('@')[0]));
        const password = checked('The password', newPassword.safeParse(await passwordOf(options)));
        const owned = await withAccounts(async (_accounts, { store, plans }) => {
          const firstOwner = createFirstOwner(store, plans);
          const account = options.account ?? WAITING_ACCOUNT;
          const there = await firstOwner.isTaken(account);
          if (!there && options.account !== undefined)
            throw new CliError(
              `There is no account named \`${account}\`. Run \`${COMMAND} accounts list\` to see all accounts.`,
            );
          const user = await createUsers(store).create({ email, name, password, operator: true });
          if (there) await firstOwner.addOwner(account, user._id);
          await createAudit(store).note(
            { actor: 'command line' },
            { action: 'operator.created', target: email },
          );
          return there ? account : undefined;
        });
        print(`${email}\n`);
        notify(
          `Created administrator ${name}${owned === undefined ? '' : `, owner of account \`${owned}\``}. They can sign in now.`,
        );
      },
    );

  admin
    .command('reset-password')
    .description('Set a new password for a user and end their sessions')
    .requiredOption('--email <address>', 'Email address of the user')
    .option(...FILE)
    .option(...STDIN)
    .option('--two-factor-off', 'Also turn off two-factor authentication (for a lost device)')
    .addHelpText('after', `\nExample:\n  ${COMMAND} admin reset-password --email ada@example.com`)
    .action(async (options: PasswordOptions & { email: string; twoFactorOff?: boolean }) => {
      const password = checked('The password', newPassword.safeParse(await passwordOf(options)));
      const ended = await withAccounts(async (_accounts, { store }) => {
        const users = createUsers(store);
        const user = await users.byEmail(options.email);
        if (!user) throw new CliError(`No user has the email address ${options.email}.`);
        await users.setPassword(user._id, password);
        if (options.twoFactorOff) await twoFactorOff(store, user._id);
        const sessionsEnded = await createSessions(store).endAll(user._id);
        const details = { sessionsEnded, twoFactorOff: options.twoFactorOff ?? false };
        await createAudit(store).note(
          { actor: 'command line' },
          { action: 'person.password_reset', target: user.email, details },
        );
        return sessionsEnded;
      });
      notify(`Password reset. Sessions ended: ${ended}.`);
    });
}
