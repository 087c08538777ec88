// What mocha runs when no file is named, and how.
const { existsSync } = require('node:fs');

const named = process.argv.slice(2).some(argument => /\.test\.ts$|[*/]$/.test(argument));

module.exports = {
  extension: ['ts'],
  // Mocha adds the files of the command line to these: so that one file can be run alone, they stand here only when none is named.
  spec: named
    ? []
    : // The cluster last: its programs are built meanwhile.
      ['test/unit', 'test/integration', 'test/browser', 'test/fault', 'test/cluster']
        .filter(existsSync)
        .map(folder => `${folder}/**/*.test.ts`),
  require: ['test/support/hooks.ts'],
  // No test is too slow; one that hangs is ended. Machines that share a disk stand still for half a minute at times.
  timeout: 60_000,
  forbidOnly: true,
};
