// How mocha runs the files that test/run.ts names.
module.exports = {
  extension: ['ts'],
  require: ['test/support/hooks.ts'],
  // No test is too slow; one that hangs is ended. Machines that share a disk stand still for half a minute at times.
  timeout: 60_000,
  forbidOnly: true,
};
