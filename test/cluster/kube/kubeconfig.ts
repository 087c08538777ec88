// Writes kubeconfig files.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Access {
  /** Such as `https://127.0.0.1:16443`. */
  server: string;
  caFile: string;
  token: string;
}

/** Writes a kubeconfig (JSON, which is valid YAML) to `folder` and returns its path. */
export async function writeKubeconfig(
  folder: string,
  { server, caFile, token }: Access,
): Promise<string> {
  const file = join(folder, `kubeconfig-${randomBytes(4).toString('hex')}`);
  const name = 'tests';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
