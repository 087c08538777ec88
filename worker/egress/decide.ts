// May a page go there? The whole rule of the egress guard, as a pure function over a target and the
// addresses that its name has.
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
  /** What the operator closes besides what is not public. */
  deny: Network[];
  /** The general list of ports. */
  ports: number[];
}

export type DenyReason = EgressDenied['reason'];
export type EgressDecision = { allowed: string[] } | { denied: 'address' | 'port' };

/** The guard said no: thrown on the way to a connection, never by the network. */
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
  // Who controls a name chooses its addresses: so a name opens private networks, but never this
  // machine, the link, a cloud's metadata or what is closed.
  const named = rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host;
  return named && !closed && (isPublicAddress(address) || isPrivateUseAddress(address));
}

const rulesFor = ({ policy, allow }: Rules) => (policy === 'intranet' ? allow : []);

/** Whether any rule could let a page use this port: asked before a name is looked up. */
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
 * Decides over one connection. `addresses` are all that the name has (or the literal itself); the
 * ones to dial come back normalised. One that is not allowed refuses them all: a public answer
 * beside a private one is how rebinding starts.
 */
export function decideEgress(target: Target, addresses: string[], rules: Rules): EgressDecision {
  const judged = addresses.map(address => ({
    address: normalizeAddress(address) ?? address,
    verdict: judge(address, target, rules),
  }));
  const allowed = judged
    .filter(({ verdict }) => verdict === 'allowed')
    .map(({ address }) => address);
  // Nobody answered for localhost: its two addresses are ours, so one of them being open is enough.
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
