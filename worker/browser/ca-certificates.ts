// CA certificates that Chrome trusts in addition to the public ones: an NSS database in its home
// folder, which Chrome reads when it starts.
import { execFile } from 'node:child_process';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const LIMIT_MS = 20_000;

/** The certificates of a PEM bundle. Throws an Error when the bundle has none. */
export function certificatesIn(pem: string): string[] {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw new Error('the file contains no certificate (-----BEGIN CERTIFICATE-----)');
  return found;
}

/**
 * Creates the database in `home`, owned by `uid` if given. Throws an Error when certutil is missing
 * or rejects a certificate.
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
          'PRESSROOM_EGRESS_CA requires certutil, which is not installed. Install it (Debian, Ubuntu: libnss3-tools).',
        );
      throw new Error(`PRESSROOM_EGRESS_CA: ${what} failed: ${stderr.trim() || message}`);
    }
  };
  await certutil('creating the database', '-N', '--empty-password');
  for (const [index, certificate] of certificatesIn(pem).entries()) {
    await writeFile(file, certificate, { mode: 0o644 });
    // `C,,`: trusted to sign server certificates only.
    await certutil(
      `adding certificate ${index + 1} of the bundle`,
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
