// `pressroom accounts` and `pressroom keys`: what an operator does with accounts and their keys.
import { type Command, Option } from 'commander';
import type { ShownKey } from '../api/accounts/account-keys.ts';
import type { Account, Accounts } from '../api/accounts/accounts.ts';
import {
  type AuditAction,
  accountChanged,
  accountCreated,
  createAudit,
  keyCreated,
  keyRevoked,
} from '../api/console/security/audit.ts';
import { ACCOUNT_STATES, type Store } from '../api/store/store.ts';
import { CliError } from './failure.ts';
import type { Work } from './on-accounts.ts';
import { table } from './table.ts';

export interface Terminal {
  /** stdout: the command's result and nothing else. */
  print(text: string): void;
  /** stderr: notices for a person. */
  notify(line: string): void;
  withAccounts<T>(work: Work<T>): Promise<T>;
}

const accountRow = (account: Account) => [
  account.name,
  account.plan,
  account.state,
  account.intranet ? 'on' : 'off',
  String(account.keys),
  String(account.running),
  String(account.usage),
];

const keyRow = (account: string, key: ShownKey) => [
  key.id,
  account,
  key.name,
  `…${key.last4}`,
  key.createdAt.toISOString().slice(0, 10),
  key.expiresAt?.toISOString().slice(0, 10) ?? 'never',
];

/** Writes into the account's own log, so that its members see the change. */
const note = (store: Store, account: string, act: AuditAction) =>
  createAudit(store).note({ account, actor: 'command line' }, act);

export function addAccountCommands(
  program: Command,
  { print, notify, withAccounts }: Terminal,
): void {
  const accounts = program.command('accounts').description('who may render, and how much at once');

  accounts
    .command('create')
    .argument('<name>', 'a name that no other account has')
    .description('make an account')
    .option(
      '--plan <plan>',
      'its plan (free, starter, growth, scale, or one of PRESSROOM_PLANS; default: free)',
    )
    .addHelpText('after', '\nExample:\n  pressroom accounts create acme --plan growth')
    .action(async (name: string, { plan }: { plan?: string }) => {
      const account = await withAccounts(async (all, { store }) => {
        const made = await all.createAccount(name, plan === undefined ? {} : { plan });
        await note(store, made.id, accountCreated(made));
        return made;
      });
      print(`${account.name}\n`);
      notify(
        `The account is there, on the plan ${account.plan}. Its first key: pressroom keys create --account ${JSON.stringify(account.name)}`,
      );
    });

  accounts
    .command('list')
    .description('all accounts, with the renders that run now and those counted this month')
    .action(async () => {
      const all = await withAccounts(store => store.listAccounts());
      print(
        table(
          ['NAME', 'PLAN', 'STATE', 'INTRANET', 'KEYS', 'RUNNING', 'USAGE'],
          all.map(accountRow),
        ),
      );
    });

  accounts
    .command('set')
    .argument('<name>', 'the account')
    .description('change an account; it holds for its next render')
    .option('--plan <plan>', 'its plan')
    .addOption(
      new Option(
        '--intranet <word>',
        'whether its pages may open the addresses of PRESSROOM_EGRESS_ALLOW',
      ).choices(['on', 'off']),
    )
    .addOption(new Option('--state <state>', 'its subscription').choices([...ACCOUNT_STATES]))
    .addHelpText('after', '\nExample:\n  pressroom accounts set acme --plan scale --intranet on')
    .action(
      async (
        name: string,
        { plan, intranet, state }: { plan?: string; intranet?: string; state?: string },
      ) => {
        const settings = {
          ...(plan !== undefined && { plan }),
          ...(intranet !== undefined && { intranet: intranet === 'on' }),
          ...(state !== undefined && { state }),
        };
        const account = await withAccounts(async (all, { store }) => {
          const before = await all.accountByName(name);
          const after = await all.setAccountById(before.id, settings);
          await note(store, after.id, accountChanged(before, after));
          return after;
        });
        notify(
          `${account.name}: plan ${account.plan}, ${account.state}, intranet ${account.intranet ? 'on' : 'off'}.`,
        );
      },
    );
}

/** The account that has the key, when the person did not name it. */
async function ownerOf(all: Accounts, keyId: string): Promise<Account> {
  for (const account of await all.listAccounts()) {
    if (account.keys > 0 && (await all.listKeys(account.name)).some(({ id }) => id === keyId))
      return account;
  }
  throw new CliError(
    `No account has a key with the id ${keyId}. \`pressroom keys list\` shows the ids.`,
  );
}

export function addKeyCommands(program: Command, { print, notify, withAccounts }: Terminal): void {
  const keys = program.command('keys').description('the secrets that callers show');

  keys
    .command('create')
    .description('make a key; stdout carries the key alone, once')
    .requiredOption('--account <name>', 'whose key it is')
    .option('--name <name>', 'what it is for', 'command line')
    .addHelpText(
      'after',
      '\nExample:\n  export PRESSROOM_KEY=$(pressroom keys create --account acme --name "billing job")',
    )
    .action(async ({ account, name }: { account: string; name: string }) => {
      const { text, key } = await withAccounts(async (all, { store }) => {
        const { id } = await all.accountByName(account);
        const made = await all.createKey(account, { name });
        await note(store, id, keyCreated(made.key));
        return made;
      });
      print(`${text}\n`);
      notify(`Keep it: it is not shown again. Its id, to revoke it by, is ${key.id}.`);
    });

  keys
    .command('list')
    .description('the keys of one account, or of all')
    .option('--account <name>', 'only this account')
    .action(async ({ account }: { account?: string }) => {
      const rows = await withAccounts(async all => {
        const names =
          account === undefined ? (await all.listAccounts()).map(({ name }) => name) : [account];
        return (
          await Promise.all(
            names.map(async name => (await all.listKeys(name)).map(key => keyRow(name, key))),
          )
        ).flat();
      });
      print(table(['ID', 'ACCOUNT', 'NAME', 'KEY', 'CREATED', 'EXPIRES'], rows));
    });

  keys
    .command('revoke')
    .argument('<key-id>', 'the id that `keys list` shows')
    .description('end a key; the next request with it is refused')
    .option('--account <name>', 'whose key it is (default: looked for in all accounts)')
    .action(async (keyId: string, { account }: { account?: string }) => {
      await withAccounts(async (all, { store }) => {
        const { id, name } =
          account === undefined ? await ownerOf(all, keyId) : await all.accountByName(account);
        await note(store, id, keyRevoked(await all.revokeKey(name, keyId)));
      });
      notify(`The key ${keyId} is revoked.`);
    });
}
