// Who asked an API server for what, by its audit log.
import { readFile, writeFile } from 'node:fs/promises';

export interface AuditedRequest {
  /** The name in front of its `User-Agent`: `kubectl` of `kubectl/v1.34.4 (linux/amd64) …`. */
  agent: string;
  /** Such as `system:serviceaccount:pressroom:controller`. */
  user: string;
  /** As RBAC says it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  verb: string;
  /** With its subresource: `browserpools/status`. Empty for paths such as /readyz. */
  resource: string;
  namespace: string;
  name: string;
  /** The status of the answer; 0 for a watch that is open. */
  status: number;
  /** When it arrived, in ms since 1970. */
  atMs: number;
}

/** What the API server asks itself is left out. */
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
 * In the order of their arrival. A request is written when its answer is out, so the last ones may
 * be missing for a moment.
 */
export async function readAudit(file: string): Promise<AuditedRequest[]> {
  const requests = new Map<string, AuditedRequest>();
  // The last line may not be finished.
  for (const text of (await readFile(file, 'utf8')).split('\n').slice(0, -1)) {
    const line = JSON.parse(text) as Line;
    const { resource = '', subresource, namespace = '', name = '' } = line.objectRef ?? {};
    // Of a watch there are two lines: when it began, and when it was over.
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
 * How many there were of each kind, such as `{'patch deployments': 2}` for `countBy(requests,
 * 'verb', 'resource')`.
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
