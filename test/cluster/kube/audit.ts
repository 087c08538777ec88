// Reads the requests of clients from the audit log of an API server.
import { readFile, writeFile } from 'node:fs/promises';

export interface AuditedRequest {
  /** The first part of its `User-Agent`: `kubectl` of `kubectl/v1.34.4 (linux/amd64) …`. */
  agent: string;
  /** Such as `system:serviceaccount:pressroom:controller`. */
  user: string;
  /** The RBAC verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  verb: string;
  /** Including the subresource: `browserpools/status`. Empty for paths such as /readyz. */
  resource: string;
  namespace: string;
  name: string;
  /** The response status; 0 for an open watch. */
  status: number;
  /** Arrival time in ms since 1970. */
  atMs: number;
}

/** Requests of the API server to itself are not logged. */
export const writeAuditPolicy = (file: string): Promise<void> =>
  writeFile(
    file,
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [{ level: 'None', users: ['system:apiserver'] }, { level: 'Metadata' }],
    }),
  );

interface Line {
  auditID: string;
  stage: string;
  verb: string;
  userAgent?: string;
  user: { username?: string };
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  requestReceivedTimestamp: string;
}

/**
 * The requests in order of arrival. A request is logged after its response, so the last ones may be
 * missing briefly.
 */
export async function readAudit(file: string): Promise<AuditedRequest[]> {
  const requests = new Map<string, AuditedRequest>();
  // The last line may be incomplete.
  for (const text of (await readFile(file, 'utf8')).split('\n').slice(0, -1)) {
    const line = JSON.parse(text) as Line;
    const { resource = '', subresource, namespace = '', name = '' } = line.objectRef ?? {};
    // A watch has two lines: its start and its end.
    requests.set(line.auditID, {
      agent: line.userAgent?.split('/')[0] ?? '',
      user: line.user.username ?? '',
      verb: line.verb,
      resource: subresource ? `${resource}/${subresource}` : resource,
      namespace,
      name,
      status: line.stage === 'ResponseStarted' ? 0 : (line.responseStatus?.code ?? 0),
      atMs: Date.parse(line.requestReceivedTimestamp),
    });
  }
  return [...requests.values()].sort((one, other) => one.atMs - other.atMs);
}

/**
 * Counts requests by fields, such as `{'patch deployments': 2}` for `countBy(requests, 'verb',
 * 'resource')`.
 */
export function countBy(
  requests: readonly AuditedRequest[],
  ...fields: (keyof AuditedRequest)[]
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const request of requests) {
    const kind = fields.map(field => request[field]).join(' ');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
