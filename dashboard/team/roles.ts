// Labels and descriptions of the account roles. A test compares the descriptions with those of the
// server (api/console/contract/permissions.ts).
import type { Team } from '../../api/console/contract/users.ts';

export type TeamRole = Team['members'][number]['role'];

/** Ordered from most to fewest permissions. */
export const ROLE_OPTIONS: { role: TeamRole; label: string; description: string }[] = [
  { role: 'owner', label: 'Owner', description: 'Full access, including managing owners' },
  { role: 'admin', label: 'Admin', description: 'Full access except billing and managing owners' },
  { role: 'developer', label: 'Developer', description: 'API keys, renders, playground and usage' },
  { role: 'billing', label: 'Billing', description: 'Plan, invoices and usage' },
  {
    role: 'viewer',
    label: 'Viewer',
    description: 'Read-only access to API keys, renders and usage',
  },
];

export const roleLabel = (role: string) =>
  ROLE_OPTIONS.find(each => each.role === role)?.label ?? role;

/** Only owners can assign the Owner role. */
export const assignableRoles = (own: string) =>
  own === 'owner' ? ROLE_OPTIONS : ROLE_OPTIONS.filter(({ role }) => role !== 'owner');
