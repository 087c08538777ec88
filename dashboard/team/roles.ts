// Labels of the roles in an account. The server's list decides what each may do
// (api/console/contract/permissions.ts).
import type { Team } from '../../api/console/contract/users.ts';

export type TeamRole = Team['members'][number]['role'];

/** From the one who may do most. */
export const ROLE_OPTIONS: { role: TeamRole; label: string; may: string }[] = [
  { role: 'owner', label: 'Owner', may: 'Everything, and who else is an owner' },
  { role: 'admin', label: 'Admin', may: 'Everything but paying and owners' },
  { role: 'developer', label: 'Developer', may: 'Keys, renders, playground and usage' },
  { role: 'billing', label: 'Billing', may: 'Plan, invoices and usage' },
  { role: 'viewer', label: 'Viewer', may: 'Sees keys, renders and usage; changes nothing' },
];

export const roleLabel = (role: string) =>
  ROLE_OPTIONS.find(each => each.role === role)?.label ?? role;

/** Only an owner makes owners. */
export const rolesToGive = (own: string) =>
  own === 'owner' ? ROLE_OPTIONS : ROLE_OPTIONS.filter(({ role }) => role !== 'owner');
