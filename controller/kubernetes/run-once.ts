// A command that speaks to the API server once and ends: for the hooks of the chart.
import { ConfigError } from '../../common/config.ts';
import { loadKubeConfig } from './kube-config.ts';
import { KubernetesError, Transport } from './transport.ts';

/** The longest that one call may take. */
const CALL_MS = 30_000;

/**
 * Prints what `work` resolves with. What goes wrong is one line on stderr and exit code 1, or 2
 * when it was asked wrongly (a ConfigError).
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
        'The service account of this Job may not do that: its Role comes with the chart.\n',
      );
    const wrongly =
      error instanceof ConfigError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
    process.exitCode = wrongly ? 2 : 1;
  } finally {
    transport?.close();
  }
}
