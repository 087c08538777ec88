// Loaded before every script that launch.mjs runs: when the launcher is gone (kill -9 gives it no
// say), the script hears SIGTERM as if it had been told.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // Waiting for the launcher's end must not keep a script alive that is done.
  process.channel.unref();
}
