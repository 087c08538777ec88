// The report of the event loop probe, and the query for it.
import { request } from 'node:http';

/** The variable with the path of the probe's socket. */
export const PROBE_SOCKET = 'BENCH_PROBE_SOCKET';

interface Held {
  maxMs: number;
  p999Ms: number;
}

/** Values since the last query. */
export interface Probed {
  /** Delay of a 1 ms timer, including time used by other processes. */
  delay: Held;
  /** CPU time of the main thread between two timers. */
  work: Held;
  longestGcMs: number;
}

/** Reads the values and resets them. */
export function askProbe(socketPath: string): Promise<Probed> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/', agent: false }, async answer => {
      try {
        let text = '';
        for await (const piece of answer) text += piece;
        resolve(JSON.parse(text));
      } catch (error) {
        reject(error);
      }
    })
      .on('error', reject)
      .end();
  });
}
