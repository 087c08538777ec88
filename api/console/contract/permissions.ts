// The permissions of each role in an account. The server checks them on every route; the dashboard
// only hides what would be rejected.
import type { Role } from '../../store/console-documents.ts';

export const PERMISSIONS = [
  'account.read',
  'account.rename',
  'keys.read',
  'keys.write',
  'renders.read',
  'renders.write',
  'playground.render',
  'usage.read',
  'billing.read',
  'billing.write',
  'team.read',
  'team.write',
  'audit.read',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const READS: Permission[] = [
  'account.read',
  'keys.read',
  'renders.read',
  'usage.read',
  'team.read',
];

/** Changing owners also requires the role owner, which is checked where roles change. */
export const MAY: Record<Role, readonly Permission[]> = {
  owner: PERMISSIONS,
  admin: PERMISSIONS.filter(permission => permission !== 'billing.write'),
  developer: [...READS, 'keys.write', 'renders.write', 'playground.render'],
  billing: ['account.read', 'usage.read', 'team.read', 'billing.read', 'billing.write'],
  viewer: READS,
};

/** Those of an operator in every account. They do not include downloads of PDFs. */
export const OPERATOR_MAY: readonly Permission[] = PERMISSIONS.filter(permission =>
  permission.endsWith('.read'),
);

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: 'Full access, including managing owners',
  admin: 'Full access except billing and managing owners',
  developer: 'API keys, renders, playground and usage',
  billing: 'Plan, invoices and usage',
  viewer: 'Read-only access to API keys, renders and usage',
};
