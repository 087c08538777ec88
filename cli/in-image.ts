// The command `pressroom` of the API's image: accounts, keys, people and the OAuth server's keys,
// in the database of the API that runs there.
import { Command } from 'commander';
import { readApiConfig } from '../api/config.ts';
import { addAccountCommands, addKeyCommands, type Terminal } from './accounts.ts';
import { addAdminCommands } from './admin.ts';
import { wrongUsage } from './failure.ts';
import { addOAuthCommands } from './oauth.ts';
import { onAccounts } from './on-accounts.ts';
import { printNotice, runProgram } from './run-program.ts';

const terminal: Terminal = {
  print: text => process.stdout.write(text),
  notify: printNotice,
  withAccounts: async work => {
    const { mongodbUri: uri, pepper, dashboard } = readApiConfig(process.env);
    if (uri === undefined || pepper === undefined)
      throw wrongUsage(
        'MONGODB_URI and PRESSROOM_PEPPER must be set, as they are for the API: run this in a pod of the API.',
      );
    const secret = async () => {
      if (dashboard.secret === undefined)
        throw wrongUsage(
          'PRESSROOM_SECRET must be set, as it is for the API: run this in a pod of the API.',
        );
      return dashboard.secret;
    };
    return await onAccounts({ uri, pepper, secret }, process.env, work);
  },
};

const program = new Command('pressroom')
  .description(
    'Who may render, and their keys; who runs this installation; the keys of the OAuth server.',
  )
  .addHelpText(
    'after',
    `
Examples:
  pressroom accounts create acme --plan growth
  pressroom keys create --account acme
  pressroom admin create --email ada@example.com`,
  );
addAccountCommands(program, terminal);
addKeyCommands(program, terminal);
addAdminCommands(program, terminal);
addOAuthCommands(program, terminal);
await runProgram(program);
