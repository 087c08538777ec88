// The database of a cluster: one etcd in a folder of its own, on loopback, which need not survive a
// loss of power.
import { join } from 'node:path';
import { ownPort } from '../../fault/harness/ports.ts';
import { eventually } from '../../support/eventually.ts';
import { type LeashedProcess, startLeashed } from './leashed-process.ts';

const START_MS = 60_000;

export interface Etcd {
  readonly url: string;
  readonly process: LeashedProcess;
  /**
   * Forgets all versions but the last of each object: who resumes a watch from an older one is
   * answered 410.
   */
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
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(
      `${url}${path}`,
      body && { method: 'POST', body: JSON.stringify(body) },
    );
    const said = await answer.text();
    if (!answer.ok) throw new Error(`etcd answers ${path} with ${answer.status}: ${said}`);
    return JSON.parse(said);
  };
  try {
    await eventually(async () => {
      if (process.alive()) await ask('/health');
    }, START_MS);
    if (!process.alive()) throw new Error('it ended');
  } catch (error) {
    await process.kill();
    throw new Error(`etcd did not start (${(error as Error).message}):\n${process.lastWords()}`);
  }
  return {
    url,
    process,
    compact: async () => {
      // One more version, of nobody's: a watch that would begin at the last one is not refused,
      // since nothing of it is forgotten.
      const { header } = await ask('/v3/kv/put', {
        key: Buffer.from('/tests/compacted').toString('base64'),
      });
      await ask('/v3/kv/compaction', { revision: header.revision, physical: true });
    },
  };
}
