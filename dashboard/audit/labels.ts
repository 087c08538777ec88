// Labels of the audit log. An action without a label, as of a later release, is shown by its name.

import { formatTime } from '../parts/format.ts';

const LABELS: Record<string, string> = {
  'account.created': 'Created the account',
  'account.renamed': 'Renamed the account to',
  'account.changed': 'Updated account',
  'account.deleted': 'Deleted the account',
  'key.created': 'Created an API key',
  'key.rotated': 'Rotated an API key',
  'key.revoked': 'Revoked an API key',
  'batch.canceled': 'Canceled the rest of the batch',
  'render.canceled': 'Canceled the asynchronous render',
  'renders.canceled': 'Canceled asynchronous renders',
  'renders.purged': 'Deleted requests and PDFs of expired renders',
  'invitation.created': 'Invited',
  'invitation.revoked': 'Revoked the invitation for',
  'member.joined': 'Joined the team',
  'member.left': 'Left the team',
  'member.removed': 'Removed a member',
  'member.role_changed': 'Changed the role of',
  'app.connected': 'Connected the app',
  'app.disconnected': 'Disconnected the app',
  'oauth.keys_rotated': 'Rotated the signing keys of',
  'billing.plan_changed': 'Changed the plan',
  'billing.state_changed': 'Changed the subscription state',
  'billing.checkout_opened': 'Opened the checkout for',
  'billing.portal_opened': 'Opened the billing portal',
  'operator.created': 'Created an administrator',
  'user.made_operator': 'Granted administrator access to',
  'user.unmade_operator': 'Removed administrator access from',
  'user.disabled': 'Disabled the user',
  'user.enabled': 'Enabled the user',
  'user.company_unlinked': 'Unlinked SSO for',
  'person.created': 'Created a user',
  'person.company_linked': 'Linked their SSO identity',
  'person.renamed': 'Changed their name',
  'person.signed_in': 'Signed in',
  'person.signed_out': 'Signed out',
  'person.sessions_ended': 'Ended sessions',
  'person.second_factor_failed': 'Entered an incorrect two-factor code',
  'person.recovery_code_used': 'Signed in with a recovery code',
  'person.recovery_codes_renewed': 'Generated new recovery codes',
  'person.two_factor_on': 'Turned on two-factor authentication',
  'person.two_factor_off': 'Turned off two-factor authentication',
  'person.password_changed': 'Changed their password',
  'person.password_reset': 'Reset the password of',
};

/** `key.created` -> `Created an API key`. */
export function actionLabel(action: string): string {
  const plain = action.replace(/[._]/g, ' ');
  return LABELS[action] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

type Detail = string | number | boolean | null;

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** The stored subscription states whose label differs. */
const STATES: Record<string, string> = { paused: 'suspended', past_due: 'past due' };

function valueLabel(name: string, value: Detail): string {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' && ISO_TIME.test(value)) return formatTime(value);
  return (name === 'state' ? STATES[value] : undefined) ?? String(value);
}

/** `newLast4` -> `new last4`. */
const nameLabel = (name: string) =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bip/, 'IP');

/**
 * The details on one line. `plan` with `planBefore`, or `role` with `before`, becomes
 * `plan: starter → growth`.
 */
export function detailLabel(details: Record<string, Detail>): string {
  const { before, ...others } = details;
  const names = Object.keys(others).filter(
    name => !(name.endsWith('Before') && name.slice(0, -6) in others),
  );
  const lines = names.map((name, index) => {
    const former = details[`${name}Before`] ?? (index === 0 ? before : undefined);
    const change = former === undefined ? '' : `${valueLabel(name, former)} → `;
    return `${nameLabel(name)}: ${change}${valueLabel(name, others[name]!)}`;
  });
  if (names.length === 0 && before !== undefined)
    lines.push(`before: ${valueLabel('before', before)}`);
  return lines.join(', ');
}
