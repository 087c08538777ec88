// Opens a TCP connection to one of the checked addresses. Resolves no names.
import { connect, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { normalizeAddress } from '../../common/addresses.ts';

export interface DialLimits {
  timeoutMs: number;
  signal: AbortSignal;
}

const FAMILY_HEAD_START_MS = 250; // RFC 8305 section 8
const MAX_ADDRESSES = 8; // prevents a network scan through a name with thousands of addresses

/**
 * A lookup function that returns the checked addresses. node:net tries them in turn, with
 * alternating families (RFC 8305).
 */
const answering = (addresses: string[]): LookupFunction => {
  const all = addresses
    .slice(0, MAX_ADDRESSES)
    .map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, done) =>
    options.all ? done(null, all) : done(null, all[0]!.address, all[0]!.family);
};

const noConnection = (timeoutMs: number) =>
  Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: 'ETIMEDOUT' });

/**
 * Returns a connected socket or throws the network's error. `addresses` are normalised. The signal
 * and the timeout end the attempt.
 */
export function dial(
  addresses: string[],
  port: number,
  { timeoutMs, signal }: DialLimits,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({
      host: 'checked.invalid', // never resolved: `lookup` returns the addresses
      port,
      lookup: answering(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: FAMILY_HEAD_START_MS,
      noDelay: true,
    });
    const timer = setTimeout(() => socket.destroy(noConnection(timeoutMs)), timeoutMs);
    const onAbort = () => socket.destroy(new Error('the connection attempt was aborted'));
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // This listener stays, so that no later error is unhandled. Users of the socket watch `close`.
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
