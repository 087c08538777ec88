// `pressroom oauth`: the keys of the OAuth server, by which chat programs are let in.
import type { Command } from 'commander';
import { rotateOAuthKeys } from '../api/console/oauth/keys.ts';
import { createAudit } from '../api/console/security/audit.ts';
import type { Terminal } from './accounts.ts';
import { CliError } from './failure.ts';

const minuteOf = (date: Date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export function addOAuthCommands(program: Command, { notify, withAccounts }: Terminal): void {
  const oauth = program.command('oauth').description('the server that lets chat programs in');

  oauth
    .command('rotate-keys')
    .description(
      'make new keys; API processes take them by themselves, nobody has to connect again',
    )
    .addHelpText(
      'after',
      '\nThe keys sign the cookies of consents that are on their way. Access and refresh tokens do not depend on them.\n\nExample:\n  pressroom oauth rotate-keys',
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
        throw new CliError('There are no keys yet: they are made when the first app connects.');
      if (rotated === 'other secret')
        throw new CliError(
          'The keys were sealed with another PRESSROOM_SECRET: set the one that the API has. Nothing was changed.',
        );
      const { signsFrom, oldUntil, dropped } = rotated;
      notify(
        `New keys are there. API processes have them within a minute, without a restart, and sign with them from ${minuteOf(signsFrom)}.`,
      );
      notify(
        `Consents on their way end well: what the keys before have signed is good until ${minuteOf(oldUntil)}.`,
      );
      if (dropped > 0) notify(`Older keys whose time was over are gone: ${dropped}.`);
    });
}
