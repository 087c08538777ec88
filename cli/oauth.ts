// `pressroom oauth`: manage the keys of the OAuth server for MCP clients.
import type { Command } from 'commander';
import { rotateOAuthKeys } from '../api/console/oauth/keys.ts';
import { createAudit } from '../api/console/security/audit.ts';
import { COMMAND } from './command-name.ts';
import { CliError } from './failure.ts';
import type { Terminal } from './terminal.ts';

const minuteOf = (date: Date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export function addOAuthCommands(program: Command, { notify, withAccounts }: Terminal): void {
  const oauth = program.command('oauth').description('Manage the OAuth server for MCP clients');

  oauth
    .command('rotate-keys')
    .description(
      'Rotate the keys (API processes load the new ones by themselves; clients stay connected)',
    )
    .addHelpText(
      'after',
      `\nThe keys sign the cookies of consents in progress. Access and refresh tokens do not depend on them.\n\nExample:\n  ${COMMAND} oauth rotate-keys`,
    )
    .action(async () => {
      const rotated = await withAccounts(async (_accounts, { store, secret }) => {
        const result = await rotateOAuthKeys(store, await secret());
        if (typeof result !== 'string')
          await createAudit(store).note(
            { actor: 'command line' },
            { action: 'oauth.keys_rotated', target: 'the OAuth server' },
          );
        return result;
      });
      if (rotated === 'none')
        throw new CliError('No keys exist yet. They are created when the first app connects.');
      if (rotated === 'other secret')
        throw new CliError(
          'The keys are encrypted with another PRESSROOM_SECRET. Set the value of the API and try again. Nothing was changed.',
        );
      const { signsFrom, oldUntil, dropped } = rotated;
      notify(
        `Rotated the keys. API processes load the new keys within a minute, without a restart, and sign with them from ${minuteOf(signsFrom)}.`,
      );
      notify(
        `Consents in progress are not affected: signatures of the previous keys are valid until ${minuteOf(oldUntil)}.`,
      );
      if (dropped > 0) notify(`Deleted expired keys: ${dropped}.`);
    });
}
