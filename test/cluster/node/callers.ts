// Clients that render in loops, each request on its own connection.
import { request } from 'node:http';

/** Longer than the queue timeout and the render time limit. */
const LIMIT_MS = 300_000;

export interface Rendered {
  status: number;
  body: Buffer;
}

/** Sends one render. Rejects if there is no response. */
export const render = (base: string, key: string, body: object): Promise<Rendered> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const call = request(
      `${base}/v1/render`,
      { method: 'POST', headers, agent: false, signal: AbortSignal.timeout(LIMIT_MS) },
      response => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece)).on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode!, body: Buffer.concat(pieces) }),
        );
      },
    );
    call.on('error', reject);
    call.end(text);
  });

/** Why the response is not a PDF; undefined if it is. */
export function flaw({ status, body }: Rendered): string | undefined {
  if (status === 200 && body.subarray(0, 5).toString() === '%PDF-') return undefined;
  return `${status} ${body.subarray(0, 300)}`;
}

export interface Callers {
  /** Number of PDFs so far. */
  good(): number;
  /** Failures, each with its time. */
  readonly flaws: readonly string[];
  /** Sends no new requests; resolves when the running ones have finished. */
  stop(): Promise<void>;
}

/** Starts `concurrency` loops, which use `keys` in turn. */
export function startCallers(
  base: string,
  keys: readonly string[],
  concurrency: number,
  body: object,
): Callers {
  let [good, over] = [0, false];
  const flaws: string[] = [];
  const loop = async (key: string) => {
    while (!over) {
      const why = await render(base, key, body).then(flaw, (error: Error) => error.message);
      if (why === undefined) good++;
      else flaws.push(`${new Date().toISOString()} ${why}`);
    }
  };
  const running = Array.from({ length: concurrency }, (_, index) =>
    loop(keys[index % keys.length]!),
  );
  return {
    good: () => good,
    flaws,
    stop: async () => {
      over = true;
      await Promise.all(running);
    },
  };
}
