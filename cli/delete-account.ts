// `pressroom accounts delete`: says what would be deleted, and deletes it when the name is confirmed.
import type { Command } from 'commander';
import {
  type AccountContents,
  AccountDeletion,
  MOST_COUNTED,
} from '../api/accounts/account-deletion.ts';
import type { Account } from '../api/accounts/accounts.ts';
import { accountDeleted, createAudit } from '../api/console/security/audit.ts';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** For a shell, if the name has other characters than most names. */
const quoted = (name: string) =>
  /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;

/** A name that begins with - would be read as an option. */
const deleteCommand = (name: string) => {
  const words = name.startsWith('-')
    ? ['--confirm', quoted(name), '--', quoted(name)]
    : [quoted(name), '--confirm', quoted(name)];
  return [COMMAND, 'accounts', 'delete', ...words].join(' ');
};

/** A line, or nothing for none. */
const count = (number: number, one: string, many: string): string[] => {
  const shown = number >= MOST_COUNTED ? `${MOST_COUNTED} or more` : number;
  return number === 0 ? [] : [`  ${shown} ${number === 1 ? one : many}`];
};

function describeContents({ keys, running }: Account, contents: AccountContents): string {
  const { members, invitations, connectedApps } = contents;
  const { asyncRenders, batches, storedPdfs, renderLog } = contents;
  return [
    ...count(keys, 'API key', 'API keys'),
    ...count(members, 'membership (the login is kept)', 'memberships (the logins are kept)'),
    ...count(invitations, 'invitation', 'invitations'),
    ...count(connectedApps, 'connected app', 'connected apps'),
    ...count(
      asyncRenders,
      'asynchronous render with its PDF',
      'asynchronous renders with their PDFs',
    ),
    ...count(batches, 'batch', 'batches'),
    ...count(storedPdfs, 'PDF with a link', 'PDFs with links'),
    ...count(renderLog, 'entry of the render log', 'entries of the render log'),
    '  all usage figures',
    'The audit log is kept.',
    ...(running > 0
      ? [`${running} ${running === 1 ? 'render is' : 'renders are'} in progress and will fail.`]
      : []),
  ].join('\n');
}

/** What remains of the account, when an earlier command was interrupted. */
async function finishInterrupted(
  deletion: AccountDeletion,
  name: string,
  notify: Terminal['notify'],
): Promise<boolean> {
  const interrupted = await deletion.interrupted(name);
  for (const account of interrupted) {
    await deletion.finish(account);
    notify(`Finished the deletion of account ${JSON.stringify(name)} (${account}).`);
  }
  return interrupted.length > 0;
}

async function finishNow(deletion: AccountDeletion, { id, name }: Account): Promise<void> {
  try {
    await deletion.finish(id);
  } catch (error) {
    throw new CliError(
      `Account ${JSON.stringify(name)} is deleted and cannot be used, but some of its data remains: ${(error as Error).message}. Run the command again: ${deleteCommand(name)}`,
      1,
      error,
    );
  }
}

export function addDeleteAccountCommand(
  accounts: Command,
  { notify, withAccounts }: Terminal,
): void {
  accounts
    .command('delete')
    .argument('<name>', 'Account name')
    .description('Delete an account with its API keys, renders and PDFs (cannot be undone)')
    .option(
      '--confirm <name>',
      'The name of the account again (default: only show what is deleted)',
    )
    .addHelpText('after', `\nExample:\n  ${deleteCommand('acme')}`)
    .action(async (name: string, { confirm }: { confirm?: string }) => {
      await withAccounts(async (all, { store }) => {
        const deletion = new AccountDeletion(store);
        // Not also a new account of this name.
        if (await finishInterrupted(deletion, name, notify)) {
          const next = await store.limited(store.accounts.findOne({ name }, store.limits));
          if (next)
            notify(
              `Another account has this name now (${next._id}) and was not deleted. To delete it, run the command again.`,
            );
          return;
        }
        const account = await all.accountByName(name);
        if (confirm !== name)
          throw wrongUsage(
            `${confirm === undefined ? 'Nothing was deleted.' : `Nothing was deleted: --confirm is not ${JSON.stringify(name)}.`} Deleting account ${JSON.stringify(name)} (${account.id}) cannot be undone. It deletes:\n${describeContents(account, await deletion.contents(account.id))}\nTo delete it, run: ${deleteCommand(name)}`,
          );
        await deletion.begin(account.id, session =>
          createAudit(store).note(
            { account: account.id, actor: 'command line' },
            accountDeleted(account),
            session,
          ),
        );
        await finishNow(deletion, account);
        notify(`Deleted account ${JSON.stringify(name)} (${account.id}).`);
      });
    });
}
