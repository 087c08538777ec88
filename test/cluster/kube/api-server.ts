// Runs a kube-apiserver: its keys, users, arguments, start and stop.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownPort } from '../../fault/harness/ports.ts';
import { eventually } from '../../support/eventually.ts';
import { apiRequest } from './api-request.ts';
import { writeAuditPolicy } from './audit.ts';
import { type Authority, createAuthority } from './authority.ts';
import type { Access } from './kubeconfig.ts';
import { type LeashedProcess, startLeashed } from './leashed-process.ts';

/** Startup time limit; it takes two seconds on an idle machine. */
const START_MS = 180_000;

/** Address range of Services. */
export const SERVICE_RANGE = '10.96.0.0/16';
const FIRST_SERVICE = '10.96.0.1';

/** Built-in users with their groups. Kubernetes binds its roles to these names. */
const USERS: Record<string, string[]> = {
  admin: ['system:masters'],
  'system:kube-controller-manager': [],
  'system:kube-scheduler': [],
};

export interface ApiServerOptions {
  /**
   * An address of this machine for clients outside loopback, such as pods. The server then listens
   * on all addresses.
   */
  address?: string;
  /** Additional users with their groups: `{'system:node:one': ['system:nodes']}`. */
  users?: Record<string, string[]>;
  /** Additional arguments; a later value overrides an earlier one. */
  args?: readonly string[];
}

export interface ApiServer {
  readonly authority: Authority;
  /** Signs service account tokens. */
  readonly serviceAccountKeyFile: string;
  readonly auditFile: string;
  readonly port: number;
  accessOf(user: string): Access;
  /** The current process; a restart creates another one. */
  process(): LeashedProcess;
  stop(): Promise<void>;
  /** Starts it on the same port. Resolves when it is ready. */
  start(): Promise<void>;
}

/** Creates its files in `folder` without starting it. */
export async function createApiServer(
  program: string,
  folder: string,
  etcdUrl: string,
  { address, users = {}, args = [] }: ApiServerOptions,
): Promise<ApiServer> {
  const at = (name: string) => join(folder, name);
  const port = await ownPort();
  const authority = await createAuthority(folder);
  const inside = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    FIRST_SERVICE,
  ];
  const { certFile, keyFile } = await authority.issue('apiserver', {
    name: 'kube-apiserver',
    hosts: ['127.0.0.1', 'localhost', ...inside, ...(address ? [address] : [])],
  });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(at('service-accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  const tokens = new Map(
    Object.keys({ ...USERS, ...users }).map(user => [user, randomBytes(16).toString('hex')]),
  );
  const lines = Object.entries({ ...USERS, ...users }).map(
    ([user, groups]) => `${tokens.get(user)},${user},${user},"${groups.join(',')}"`,
  );
  await writeFile(at('tokens.csv'), `${lines.join('\n')}\n`, { mode: 0o600 });
  await writeAuditPolicy(at('audit-policy.json'));

  const flags = [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${address ? '0.0.0.0' : '127.0.0.1'}`,
    `--advertise-address=${address ?? '127.0.0.1'}`,
    // A loopback address cannot be an endpoint of the Service `kubernetes`, which simulated pods do
    // not use anyway.
    ...(address ? [] : ['--endpoint-reconciler-type=none']),
    `--secure-port=${port}`,
    `--tls-cert-file=${certFile}`,
    `--tls-private-key-file=${keyFile}`,
    `--client-ca-file=${authority.certFile}`,
    `--token-auth-file=${at('tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${at('service-accounts.key')}`,
    `--service-account-key-file=${at('service-accounts.key')}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--allow-privileged=true',
    `--audit-policy-file=${at('audit-policy.json')}`,
    `--audit-log-path=${at('audit.log')}`,
    // A single file, from which requests are read.
    '--audit-log-maxsize=10000',
    ...args,
  ];
  const accessOf = (user: string): Access => {
    const token = tokens.get(user);
    if (token === undefined)
      throw new Error(`unknown user ${user}: add it to the option \`users\``);
    return { server: `https://127.0.0.1:${port}`, caFile: authority.certFile, token };
  };

  let process: LeashedProcess;
  async function start(): Promise<void> {
    process = startLeashed('kube-apiserver', [program, ...flags], at('kube-apiserver.log'));
    try {
      await eventually(async () => {
        if (!process.alive()) return;
        const { status, body } = await apiRequest(accessOf('admin'), 'GET', '/readyz?verbose');
        if (status !== 200) throw new Error(`/readyz returned ${status}: ${JSON.stringify(body)}`);
      }, START_MS);
      if (!process.alive()) throw new Error('it exited');
    } catch (error) {
      await process.kill();
      throw new Error(
        `kube-apiserver is not ready (${(error as Error).message}):\n${process.logTail()}`,
      );
    }
  }
  return {
    authority,
    serviceAccountKeyFile: at('service-accounts.key'),
    auditFile: at('audit.log'),
    port,
    accessOf,
    process: () => process,
    stop: () => process.kill(),
    start,
  };
}
