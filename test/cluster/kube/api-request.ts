// One question to an API server, for what a test looks at or does a hundred times: kubectl takes a
// tenth of a second each time.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { Access } from './kubeconfig.ts';

const LIMIT_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: responses of any kind, of which tests read few fields
export type Json = any;

export interface ApiAnswer {
  status: number;
  /**
   * A `Status` object where it is no 2xx; a text where it is no object, such as several events of a
   * watch.
   */
  body: Json;
}

/** How a patch is to be understood; the first is what `kubectl apply --server-side` sends. */
export const PATCH = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/**
 * `path` such as `/api/v1/nodes?limit=1`. Rejects when the server can not be reached, or does not
 * answer in a minute.
 */
export function apiRequest(
  { server, caFile, token }: Access,
  method: string,
  path: string,
  body?: unknown,
  contentType = 'application/json',
): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const call = request(
      `${server}${path}`,
      {
        method,
        ca: readFileSync(caFile),
        agent: false,
        signal: AbortSignal.timeout(LIMIT_MS),
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          'user-agent': 'tests',
          ...(text !== undefined && {
            'content-type': contentType,
            'content-length': Buffer.byteLength(text),
          }),
        },
      },
      answer => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode!,
            body: objectOrText(Buffer.concat(chunks).toString()),
          }),
        );
      },
    );
    call.on('error', reject);
    call.end(text);
  });
}

function objectOrText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
