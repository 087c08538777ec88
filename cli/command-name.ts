// What the user typed to run this command line.

/** Pure. `npm run` sets npm_lifecycle_event to the name of the script. */
export const commandName = (env: NodeJS.ProcessEnv): string =>
  env['npm_lifecycle_event'] === 'pressroom' ? 'npm run -s pressroom --' : 'pressroom';

/** For messages, help and examples. */
export const COMMAND = commandName(process.env);
