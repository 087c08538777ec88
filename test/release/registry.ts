// A container registry without TLS that keeps everything in a folder.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kubeBinaries } from '../cluster/kube/binaries.ts';
import { startLeashed } from '../cluster/kube/leashed-process.ts';
import { ownPort } from '../fault/harness/ports.ts';
import { eventually } from '../support/eventually.ts';

const START_MS = 60_000;

export interface Registry {
  /** Such as `127.0.0.1:5000`. */
  host: string;
  stop(): Promise<void>;
}

/** Two registries may serve one folder, at different addresses. */
export async function startRegistry(folder: string, address = '127.0.0.1'): Promise<Registry> {
  const { registry } = await kubeBinaries(['registry']);
  const host = `${address}:${await ownPort()}`;
  await mkdir(folder, { recursive: true });
  const config = join(folder, `config-${address}.yaml`);
  await writeFile(
    config,
    JSON.stringify({
      version: '0.1',
      log: { level: 'warn' },
      storage: { filesystem: { rootdirectory: folder } },
      http: { addr: host },
    }),
  );
  const log = join(folder, `registry-${address}.log`);
  // Without OpenTelemetry, which sends traces to a collector.
  const env = { OTEL_TRACES_EXPORTER: 'none' };
  const process = startLeashed('registry', [registry, 'serve', config], log, env);
  await eventually(async () => {
    if (process.alive()) await fetch(`http://${host}/v2/`);
  }, START_MS);
  if (!process.alive()) throw new Error(`the registry exited at startup:\n${process.logTail()}`);
  return { host, stop: () => process.kill() };
}
