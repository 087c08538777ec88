// Runs etcd on loopback in its own folder, without durability.
import { join } from 'node:path';
import { ownPort } from '../../fault/harness/ports.ts';
import { eventually } from '../../support/eventually.ts';
import { type LeashedProcess, startLeashed } from './leashed-process.ts';

const START_MS = 60_000;

export interface Etcd {
  readonly url: string;
  readonly process: LeashedProcess;
  /** Compacts: a watch from an older version fails with 410. */
  compact(): Promise<void>;
}

export async function startEtcd(program: string, folder: string): Promise<Etcd> {
  const [url, peers] = [
    `http://127.0.0.1:${await ownPort()}`,
    `http://127.0.0.1:${await ownPort()}`,
  ];
  const args = [
    ...[
      '--name',
      'tests',
      '--data-dir',
      join(folder, 'etcd'),
      '--unsafe-no-fsync',
      '--log-level',
      'error',
    ],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...[
      '--listen-peer-urls',
      peers,
      '--initial-advertise-peer-urls',
      peers,
      '--initial-cluster',
      `tests=${peers}`,
    ],
  ];
  const process = startLeashed('etcd', [program, ...args], join(folder, 'etcd.log'));
  const request = async (path: string, body?: object) => {
    const response = await fetch(
      `${url}${path}`,
      body && { method: 'POST', body: JSON.stringify(body) },
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`etcd returned ${response.status} for ${path}: ${text}`);
    return JSON.parse(text);
  };
  try {
    await eventually(async () => {
      if (process.alive()) await request('/health');
    }, START_MS);
    if (!process.alive()) throw new Error('it exited');
  } catch (error) {
    await process.kill();
    throw new Error(`etcd did not start (${(error as Error).message}):\n${process.logTail()}`);
  }
  return {
    url,
    process,
    compact: async () => {
      // Writes another version first, because a watch that starts at the last version would not
      // fail.
      const { header } = await request('/v3/kv/put', {
        key: Buffer.from('/tests/compacted').toString('base64'),
      });
      await request('/v3/kv/compaction', { revision: header.revision, physical: true });
    },
  };
}
