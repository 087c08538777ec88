// The certificate authority of one cluster. Requires openssl, because Node.js cannot create
// certificates.
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
   * Issues a certificate with a key for a server or client. The common name is `name` (the
   * Kubernetes user), the organizations are the groups, and `hosts` are DNS names and IPv4
   * addresses.
   */
  issue(
    file: string,
    about: { name: string; organisations?: string[]; hosts?: string[] },
  ): Promise<Certificate>;
}

const DAYS = '2';

/**
 * Replaces the openssl configuration of the machine, which adds extensions to every certificate.
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
