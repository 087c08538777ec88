// Loaded with `--import`: measures how long the event loop is blocked, and reports it on a socket.
// Not part of the product.
import { createServer } from 'node:http';
import { createHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { PROBE_SOCKET, type Probed } from './probed.ts';

const TICK_MS = 1;
const NS_PER_MS = 1e6;

function watch(socket: string): void {
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  delay.enable();
  // CPU time of the thread between two ticks: unlike the delay, it excludes time used by other
  // processes.
  const work = createHistogram();
  const workedUs = () => {
    // Linux updates the CPU time of the running thread only for a query of the whole process;
    // otherwise it may be 4 ms old.
    process.cpuUsage();
    const { user, system } = process.threadCpuUsage();
    return user + system;
  };
  let before = workedUs();
  setInterval(() => {
    const now = workedUs();
    work.record(Math.max(1, Math.round((now - before) * 1_000)));
    before = now;
  }, TICK_MS).unref();
  let longestGcMs = 0;
  new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
  }).observe({ entryTypes: ['gc'] });

  const of = (histogram: Pick<typeof work, 'max' | 'percentile'>) => ({
    maxMs: histogram.max / NS_PER_MS,
    p999Ms: histogram.percentile(99.9) / NS_PER_MS,
  });
  const server = createServer((_request, response) => {
    const probed: Probed = { delay: of(delay), work: of(work), longestGcMs };
    response.end(JSON.stringify(probed));
    delay.reset();
    work.reset();
    longestGcMs = 0;
  });
  server.listen(socket).unref();
}

const socket = process.env[PROBE_SOCKET];
// Worker threads load this file too.
if (isMainThread && socket) watch(socket);
