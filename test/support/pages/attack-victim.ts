// A target that no page may reach: one port on TCP and UDP on every address of this machine.
// Records every contact.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isPublicAddress } from '../../../common/addresses.ts';

export interface AttackVictim {
  port: number;
  /** Addresses of the victim, none of which is public. */
  addresses: string[];
  /** The contacts so far, as `tcp to address` and `udp from address`. */
  touched: string[];
  close(): Promise<void>;
}

/** The network addresses of the machine without public ones, which the guard allows. */
const ownAddresses = () =>
  Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ address, internal, scopeid }) => !internal && !scopeid && !isPublicAddress(address))
    .map(({ address }) => address);

const hasIPv6 = () =>
  Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .some(({ address }) => address === '::1');

export async function startAttackVictim(): Promise<AttackVictim> {
  const six = hasIPv6();
  const any = six ? '::' : '0.0.0.0';
  const touched: string[] = [];
  const tcp = createServer(socket => {
    touched.push(`tcp to ${socket.localAddress}`);
    socket.on('error', () => {}).destroy();
  });
  await new Promise<void>((resolve, reject) => tcp.once('error', reject).listen(0, any, resolve));
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket(six ? 'udp6' : 'udp4', (_message, from) =>
    touched.push(`udp from ${from.address}`),
  );
  udp.bind(port, any);
  await once(udp, 'listening');
  const everywhere = [
    '127.0.0.1',
    '127.0.0.2',
    '0.0.0.0',
    '127.255.255.254',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    ...ownAddresses(),
  ];
  return {
    port,
    addresses: six ? everywhere : everywhere.filter(address => !isIPv6(address)),
    touched,
    close: async () => {
      await Promise.all([
        new Promise(resolve => tcp.close(resolve)),
        new Promise<void>(resolve => udp.close(resolve)),
      ]);
    },
  };
}
