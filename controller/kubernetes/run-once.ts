// Runs a one-shot command against the API server, for the hook Jobs of the chart.
import { ConfigError } from '../../common/config.ts';
import { loadKubeConfig } from './kube-config.ts';
import { KubernetesError, Transport } from './transport.ts';

/** Time limit of one call. */
const CALL_MS = 30_000;

/**
 * Prints the result of `work`. On failure it prints one line to stderr and sets the exit code to 1,
 * or to 2 for invalid arguments (ConfigError).
 */
export async function runOnce(
  work: (given: { transport: Transport; namespace: string }) => Promise<string>,
): Promise<void> {
  let transport: Transport | undefined;
  try {
    const { kubeConfig, namespace } = loadKubeConfig();
    transport = new Transport(kubeConfig, {
      timeoutMs: CALL_MS,
      userAgent: 'pressroom-setup',
      count: () => {},
    });
    process.stdout.write(`${await work({ transport, namespace })}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    if (error instanceof KubernetesError && error.status === 403)
      process.stderr.write(
        'The service account of this Job lacks a permission. Check its Role, which the chart creates.\n',
      );
    const isUsageError =
      error instanceof ConfigError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
    process.exitCode = isUsageError ? 2 : 1;
  } finally {
    transport?.close();
  }
}
