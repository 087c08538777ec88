// The `pressroom` command in the API's image: accounts, keys, administrators and OAuth keys, in the
// database of that API, and checks of the installation.
import { Command } from 'commander';
import { readApiConfig } from '../api/config.ts';
import { addAccountCommands, addKeyCommands } from './accounts.ts';
import { addAdminCommands } from './admin.ts';
import { COMMAND } from './command-name.ts';
import { addDoctorCommand } from './doctor.ts';
import { wrongUsage } from './failure.ts';
import { addOAuthCommands } from './oauth.ts';
import { onAccounts } from './on-accounts.ts';
import { printNotice, runProgram } from './run-program.ts';
import type { Terminal } from './terminal.ts';

const terminal: Terminal = {
  print: text => process.stdout.write(text),
  notify: printNotice,
  withAccounts: async work => {
    const { mongodbUri: uri, pepper, dashboard } = readApiConfig(process.env);
    if (uri === undefined || pepper === undefined)
      throw wrongUsage(
        'MONGODB_URI and PRESSROOM_PEPPER are not set. Run this command in a pod of the API.',
      );
    const secret = async () => {
      if (dashboard.secret === undefined)
        throw wrongUsage('PRESSROOM_SECRET is not set. Run this command in a pod of the API.');
      return dashboard.secret;
    };
    return await onAccounts({ uri, pepper, secret }, process.env, work);
  },
};

const program = new Command(COMMAND)
  .description(
    'Manage accounts, API keys, administrators and OAuth keys, and check this installation.',
  )
  .addHelpText(
    'after',
    `
Examples:
  ${COMMAND} accounts create acme --plan growth
  ${COMMAND} keys create --account acme
  ${COMMAND} admin create --email ada@example.com`,
  );
addAccountCommands(program, terminal);
addKeyCommands(program, terminal);
addAdminCommands(program, terminal);
addOAuthCommands(program, terminal);
addDoctorCommand(program, terminal);
await runProgram(program);
