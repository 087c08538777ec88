// `pressroom accounts` and `pressroom keys`: manage accounts and their API keys.
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
import { ACCOUNT_STATES, KEY_SCOPES, type Store } from '../api/store/store.ts';
import { parseNetwork } from '../common/addresses.ts';
import { COMMAND } from './command-name.ts';
import { addDeleteAccountCommand } from './delete-account.ts';
import { CliError, wrongUsage } from './failure.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

const JSON_OPTION = ['--json', 'Print JSON instead of a table'] as const;
const jsonText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const onOff = (isOn: boolean) => (isOn ? 'on' : 'off');

const ACCOUNT_HEAD = ['NAME', 'PLAN', 'STATE', 'INTRANET', 'KEYS', 'RUNNING', 'USAGE', 'REUSE'];
const accountRow = (account: Account) => [
  account.name,
  account.plan,
  account.state,
  onOff(account.intranet),
  String(account.keys),
  String(account.running),
  String(account.usage),
  onOff(account.rendererReuse),
];

const accountJson = (account: Account) => ({
  name: account.name,
  plan: account.plan,
  state: account.state,
  intranet: account.intranet,
  renderer_reuse: account.rendererReuse,
  keys: account.keys,
  running: account.running,
  usage: account.usage,
});

interface OwnedKey {
  account: string;
  key: ShownKey;
}

const KEY_HEAD = ['ID', 'ACCOUNT', 'NAME', 'KEY', 'TYPE', 'SCOPES', 'CREATED', 'EXPIRES'];
const keyRow = ({ account, key }: OwnedKey) => [
  key.id,
  account,
  key.name,
  `…${key.last4}`,
  key.test ? 'test' : 'live',
  key.scopes.join(', '),
  key.createdAt.toISOString().slice(0, 10),
  key.expiresAt?.toISOString().slice(0, 10) ?? 'never',
];

const keyJson = ({ account, key }: OwnedKey) => ({
  id: key.id,
  account,
  name: key.name,
  last4: key.last4,
  test: key.test ?? false,
  scopes: key.scopes,
  allowed_ips: key.allowedIps ?? [],
  created_at: key.createdAt,
  expires_at: key.expiresAt ?? null,
});

/** A date includes that day. */
function parseExpiry(text: string): Date {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = isDate || /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const expiresAt = new Date(isDate ? `${text}T23:59:59.999Z` : text);
  if (!time || Number.isNaN(expiresAt.getTime()))
    throw wrongUsage(
      `--expires must be a date, such as 2027-12-31, or a time, such as 2027-12-31T12:00:00Z. \`${text}\` is neither.`,
    );
  if (expiresAt.getTime() <= Date.now())
    throw wrongUsage(`--expires must be in the future. \`${text}\` is not.`);
  return expiresAt;
}

/** Checked here, so that the message names the option. */
function parseNetworks(entries: string[]): string[] {
  for (const entry of entries)
    if (!parseNetwork(entry))
      throw wrongUsage(
        `--allowed-ip must be an IP address or a CIDR range, such as 203.0.113.7 or 2001:db8::/32. \`${entry}\` is neither.`,
      );
  return entries;
}

/** Records the change in the account's own audit log, which its members see. */
const note = (store: Store, account: string, act: AuditAction) =>
  createAudit(store).note({ account, actor: 'command line' }, act);

interface SetOptions {
  plan?: string;
  intranet?: string;
  rendererReuse?: string;
  state?: string;
}

export function addAccountCommands(program: Command, terminal: Terminal): void {
  const { print, notify, withAccounts } = terminal;
  const accounts = program.command('accounts').description('Manage accounts and plans');

  accounts
    .command('create')
    .argument('<name>', 'A unique account name')
    .description('Create an account')
    .option(
      '--plan <plan>',
      'Plan: free, starter, growth, scale, or one of PRESSROOM_PLANS (default: free)',
    )
    .addHelpText('after', `\nExample:\n  ${COMMAND} accounts create acme --plan growth`)
    .action(async (name: string, { plan }: { plan?: string }) => {
      const account = await withAccounts(async (all, { store }) => {
        const made = await all.createAccount(name, plan === undefined ? {} : { plan });
        await note(store, made.id, accountCreated(made));
        return made;
      });
      print(`${account.name}\n`);
      notify(
        `Created account ${JSON.stringify(account.name)} on the ${account.plan} plan. Create its first key: ${COMMAND} keys create --account ${JSON.stringify(account.name)}`,
      );
    });

  accounts
    .command('list')
    .description(
      'List all accounts with their running renders and usage in the current billing period',
    )
    .option(...JSON_OPTION)
    .action(async ({ json }: { json?: true }) => {
      const all = await withAccounts(store => store.listAccounts());
      print(json ? jsonText(all.map(accountJson)) : table(ACCOUNT_HEAD, all.map(accountRow)));
    });

  accounts
    .command('set')
    .argument('<name>', 'Account name')
    .description('Change an account (takes effect with its next render)')
    .option('--plan <plan>', 'Plan')
    .addOption(
      new Option(
        '--intranet <on|off>',
        'Allow its pages to open the addresses in PRESSROOM_EGRESS_ALLOW',
      ).choices(['on', 'off']),
    )
    .addOption(
      new Option(
        '--renderer-reuse <on|off>',
        'Allow its static documents to share a sealed page, if PRESSROOM_RENDERER_REUSE is on. Off for accounts whose users distrust each other',
      ).choices(['on', 'off']),
    )
    .addOption(new Option('--state <state>', 'Subscription state').choices([...ACCOUNT_STATES]))
    .addHelpText('after', `\nExample:\n  ${COMMAND} accounts set acme --plan scale --intranet on`)
    .action(async (name: string, { plan, intranet, rendererReuse, state }: SetOptions) => {
      const settings = {
        ...(plan !== undefined && { plan }),
        ...(intranet !== undefined && { intranet: intranet === 'on' }),
        ...(rendererReuse !== undefined && { rendererReuse: rendererReuse === 'on' }),
        ...(state !== undefined && { state }),
      };
      const account = await withAccounts(async (all, { store }) => {
        const before = await all.accountByName(name);
        const after = await all.setAccountById(before.id, settings);
        await note(store, after.id, accountChanged(before, after));
        return after;
      });
      notify(
        `Updated ${account.name}: plan ${account.plan}, ${account.state}, intranet ${onOff(account.intranet)}, renderer reuse ${onOff(account.rendererReuse)}.`,
      );
    });

  addDeleteAccountCommand(accounts, terminal);
}

