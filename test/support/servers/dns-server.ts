// A DNS server on loopback (UDP and TCP) whose records a test sets. Other names do not exist.
import { createSocket } from 'node:dgram';
import { createServer, isIPv6, type Socket } from 'node:net';
import {
  type Answer,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  streamDecode,
  streamEncode,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

/** Returns the records for the `nth` query (from 1) of this type and name. */
export type Records = (type: string, nth: number) => Answer[];
type Behaviour = string[] | 'silent' | 'servfail' | Records;

export interface DnsServer {
  /** `127.0.0.1:port`, as PRESSROOM_DNS_SERVERS takes it. */
  readonly address: string;
  /** Sets the addresses of the name: IPv4 for A and IPv6 for AAAA queries. */
  set(name: string, ...addresses: string[]): void;
  /** Sets a function that returns the records of the name, such as aliases. */
  answer(name: string, records: Records): void;
  /** Makes queries for the name time out or fail, for both types unless `type` is set. */
  misbehave(name: string, how: 'silent' | 'servfail', type?: 'A' | 'AAAA'): void;
  /** Number of A and AAAA queries for the name, or of all queries. */
  queries(name?: string): number;
  /** Resolves at the next query for the name. */
  asked(name: string): Promise<void>;
  close(): Promise<void>;
}

const NXDOMAIN = 3;
const SERVFAIL = 2;
const UDP_BYTES = 512; // RFC 1035: longer answers are cut and asked for again by TCP

export async function startDnsServer(): Promise<DnsServer> {
  const behaviours = new Map<string, Behaviour>();
  const asked: string[] = [];
  const waiting = new Map<string, () => void>();
  const sockets = new Set<Socket>();

  const counts = new Map<string, number>();
  const counted = (question: string) => {
    counts.set(question, (counts.get(question) ?? 0) + 1);
    return counts.get(question)!;
  };

  const answersOf = (name: string, type: string): Behaviour | undefined => {
    const behaviour = behaviours.get(`${name} ${type}`) ?? behaviours.get(name);
    return Array.isArray(behaviour)
      ? behaviour.filter(address => isIPv6(address) === (type === 'AAAA'))
      : behaviour;
  };

  /** Returns undefined when the query must not be answered. */
  function reply(query: Packet): Packet | undefined {
    const question = query.questions![0]!;
    const name = question.name.toLowerCase();
    asked.push(name);
    waiting.get(name)?.();
    waiting.delete(name);
    const behaviour = answersOf(name, question.type);
    if (behaviour === 'silent') return undefined;
    const code = behaviour === undefined ? NXDOMAIN : behaviour === 'servfail' ? SERVFAIL : 0;
    const addresses = Array.isArray(behaviour) ? behaviour : [];
    const nth = counted(`${name} ${question.type}`);
    const answers =
      typeof behaviour === 'function'
        ? behaviour(question.type, nth)
        : addresses.map(
            data => ({ type: question.type, name: question.name, ttl: 300, data }) as Answer,
          );
    return {
      id: query.id ?? 0,
      type: 'response',
      flags: RECURSION_DESIRED | RECURSION_AVAILABLE | code,
      questions: query.questions!,
      answers,
    };
  }

  const udp = createSocket('udp4', (message, from) => {
    const answer = reply(decode(message));
    if (!answer) return;
    const whole = encode(answer);
    const cut = () => encode({ ...answer, answers: [], flags: answer.flags! | TRUNCATED_RESPONSE });
    udp.send(whole.length > UDP_BYTES ? cut() : whole, from.port, from.address);
  });
  const tcp = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const length = 2 + received.readUInt16BE(0);
        const answer = reply(streamDecode(received.subarray(0, length))!);
        received = received.subarray(length);
        if (answer) socket.write(streamEncode(answer));
      }
    });
  });

  // Both protocols use the same port. The system picks it for TCP, where fewer ports are in use.
  await new Promise<void>(resolve => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as { port: number };
  await new Promise<void>((resolve, reject) =>
    udp.once('error', reject).bind(port, '127.0.0.1', resolve),
  );

  return {
    address: `127.0.0.1:${port}`,
    set: (name, ...addresses) => void behaviours.set(name, addresses),
    answer: (name, records) => void behaviours.set(name, records),
    misbehave: (name, how, type) => void behaviours.set(type ? `${name} ${type}` : name, how),
    queries: name =>
      name === undefined ? asked.length : asked.filter(each => each === name).length,
    asked: name => new Promise(resolve => waiting.set(name, resolve)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise(resolve => tcp.close(resolve)),
        new Promise<void>(resolve => udp.close(resolve)),
      ]);
    },
  };
}
