// Creates self-signed certificates for test servers.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

/**
 * Creates a certificate in `folder` for these names (`DNS:…`, `IP:…`); the first one is also the
 * subject. Returns PEM. Throws when openssl is not installed.
 */
export function selfSigned(
  folder: string,
  names: readonly [string, ...string[]],
): { key: string; cert: string } {
  const about = [
    '-subj',
    `/CN=${names[0].replace(/^\w+:/, '')}`,
    '-addext',
    `subjectAltName=${names.join()}`,
  ];
  execFileSync(
    'openssl',
    ['req', '-x509', ...KEY, '-keyout', 'key.pem', '-out', 'cert.pem', ...about],
    { cwd: folder, stdio: 'pipe' },
  );
  const [key, cert] = ['key.pem', 'cert.pem'].map(file =>
    readFileSync(join(folder, file), 'utf8'),
  ) as [string, string];
  return { key, cert };
}

/** A certificate that ended yesterday. Otherwise as `selfSigned`. */
export function expiredCertificate(folder: string): { key: string; cert: string } {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const request = ['-out', 'request.pem', '-subj', '/CN=localhost'];
  openssl('req', ...KEY.slice(0, -2), '-new', '-keyout', 'old-key.pem', ...request);
  const issue = ['-signkey', 'old-key.pem', '-days', '-1', '-out', 'old.pem'];
  openssl('x509', '-req', '-in', 'request.pem', ...issue);
  return {
    key: readFileSync(join(folder, 'old-key.pem'), 'utf8'),
    cert: readFileSync(join(folder, 'old.pem'), 'utf8'),
  };
}