/** Finds the account of a key when --account is not given. */
async function ownerOf(all: Accounts, keyId: string): Promise<Account> {
  for (const account of await all.listAccounts()) {
    if (account.keys > 0 && (await all.listKeys(account.name)).some(({ id }) => id === keyId))
      return account;
  }
  throw new CliError(
    `No account has a key with the ID ${keyId}. Run \`${COMMAND} keys list\` to see all IDs.`,
  );
}

interface NewKeyOptions {
  account: string;
  name: string;
  scope?: string[];
  expires?: string;
  allowedIp?: string[];
  test?: boolean;
}

export function addKeyCommands(program: Command, { print, notify, withAccounts }: Terminal): void {
  const keys = program.command('keys').description('Manage API keys');

  keys
    .command('create')
    .description('Create an API key (prints only the key to stdout)')
    .requiredOption('--account <name>', 'Account of the key')
    .option('--name <name>', 'Name of the key', 'command line')
    .addOption(
      new Option(
        '--scope <scope...>',
        'What the key may do: render, read the account and its usage (default: both)',
      ).choices([...KEY_SCOPES]),
    )
    .option(
      '--expires <date>',
      'The last day of the key in UTC, such as 2027-12-31, or a time (default: never)',
    )
    .option(
      '--allowed-ip <network...>',
      'Addresses that may use the key, such as 203.0.113.0/24 (default: all)',
    )
    .option('--test', 'Create a test key: its renders have a watermark and are not counted')
    .addHelpText(
      'after',
      `\nExamples:\n  export PRESSROOM_KEY=$(${COMMAND} keys create --account acme --name "billing job")\n  ${COMMAND} keys create --account acme --name monitoring --scope read --expires 2027-12-31`,
    )
    .action(async ({ account, name, scope, expires, allowedIp, test }: NewKeyOptions) => {
      const settings = {
        ...(scope && { scopes: scope }),
        ...(expires !== undefined && { expiresAt: parseExpiry(expires) }),
        ...(allowedIp && { allowedIps: parseNetworks(allowedIp) }),
        ...(test && { test }),
      };
      const { text, key } = await withAccounts(async (all, { store }) => {
        const { id } = await all.accountByName(account);
        const made = await all.createKey(account, { name, ...settings });
        await note(store, id, keyCreated(made.key));
        return made;
      });
      print(`${text}\n`);
      notify(`Created key ${key.id}. Save the key now; it is not shown again.`);
    });

  keys
    .command('list')
    .description('List the API keys of one account or of all accounts')
    .option('--account <name>', 'Account name (default: all accounts)')
    .option(...JSON_OPTION)
    .action(async ({ account, json }: { account?: string; json?: true }) => {
      const owned = await withAccounts(async all => {
        const names =
          account === undefined ? (await all.listAccounts()).map(({ name }) => name) : [account];
        const lists = names.map(async name =>
          (await all.listKeys(name)).map(key => ({ account: name, key })),
        );
        return (await Promise.all(lists)).flat();
      });
      print(json ? jsonText(owned.map(keyJson)) : table(KEY_HEAD, owned.map(keyRow)));
    });

  keys
    .command('revoke')
    .argument('<key-id>', `Key ID (see \`${COMMAND} keys list\`)`)
    .description('Revoke an API key (takes effect immediately)')
    .option('--account <name>', 'Account of the key (default: search all accounts)')
    .action(async (keyId: string, { account }: { account?: string }) => {
      await withAccounts(async (all, { store }) => {
        const { id, name } =
          account === undefined ? await ownerOf(all, keyId) : await all.accountByName(account);
        await note(store, id, keyRevoked(await all.revokeKey(name, keyId)));
      });
      notify(`Revoked key ${keyId}.`);
    });
}
