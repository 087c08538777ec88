// Loaded before every script of launch.mjs: sends SIGTERM to the script when the launcher has
// ended, for example by kill -9.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // The channel must not keep a finished script running.
  process.channel.unref();
}
