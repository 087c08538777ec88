// Labels and descriptions of the account roles. The server defines and enforces the permissions
// (api/console/contract/permissions.ts).
import { ROLE_DESCRIPTIONS } from '../../api/console/contract/permissions.ts';
import type { Team } from '../../api/console/contract/users.ts';

export type TeamRole = Team['members'][number]['role'];

/** Ordered from most to fewest permissions. */
export const ROLE_OPTIONS: { role: TeamRole; label: string; description: string }[] = [
  { role: 'owner', label: 'Owner', description: ROLE_DESCRIPTIONS.owner },
  { role: 'admin', label: 'Admin', description: ROLE_DESCRIPTIONS.admin },
  { role: 'developer', label: 'Developer', description: ROLE_DESCRIPTIONS.developer },
  { role: 'billing', label: 'Billing', description: ROLE_DESCRIPTIONS.billing },
  { role: 'viewer', label: 'Viewer', description: ROLE_DESCRIPTIONS.viewer },
];

export const roleLabel = (role: string) =>
  ROLE_OPTIONS.find(each => each.role === role)?.label ?? role;

/** Only owners can assign the Owner role. */
export const assignableRoles = (own: string) =>
  own === 'owner' ? ROLE_OPTIONS : ROLE_OPTIONS.filter(({ role }) => role !== 'owner');
