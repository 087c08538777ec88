// Entry point of the command line: registers all commands.
import { Command } from 'commander';
import { doctor } from '../standalone/doctor.ts';
import { addAccountCommands, addKeyCommands } from './accounts.ts';
import { addAdminCommands } from './admin.ts';
import { addBatchCommand } from './batch.ts';
import { COMMAND } from './command-name.ts';
import { addCompletionCommand } from './completion.ts';
import { withAccounts } from './database.ts';
import { EXIT_CODES, wrongUsage } from './failure.ts';
import { addOAuthCommands } from './oauth.ts';
import { addRenderCommand } from './render.ts';
import { addRendersCommands } from './renders.ts';
import { printNotice, runProgram } from './run-program.ts';
import { addSupportBundleCommand } from './support-bundle.ts';
import type { Terminal } from './terminal.ts';

const terminal: Terminal = {
  print: text => process.stdout.write(text),
  notify: printNotice,
  withAccounts: work => withAccounts(process.env, printNotice, work),
};

const program = new Command(COMMAND)
  .description('Self-hosted HTML-to-PDF service.')
  .version('0.1.0')
  .addHelpText(
    'after',
    `
Commands use the database in MONGODB_URI (with PRESSROOM_PEPPER). Without it they use the installation that \`npm start\` created in PRESSROOM_DATA_DIR.

Examples:
  ${COMMAND} standalone
  ${COMMAND} accounts create acme --plan growth
  export PRESSROOM_KEY=$(${COMMAND} keys create --account acme)
  ${COMMAND} render invoice.html -o invoice.pdf

${EXIT_CODES}`,
  );

addAccountCommands(program, terminal);
addKeyCommands(program, terminal);
addAdminCommands(program, terminal);
addOAuthCommands(program, terminal);
addRenderCommand(program, terminal);
addRendersCommands(program, terminal);
addBatchCommand(program, terminal);
addSupportBundleCommand(program, terminal);

program
  .command('doctor')
  .description('Check this machine for problems and suggest fixes')
  .action(async () => {
    if (!(await doctor(process.env, terminal.print))) process.exitCode = 1;
  });

// pressroom.mjs starts these three directly. They are listed here for the help.
for (const [name, description] of [
  ['standalone', 'Run everything on this machine: API, worker, Chrome and mongod (as npm start)'],
  ['api', 'Run an API process (requires MONGODB_URI, PRESSROOM_PEPPER and PRESSROOM_POOL_SECRET)'],
  ['worker', 'Run a worker (requires PRESSROOM_POOL_SECRET)'],
] as const) {
  program
    .command(name)
    .description(description)
    .action(() => {
      throw wrongUsage(
        `\`${COMMAND} ${name}\` takes no arguments. Configure it with environment variables.`,
      );
    });
}
addCompletionCommand(program, terminal);

await runProgram(program);
