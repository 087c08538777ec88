// A request to an API server without kubectl, which takes a tenth of a second per call.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { Access } from './kubeconfig.ts';

const LIMIT_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: responses of any kind, of which tests read few fields
export type Json = any;

export interface ApiAnswer {
  status: number;
  /** A `Status` object for an error; text if it is not JSON, such as several watch events. */
  body: Json;
}

/** Patch types. The first is that of `kubectl apply --server-side`. */
export const PATCH = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/**
 * Sends a request to `path`, such as `/api/v1/nodes?limit=1`. Rejects if there is no response
 * within a minute.
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
      response => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
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
