// Opens a TCP connection to one of the addresses that were checked, and to no other: there is no
// look-up here.
import { connect, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { normalizeAddress } from '../../common/addresses.ts';

export interface DialLimits {
  timeoutMs: number;
  signal: AbortSignal;
}

const FAMILY_HEAD_START_MS = 250; // RFC 8305 section 8
const MAX_ADDRESSES = 8; // a name with thousands of addresses must not be a port scan

/**
 * Net takes the checked addresses for the answer to its look-up and tries them in turn, the
 * families alternating (RFC 8305).
 */
const answering = (addresses: string[]): LookupFunction => {
  const all = addresses
    .slice(0, MAX_ADDRESSES)
    .map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, done) =>
    options.all ? done(null, all) : done(null, all[0]!.address, all[0]!.family);
};

/**
 * A connected socket, or the network's error. `addresses` are normalised; the signal and the time
 * limit end the attempt.
 */
export function dial(
  addresses: string[],
  port: number,
  { timeoutMs, signal }: DialLimits,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({
      host: 'checked.invalid', // never looked up: `lookup` answers
      port,
      lookup: answering(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: FAMILY_HEAD_START_MS,
      noDelay: true,
    });
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const onAbort = () => socket.destroy(new Error('the connection is no longer wanted'));
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // This listener stays: a socket's error is always heard. Who uses the socket watches `close`.
    socket.on('error', error => {
      settled();
      reject(error);
    });
    socket.once('connect', () => {
      settled();
      if (addresses.includes(normalizeAddress(socket.remoteAddress ?? '') ?? ''))
        return resolve(socket);
      socket.destroy(new Error(`connected to ${socket.remoteAddress}, which was not checked`));
    });
  });
}
