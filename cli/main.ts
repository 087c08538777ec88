// The command line. Owns the program's shape, and nothing of what the commands do.
import { Command } from 'commander';
import { doctor } from '../standalone/doctor.ts';
import { addAccountCommands, addKeyCommands, type Terminal } from './accounts.ts';
import { addAdminCommands } from './admin.ts';
import { withAccounts } from './database.ts';
import { EXIT_CODES, wrongUsage } from './failure.ts';
import { addOAuthCommands } from './oauth.ts';
import { addRenderCommand } from './render.ts';
import { printNotice, runProgram } from './run-program.ts';

const terminal: Terminal = {
  print: text => process.stdout.write(text),
  notify: printNotice,
  withAccounts: work => withAccounts(process.env, printNotice, work),
};

const program = new Command('pressroom')
  .description('HTML or a public URL in, a PDF out, run by yourselves.')
  .version('0.1.0')
  .addHelpText(
    'after',
    `
Accounts and keys are those of MONGODB_URI (with PRESSROOM_PEPPER), or of the installation in PRESSROOM_DATA_DIR that \`npm start\` made.

Examples:
  pressroom standalone
  pressroom accounts create acme --plan growth
  export PRESSROOM_KEY=$(pressroom keys create --account acme)
  pressroom render invoice.html -o invoice.pdf

${EXIT_CODES}`,
  );

addAccountCommands(program, terminal);
addKeyCommands(program, terminal);
addAdminCommands(program, terminal);
addOAuthCommands(program, terminal);
addRenderCommand(program, terminal);

program
  .command('doctor')
  .description('look for what keeps Pressroom from running here, and say how to mend it')
  .action(async () => {
    if (!(await doctor(process.env, terminal.print))) process.exitCode = 1;
  });

// These three are started by the command itself (pressroom.mjs) without going through this process;
// they stand here for the help.
for (const [name, what] of [
  [
    'standalone',
    'everything on this machine: Chrome, mongod, worker and API (the same as npm start)',
  ],
  ['api', 'one API process; MONGODB_URI, PRESSROOM_PEPPER and PRESSROOM_POOL_SECRET must be set'],
  ['worker', 'one worker; PRESSROOM_POOL_SECRET must be set'],
] as const) {
  program
    .command(name)
    .description(what)
    .action(() => {
      throw wrongUsage(
        `\`${name}\` is a process of its own: start it as \`pressroom ${name}\` alone; its settings are environment variables.`,
      );
    });
}

await runProgram(program);
