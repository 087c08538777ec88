// Schemas of the management API for users: profile, sessions, teams, invitations and audit log.
import { z } from 'zod';
import { ROLES } from '../../store/console-documents.ts';
import { count, cursorQuery, emailText, id, nameText, page, time } from './common.ts';
import { PERMISSIONS } from './permissions.ts';

export const role = z.enum(ROLES, { error: `one of ${ROLES.join(', ')}` });

export const billingMode = z.enum(['none', 'manual', 'stripe']);
/** An account; without a name when it was deleted. */
export const accountName = z.object({ id, name: z.string().nullable() });

export const plan = z.object({ name: z.string(), parallel: count, monthlyQuota: count.optional() });

export const me = z.object({
  user: z.object({
    id,
    email: z.string(),
    name: z.string(),
    operator: z.boolean(),
    hasPassword: z.boolean(),
    twoFactor: z.object({ on: z.boolean(), recoveryCodesLeft: count }),
    company: z.boolean().meta({ description: 'Linked to SSO.' }),
  }),
  accounts: z.array(
    z.object({ id, name: z.string(), role, permissions: z.array(z.enum(PERMISSIONS)) }),
  ),
  installation: z.object({
    version: z.string(),
    publicUrl: z.string(),
    billing: billingMode,
    companySignIn: z
      .string()
      .nullable()
      .meta({ description: 'The label of the SSO button; null when SSO is not configured.' }),
    plans: z.array(plan),
    renderLogDays: count,
    mcpUrl: z.string().nullable().meta({
      description: 'URL of the MCP endpoint for AI assistants and editors; null when MCP is off.',
    }),
    asyncRenders: z.boolean().meta({ description: 'Whether asynchronous renders are on.' }),
  }),
});
export type Me = z.output<typeof me>;

export const profileChange = z.strictObject({ name: nameText() });
/** A minimum length and no rules about characters (NIST SP 800-63B). */
export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 200;
const password = z
  .string({ error: 'a string' })
  .max(MAX_PASSWORD, `at most ${MAX_PASSWORD} characters`);
export const newPassword = password.min(MIN_PASSWORD, `at least ${MIN_PASSWORD} characters`);
export const passwordChange = z.strictObject({
  current: password.optional(),
  next: newPassword,
});
/** Confirms a change of security settings; absent for users without a password. */
export const passwordAgain = z.strictObject({ password: password.optional() });

export const sessionInfo = z.object({
  id,
  current: z.boolean(),
  method: z.enum(['password', 'company', 'setup', 'invitation']),
  createdAt: time,
  lastSeenAt: time,
  ip: z.string(),
  userAgent: z.string(),
});
export const sessions = z.object({ items: z.array(sessionInfo) });
export type SessionInfo = z.output<typeof sessionInfo>;

export const twoFactorBegun = z.object({
  secret: z.string().meta({ description: 'Base32, for manual entry in an authenticator app.' }),
  uri: z.string().meta({ description: '`otpauth://totp/…`' }),
  qrSvg: z.string().meta({ description: 'The URI as a QR code.' }),
});
export type TwoFactorBegun = z.output<typeof twoFactorBegun>;
export const code = z.strictObject({ code: z.string().trim().min(6, 'a code').max(40) });
export const recoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
export type RecoveryCodes = z.output<typeof recoveryCodes>;

export const member = z.object({
  user: id,
  name: z.string(),
  email: z.string(),
  role,
  since: time,
  lastSignInAt: time.nullable(),
  you: z.boolean(),
});
export const invitation = z.object({
  id,
  email: z.string(),
  role,
  invitedBy: z.string(),
  createdAt: time,
  expiresAt: time,
});
export const team = z.object({ members: z.array(member), invitations: z.array(invitation) });
export type Team = z.output<typeof team>;
export const newInvitation = z.strictObject({ email: emailText, role });
export const invited = z.object({
  invitation,
  link: z.string().meta({ description: 'Link to send to the person. Shown once.' }),
});
export type Invited = z.output<typeof invited>;
export const roleChange = z.strictObject({ role });

export const auditEntry = z.object({
  id,
  at: time,
  actor: z.string(),
  action: z.string(),
  target: z.string().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  ip: z.string().nullable(),
});
export const auditPage = page(auditEntry);
export type AuditPage = z.output<typeof auditPage>;
export const auditQuery = z.object(cursorQuery);
export const operatorAuditPage = page(
  auditEntry.extend({
    account: accountName.nullable().meta({ description: 'Null for entries of the installation.' }),
  }),
);
export type OperatorAuditPage = z.output<typeof operatorAuditPage>;

export const connectedApps = z.object({
  items: z.array(
    z.object({
      id,
      name: z
        .string()
        .nullable()
        .meta({ description: 'Name from the registration of the app; null when it has none.' }),
      redirect: z.string().meta({
        description:
          'Target of the redirect after consent: a host, or the custom scheme of an app.',
      }),
      scope: z.string(),
      account: accountName,
      connectedAt: time,
      lastUsedAt: time.nullable().meta({ description: 'Accurate to one minute.' }),
    }),
  ),
});
export type ConnectedApps = z.output<typeof connectedApps>;
