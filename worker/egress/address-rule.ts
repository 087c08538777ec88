// The complete rule of the egress guard, as a pure function of a target and the addresses of its
// name.
import {
  inNetwork,
  isPrivateUseAddress,
  isPublicAddress,
  type Network,
  normalizeAddress,
} from '../../common/addresses.ts';
import type { EgressDenied } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import type { AllowRule } from './allow-list.ts';
import { isLoopbackName, type Target } from './target.ts';

export interface Rules {
  policy: EgressPolicy;
  allow: AllowRule[];
  /** Networks that are blocked in addition to all that is not public. */
  deny: Network[];
  /** The ports of PRESSROOM_EGRESS_PORTS. */
  ports: number[];
}

export type DenyReason = EgressDenied['reason'];
export type EgressDecision = { allowed: string[] } | { denied: 'address' | 'port' };

/** Thrown when the guard blocks a connection, never for a network error. */
export class Denied extends Error {
  override name = 'Denied';
  readonly reason: DenyReason;

  constructor(reason: DenyReason) {
    super(`refused by the egress guard: ${reason}`);
    this.reason = reason;
  }
}

const isClosed = (address: string, { deny }: Rules) =>
  deny.some(network => inNetwork(address, network));

function ruleReaches(rule: AllowRule, host: string, address: string, closed: boolean): boolean {
  if (rule.kind === 'network') return inNetwork(address, rule.network);
  // The owner of a name chooses its addresses. A name therefore allows private networks, but never
  // loopback, link-local, cloud metadata or denied addresses.
  const named = rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host;
  return named && !closed && (isPublicAddress(address) || isPrivateUseAddress(address));
}

const rulesFor = ({ policy, allow }: Rules) => (policy === 'intranet' ? allow : []);

/** Whether any rule may allow this port. Checked before the name is resolved. */
export const portMayBeOpen = (port: number, rules: Rules) =>
  rules.ports.includes(port) || rulesFor(rules).some(rule => rule.port === port);

function judge(
  address: string,
  { host, port }: Target,
  rules: Rules,
): 'allowed' | 'address' | 'port' {
  const listed = rules.ports.includes(port);
  const closed = isClosed(address, rules);
  const reaching = rulesFor(rules).filter(rule =>
    ruleReaches(rule, host, normalizeAddress(address) ?? '', closed),
  );
  const known = isPublicAddress(address) && !closed;
  if (known && listed) return 'allowed';
  if (reaching.some(rule => (rule.port === undefined ? listed : rule.port === port)))
    return 'allowed';
  return known || reaching.length > 0 ? 'port' : 'address';
}

/**
 * Decides about one connection. `addresses` are all addresses of the name, or the literal itself.
 * Returns the addresses to dial, normalised. One blocked address blocks them all, since a public
 * and a private answer together are a sign of DNS rebinding.
 */
export function decideEgress(target: Target, addresses: string[], rules: Rules): EgressDecision {
  const judged = addresses.map(address => ({
    address: normalizeAddress(address) ?? address,
    verdict: judge(address, target, rules),
  }));
  const allowed = judged
    .filter(({ verdict }) => verdict === 'allowed')
    .map(({ address }) => address);
  // localhost is not resolved: its two addresses are built in, so one allowed address is enough.
  const enough = isLoopbackName(target.host)
    ? allowed.length > 0
    : allowed.length === judged.length;
  if (enough && allowed.length > 0) return { allowed };
  return {
    denied:
      judged.length > 0 && judged.every(({ verdict }) => verdict !== 'address')
        ? 'port'
        : 'address',
  };
}
