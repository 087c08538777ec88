// The environment variables of the first administrator, and their validation.
import { z } from 'zod';
import { ConfigError, secret, textVariable } from '../../../common/config.ts';
import { emailText } from '../contract/common.ts';
import { newPassword } from '../contract/users.ts';

export interface FirstAdmin {
  email: string;
  /** Plain text. */
  password: string;
}

export const adminVariables = z.object({
  PRESSROOM_ADMIN_EMAIL: textVariable(undefined, 'an email address').describe(
    'Email of the first administrator, created at startup unless a user with this address exists. Requires `PRESSROOM_ADMIN_PASSWORD`. Without both, the log shows a one-time setup link.',
  ),
  PRESSROOM_ADMIN_PASSWORD: secret(12).describe(
    'Password of the first administrator. An existing user keeps their own.',
  ),
});

/** Throws ConfigError. */
export function readAdminConfig(e: z.output<typeof adminVariables>): FirstAdmin | undefined {
  // Without a fallback the value may be undefined, although its type is `string`.
  const written = e.PRESSROOM_ADMIN_EMAIL as string | undefined;
  const password = e.PRESSROOM_ADMIN_PASSWORD;
  if (written === undefined && password === undefined) return undefined;
  if (written === undefined || password === undefined)
    throw new ConfigError(
      `PRESSROOM_ADMIN_EMAIL and PRESSROOM_ADMIN_PASSWORD (or PRESSROOM_ADMIN_PASSWORD_FILE) must be set together: ${written === undefined ? 'the first' : 'the second'} is missing`,
    );
  const email = emailText.safeParse(written);
  if (!email.success)
    throw new ConfigError(
      `PRESSROOM_ADMIN_EMAIL=${written}: must be ${email.error.issues[0]!.message}`,
    );
  const good = newPassword.safeParse(password);
  if (!good.success)
    throw new ConfigError(
      `PRESSROOM_ADMIN_PASSWORD=(secret): must have ${good.error.issues[0]!.message}`,
    );
  return { email: email.data, password };
}
