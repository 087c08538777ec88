// The command line. Owns the program's shape, its exit codes, and nothing of what the commands do.
import { Command, CommanderError } from 'commander';
import { ApiError } from '../../api/contract/errors.ts';
import { ConfigError } from '../../common/config.ts';
import { doctor } from '../doctor.ts';
import { addAccountCommands, addKeyCommands, type Terminal } from './accounts.ts';
import { withAccounts } from './database.ts';
import { CommandFailed, EXIT_CODES, wrongUsage } from './failure.ts';
import { addRenderCommand } from './render.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);

const terminal: Terminal = {
  print: text => process.stdout.write(text),
  say,
  withAccounts: work => withAccounts(process.env, say, work),
};

const program = new Command('pressroom')
  .description('HTML or a public URL in, a PDF out, run by yourselves.')
  .version('0.1.0')
  .exitOverride()
  .showSuggestionAfterError()
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
addRenderCommand(program, terminal);

program
  .command('doctor')
  .description('look for what keeps Pressroom from running here, and say how to mend it')
  .action(async () => {
    if (!(await doctor(process.env, terminal.print))) process.exitCode = 1;
  });

// These three are started by the command itself (pressroom.mjs) without going through this process; they stand here for the help.
for (const [name, what] of [
  ['standalone', 'everything on this machine: Chrome, mongod, worker and API (the same as npm start)'],
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

/** All commands and their commands, since each one decides by itself how it exits. */
function everywhere(command: Command, act: (each: Command) => void): void {
  act(command);
  for (const child of command.commands) everywhere(child, act);
}
everywhere(program, each => {
  each.exitOverride().showHelpAfterError('`--help` shows what is accepted.');
  if (each !== program && each.commands.length === 0) each.addHelpText('after', `\n${EXIT_CODES}`);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    const expected = error instanceof CommandFailed || error instanceof ApiError || error instanceof ConfigError;
    say(expected || !process.env.PRESSROOM_LOG_LEVEL ? (error as Error).message : String((error as Error).stack));
    process.exitCode = error instanceof CommandFailed ? error.exitCode : error instanceof ConfigError ? 2 : 1;
  }
}
