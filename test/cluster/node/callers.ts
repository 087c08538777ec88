// Customers of a Pressroom anywhere: renders at an address, one after the other in some lines at
// once, each on a connection of its own.
import { request } from 'node:http';

/** Longer than a render may wait and take. */
const LIMIT_MS = 300_000;

export interface Rendered {
  status: number;
  body: Buffer;
}

/** One render. Rejects when there is no answer. */
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
      answer => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece)).on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode!, body: Buffer.concat(pieces) }),
        );
      },
    );
    call.on('error', reject);
    call.end(text);
  });

/** Why it is no PDF; undefined when it is one. */
export function flaw({ status, body }: Rendered): string | undefined {
  if (status === 200 && body.subarray(0, 5).toString() === '%PDF-') return undefined;
  return `${status} ${body.subarray(0, 300)}`;
}

export interface Callers {
  /** PDFs that came so far. */
  good(): number;
  /** What went wrong, with the time of each. */
  readonly flaws: readonly string[];
  /** No new calls; resolves when the running ones are answered. */
  stop(): Promise<void>;
}

/** `lines` callers, who share `keys` in turn. */
export function startCallers(
  base: string,
  keys: readonly string[],
  lines: number,
  body: object,
): Callers {
  let [good, over] = [0, false];
  const flaws: string[] = [];
  const line = async (key: string) => {
    while (!over) {
      const why = await render(base, key, body).then(flaw, (error: Error) => error.message);
      if (why === undefined) good++;
      else flaws.push(`${new Date().toISOString()} ${why}`);
    }
  };
  const running = Array.from({ length: lines }, (_, index) => line(keys[index % keys.length]!));
  return {
    good: () => good,
    flaws,
    stop: async () => {
      over = true;
      await Promise.all(running);
    },
  };
}
