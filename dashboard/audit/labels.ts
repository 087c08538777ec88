// Labels of the actions in the audit log. An action that is not here (of a later release) is shown
// by its name.

const LABELS: Record<string, string> = {
  'account.created': 'Made the account',
  'account.renamed': 'Renamed the account',
  'account.changed': 'Changed plan, state or reach',
  'key.created': 'Made an API key',
  'key.rotated': 'Rotated an API key',
  'key.revoked': 'Revoked an API key',
  'invitation.created': 'Invited',
  'invitation.revoked': 'Revoked the invitation of',
  'member.joined': 'Joined the team',
  'member.left': 'Left the team',
  'member.removed': 'Removed from the team',
  'member.role_changed': 'Changed the role of',
  'app.connected': 'Connected the app',
  'app.disconnected': 'Disconnected the app',
  'oauth.keys_rotated': 'Rotated the keys of',
  'billing.plan_changed': 'The plan changed',
  'billing.state_changed': 'The subscription changed',
  'billing.checkout_opened': 'Went to pay for a plan',
  'billing.portal_opened': 'Opened the billing portal',
  'operator.created': 'Made an operator',
  'user.made_operator': 'Made an operator',
  'user.unmade_operator': 'Took operator rights from',
  'user.disabled': 'Disabled',
  'user.enabled': 'Enabled again',
  'user.company_unlinked': 'Ended the company’s sign-in of',
  'person.created': 'Made a person',
  'person.company_linked': 'Linked to the company’s sign-in',
  'person.renamed': 'Changed their name',
  'person.signed_in': 'Signed in',
  'person.signed_out': 'Signed out',
  'person.sessions_ended': 'Ended sessions',
  'person.second_factor_failed': 'Entered a wrong code at the sign-in',
  'person.recovery_code_used': 'Signed in by a recovery code',
  'person.recovery_codes_renewed': 'Made new recovery codes',
  'person.two_factor_on': 'Switched the second factor on',
  'person.two_factor_off': 'Switched the second factor off',
  'person.password_changed': 'Changed their password',
  'person.password_reset': 'Reset the password of',
};

/** `key.created` -> `Made an API key`. */
export function actionLabel(action: string): string {
  const plain = action.replace(/[._]/g, ' ');
  return LABELS[action] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

type Detail = string | number | boolean | null;

const shown = (value: Detail) =>
  value === null || value === ''
    ? 'none'
    : value === true
      ? 'yes'
      : value === false
        ? 'no'
        : String(value);
/** `newLast4` -> `new last4`. */
const named = (name: string) => name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();

/**
 * The details in a line; `plan` with `planBefore`, and `role` with `before`, become `plan: starter
 * → growth`.
 */
export function detailLabel(details: Record<string, Detail>): string {
  const { before, ...others } = details;
  const names = Object.keys(others).filter(
    name => !(name.endsWith('Before') && name.slice(0, -6) in others),
  );
  const lines = names.map((name, index) => {
    const former = details[`${name}Before`] ?? (index === 0 ? before : undefined);
    return `${named(name)}: ${former === undefined ? '' : `${shown(former)} → `}${shown(others[name]!)}`;
  });
  if (names.length === 0 && before !== undefined) lines.push(`before: ${shown(before)}`);
  return lines.join(', ');
}
