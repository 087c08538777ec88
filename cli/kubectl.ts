// Calls kubectl with the rights of its user, and says what to do when it fails.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CliError } from './failure.ts';

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 256 * 2 ** 20;

const run = promisify(execFile);

/** The first line that kubectl wrote to stderr, and its stdout. */
export class KubectlError extends Error {
  override name = 'KubectlError';
  readonly stdout: string;

  constructor(message: string, stdout: string) {
    super(message);
    this.stdout = stdout;
  }
}

/** Returns stdout. Throws KubectlError, or CliError if there is no kubectl. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  try {
    return (await run('kubectl', args, { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES })).stdout;
  } catch (error) {
    const { code, killed, stdout, stderr } = error as {
      code?: number | string;
      killed?: boolean;
      stdout?: string;
      stderr?: string;
    };
    if (code === 'ENOENT')
      throw new CliError('kubectl is not in the PATH. Install it and run this command again.');
    const line = stderr?.trim().split('\n').at(-1);
    const late = killed && `kubectl did not respond within ${TIMEOUT_MS / 1_000} s`;
    throw new KubectlError(late || line || `kubectl failed (${code})`, stdout ?? '');
  }
}

/** One sentence with the fix for a part that kubectl did not return. */
export function whyLeftOut({ message }: Error): string {
  const [, verb, resource] = /\(Forbidden\).* cannot (\w+) resource "([^"]+)"/.exec(message) ?? [];
  if (verb)
    return `your user has no right to \`${verb}\` \`${resource}\`. Ask for this right and run the command again.`;
  return `${message.replace(/\.$/, '')}. Run the command again when this is fixed.`;
}

/** Versions of kubectl and of the cluster. Throws CliError if the cluster cannot be reached. */
export async function clusterVersions(): Promise<{ kubectl?: string; kubernetes?: string }> {
  try {
    const { clientVersion, serverVersion } = JSON.parse(
      await kubectl('version', '--request-timeout=15s', '--output=json'),
    ) as Record<string, { gitVersion?: string } | undefined>;
    return {
      ...(clientVersion?.gitVersion && { kubectl: clientVersion.gitVersion }),
      ...(serverVersion?.gitVersion && { kubernetes: serverVersion.gitVersion }),
    };
  } catch (error) {
    if (!(error instanceof KubectlError)) throw error;
    throw new CliError(
      `kubectl cannot reach the cluster: ${error.message.replace(/\.$/, '')}. Check the context with \`kubectl config current-context\`.`,
    );
  }
}
