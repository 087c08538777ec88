// A certificate authority of one cluster, in a folder of its own. Needs openssl, since Node makes
// no certificates.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Certificate {
  certFile: string;
  keyFile: string;
}

export interface Authority extends Certificate {
  /**
   * A certificate with a key of its own, for servers and clients. Its common name is `name` (for
   * Kubernetes: the user), its organisations are the user's groups, and `hosts` are names and IPv4
   * addresses that it speaks for.
   */
  issue(
    file: string,
    about: { name: string; organisations?: string[]; hosts?: string[] },
  ): Promise<Certificate>;
}

const DAYS = '2';

/**
 * Beside the machine's own settings of openssl, which add extensions that do not belong into every
 * certificate.
 */
const SETTINGS = `[req]
distinguished_name = subject
x509_extensions = authority
[subject]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = serverAuth, clientAuth
authorityKeyIdentifier = keyid
`;

export async function createAuthority(folder: string): Promise<Authority> {
  const settings = join(folder, 'openssl.cnf');
  await writeFile(settings, SETTINGS);
  const files = (name: string) => ({
    certFile: join(folder, `${name}.crt`),
    keyFile: join(folder, `${name}.key`),
  });
  const make = async (name: string, subject: string, ...more: string[]) => {
    const { certFile, keyFile } = files(name);
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      keyFile,
    ];
    await run('openssl', [
      'req',
      '-config',
      settings,
      '-x509',
      ...key,
      '-days',
      DAYS,
      '-subj',
      subject,
      '-out',
      certFile,
      ...more,
    ]);
    return { certFile, keyFile };
  };
  const own = await make('ca', '/CN=ca of the tests');
  return {
    ...own,
    issue: (file, { name, organisations = [], hosts = [] }) => {
      const names = hosts.map(host => `${/^[\d.]+$/.test(host) ? 'IP' : 'DNS'}:${host}`);
      const alternatives = names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : [];
      const subject = [...organisations.map(each => `/O=${each}`), `/CN=${name}`].join('');
      return make(
        file,
        subject,
        '-CA',
        own.certFile,
        '-CAkey',
        own.keyFile,
        '-extensions',
        'leaf',
        ...alternatives,
      );
    },
  };
}
