// Certificate authorities that Chrome trusts besides the public ones: a database of NSS in its home
// folder, which it reads at its start.
import { execFile } from 'node:child_process';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const LIMIT_MS = 20_000;

/** The certificates of a bundle. Throws an Error when there is none in it. */
export function certificatesIn(pem: string): string[] {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw new Error('the file has no certificate (-----BEGIN CERTIFICATE-----)');
  return found;
}

/**
 * Makes the database in `home`, for the user `uid` when it is not the worker's own. Throws an Error
 * that says what is missing, or which certificate of the bundle is none.
 */
export async function trustCaCertificates(
  home: string,
  pem: string,
  uid: number | undefined,
): Promise<void> {
  const folder = join(home, '.pki', 'nssdb');
  const file = join(home, '.pki', 'authority.pem');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined)
    for (const path of [join(home, '.pki'), folder]) await chown(path, uid, uid);
  const certutil = async (what: string, ...args: string[]) => {
    try {
      await run('certutil', ['-d', `sql:${folder}`, ...args], {
        timeout: LIMIT_MS,
        ...(uid !== undefined && { uid, gid: uid }),
      });
    } catch (error) {
      const {
        code,
        stderr = '',
        message,
      } = error as Error & { code?: string | number; stderr?: string };
      if (code === 'ENOENT')
        throw new Error(
          'PRESSROOM_EGRESS_CA needs certutil, which is not here: install it (Debian, Ubuntu: libnss3-tools)',
        );
      throw new Error(`PRESSROOM_EGRESS_CA: ${what} is not taken: ${stderr.trim() || message}`);
    }
  };
  await certutil('the database', '-N', '--empty-password');
  for (const [index, certificate] of certificatesIn(pem).entries()) {
    await writeFile(file, certificate, { mode: 0o644 });
    // Trusted to sign the certificates of servers, and nothing else.
    await certutil(
      `certificate ${index + 1} of the bundle`,
      '-A',
      '-t',
      'C,,',
      '-n',
      `pressroom ${index + 1}`,
      '-i',
      file,
    );
  }
  await rm(file);
}
