// What the probe in a process of the service says of its event loop, and how it is asked.
import { request } from 'node:http';

/** The variable with the path of the socket on which the probe answers. */
export const PROBE_SOCKET = 'BENCH_PROBE_SOCKET';

interface Held {
  maxMs: number;
  p999Ms: number;
}

/** Since it was asked last. */
export interface Probed {
  /** How late a timer of 1 ms came: also because another process had the core. */
  delay: Held;
  /** CPU time of the main thread between two such timers: what it did itself. */
  work: Held;
  longestGcMs: number;
}

/** Asks, and begins anew. */
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
