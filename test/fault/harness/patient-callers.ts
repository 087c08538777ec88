// Callers that follow the responses: after a PDF they call again, after an error they wait for
// Retry-After. They record each response and its duration.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiReplica, Deployment, DeploymentAccount } from './deployment.ts';

export interface Visit {
  api: ApiReplica;
  /** When the call was sent, by performance.now(), and the duration until its response. */
  startMs: number;
  ms: number;
  /** 0 when the connection broke. */
  status: number;
  /** Of an error: its code and, for render_failed, the reason. */
  why?: string;
  retryAfterS?: number;
  /** `X-Usage-Count`. */
  usage?: number;
}

export interface PatientCallers {
  readonly visits: readonly Visit[];
  /** Resolves after one more call to each API process that `good` accepts. */
  next(good: (visit: Visit) => boolean): Promise<void>;
  /** Starts no more calls. Resolves when the last one is answered. */
  stop(): Promise<void>;
}

/** Sends one render and records it. */
export async function visit(
  deployment: Deployment,
  account: DeploymentAccount,
  body: unknown,
  api: ApiReplica,
): Promise<Visit> {
  const startMs = performance.now();
  try {
    const answer = await deployment.render(account, body, api);
    const { status, headers } = answer;
    const noted: Visit = { api, startMs, ms: performance.now() - startMs, status };
    if (headers['retry-after'] !== undefined) noted.retryAfterS = Number(headers['retry-after']);
    if (headers['x-usage-count'] !== undefined) noted.usage = Number(headers['x-usage-count']);
    if (status !== 200)
      noted.why = [answer.error().code, answer.error().reason].filter(Boolean).join('/');
    return noted;
  } catch (error) {
    return {
      api,
      startMs,
      ms: performance.now() - startMs,
      status: 0,
      why: (error as Error).message,
    };
  }
}

/** The number of callers of each API process. */
export function startPatientCallers(
  deployment: Deployment,
  account: DeploymentAccount,
  callers: number,
): PatientCallers {
  const visits: Visit[] = [];
  const stopping = new AbortController();
  let look: ((noted: Visit) => void)[] = [];

  async function call(api: ApiReplica): Promise<void> {
    while (!stopping.signal.aborted) {
      const noted = await visit(deployment, account, { html: '<p>x</p>' }, api);
      visits.push(noted);
      for (const each of look) each(noted);
      const pauseMs = noted.status === 200 ? 0 : (noted.retryAfterS ?? 1) * 1_000;
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }
  const all = deployment.apis.flatMap(api => Array.from({ length: callers }, () => call(api)));

  return {
    visits,
    next: async good => {
      const waits = deployment.apis.map(
        api =>
          new Promise<void>(resolve => {
            const each = (noted: Visit) => {
              if (noted.api !== api || !good(noted)) return;
              look = look.filter(other => other !== each);
              resolve();
            };
            look = [...look, each];
          }),
      );
      await Promise.all(waits);
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(all);
    },
  };
}
