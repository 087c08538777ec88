// The public URL for `pressroom doctor`: whether it leads to this installation, and its certificate.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';
import { checkError, checkPassed, checkWarning, type DoctorCheck } from './doctor-check.ts';

export interface CertificateFacts {
  validFrom: Date;
  validTo: Date;
  /** Why Node does not trust the chain, such as `SELF_SIGNED_CERT_IN_CHAIN`. */
  untrusted: string | undefined;
  /** The certificate is for other names. */
  otherNames: boolean;
}

export interface PublicUrlFacts {
  url: string;
  /** PRESSROOM_PUBLIC_URL is set. */
  isSet: boolean;
  /**
   * `leads to`: the public URL that the API behind it has. Undefined: the server is not an API of
   * Pressroom.
   */
  reached: { status: number; leadsTo: string | undefined } | { error: string };
  certificate: CertificateFacts | undefined;
}

const TIMEOUT_MS = 5_000;
/** The OpenAPI document has 100 KB. */
const MAX_BYTES = 4 * 2 ** 20;
const DAY_MS = 24 * 3600e3;
/** Let's Encrypt renews 30 days before the end. */
const DAYS_LEFT_WARNING = 14;

function certificateOf(socket: TLSSocket, host: string): CertificateFacts | undefined {
  const certificate = socket.getPeerCertificate() as PeerCertificate | Record<string, never>;
  if (!certificate.valid_to) return undefined;
  const { authorizationError } = socket;
  return {
    validFrom: new Date(certificate.valid_from),
    validTo: new Date(certificate.valid_to),
    untrusted: authorizationError ? String(authorizationError) : undefined,
    otherNames: checkServerIdentity(host, certificate as PeerCertificate) !== undefined,
  };
}

/** The public URL in an OpenAPI document of Pressroom. */
function serverIn(document: string): string | undefined {
  try {
    const { info, servers } = JSON.parse(document) as {
      info?: { title?: string };
      servers?: { url?: string }[];
    };
    return info?.title?.includes('Pressroom') ? servers?.[0]?.url : undefined;
  } catch {
    return undefined;
  }
}

/** Sends nothing secret, so an untrusted certificate does not end the request. Never rejects. */
export function publicUrlFacts(url: string, isSet: boolean): Promise<PublicUrlFacts> {
  const { promise, resolve } = Promise.withResolvers<PublicUrlFacts>();
  const target = new URL(`${url}/openapi.json`);
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const isHttps = target.protocol === 'https:';
  let certificate: CertificateFacts | undefined;
  const ended = (reached: PublicUrlFacts['reached']) =>
    resolve({ url, isSet, reached, certificate });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const call = isHttps
    ? httpsRequest(target, { agent: false, rejectUnauthorized: false, signal })
    : httpRequest(target, { agent: false, signal });
  call.on('socket', socket =>
    socket.on('secureConnect', () => {
      certificate = certificateOf(socket as TLSSocket, host);
    }),
  );
  call.on('response', async response => {
    try {
      let document = '';
      for await (const chunk of response.setEncoding('utf8')) {
        document += chunk;
        if (document.length > MAX_BYTES) break;
      }
      ended({ status: response.statusCode!, leadsTo: serverIn(document) });
    } catch (error) {
      ended({ error: (error as Error).message });
    }
  });
  call.on('error', (error: NodeJS.ErrnoException) =>
    ended({
      error: signal.aborted
        ? `no response within ${TIMEOUT_MS / 1_000} s`
        : (error.code ?? error.message),
    }),
  );
  call.end();
  return promise;
}

export function checkPublicAddress(facts: PublicUrlFacts, nowMs: number): DoctorCheck[] {
  return [leads(facts), ...certificateCheck(facts, nowMs)];
}

function leads({ url, isSet, reached }: PublicUrlFacts): DoctorCheck {
  const subject = 'Public URL';
  const { protocol, hostname } = new URL(url);
  const set = 'Set PRESSROOM_PUBLIC_URL (chart: api.publicUrl) to the URL that users open.';
  if ('error' in reached)
    return checkWarning(
      subject,
      `${url} cannot be reached from here (${reached.error}).`,
      'Open it in a browser: if that fails, correct DNS, the reverse proxy or PRESSROOM_PUBLIC_URL; otherwise only this process cannot reach it.',
    );
  if (reached.leadsTo === undefined)
    return checkError(
      subject,
      `${url} does not lead to Pressroom: /openapi.json returned ${reached.status} from another server.`,
      'Correct the reverse proxy or PRESSROOM_PUBLIC_URL, and route all paths to the API.',
    );
  if (reached.leadsTo !== url)
    return checkError(
      subject,
      `${url} leads to an installation whose public URL is ${reached.leadsTo}.`,
      set,
    );
  const local = /^(localhost|127\.|\[::1\])/.test(hostname) || hostname.endsWith('.localhost');
  if (!isSet)
    return checkWarning(
      subject,
      `PRESSROOM_PUBLIC_URL is not set, so links start with ${url} and work on this machine only.`,
      set,
    );
  if (protocol === 'http:' && !local)
    return checkWarning(
      subject,
      `${url} leads here, but uses plain HTTP: passwords and keys are sent unencrypted.`,
      'Use a reverse proxy with TLS, and set PRESSROOM_PUBLIC_URL to its https URL.',
    );
  return checkPassed(subject, `${url} leads here.`);
}

function certificateCheck({ url, certificate }: PublicUrlFacts, nowMs: number): DoctorCheck[] {
  const { protocol, host } = new URL(url);
  if (protocol !== 'https:' || !certificate) return [];
  const { validFrom, validTo, untrusted, otherNames } = certificate;
  const subject = 'Certificate';
  const days = Math.floor((validTo.getTime() - nowMs) / DAY_MS);
  const until = validTo.toISOString().slice(0, 10);
  if (validTo.getTime() <= nowMs)
    return [checkError(subject, `The certificate of ${host} expired on ${until}.`, 'Renew it.')];
  if (validFrom.getTime() > nowMs)
    return [
      checkError(
        subject,
        `The certificate of ${host} is not valid before ${validFrom.toISOString()}.`,
        'Check the clock of this machine, or replace the certificate.',
      ),
    ];
  if (otherNames)
    return [
      checkError(
        subject,
        `The certificate at ${url} is for other names than ${host}.`,
        `Use a certificate for ${host}.`,
      ),
    ];
  if (untrusted !== undefined)
    return [
      checkWarning(
        subject,
        `This process does not trust the certificate of ${host} (${untrusted}).`,
        'Send the whole chain; callers and this process must trust a private certificate authority (NODE_EXTRA_CA_CERTS for this process).',
      ),
    ];
  const message = `The certificate of ${host} is valid until ${until} (${days} days).`;
  return [
    days > DAYS_LEFT_WARNING
      ? checkPassed(subject, message)
      : checkWarning(subject, message, 'Renew it, and check its automatic renewal.'),
  ];
}
