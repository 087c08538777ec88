// The variables of the first administrator. Owns that both are given, and what they may be.
import { z } from 'zod';
import { ConfigError, secret, textVariable } from '../../../common/config.ts';
import { emailText } from '../contract/common.ts';
import { newPassword } from '../contract/users.ts';

export interface FirstAdmin {
  email: string;
  /** As it was written. */
  password: string;
}

export const adminVariables = z.object({
  PRESSROOM_ADMIN_EMAIL: textVariable(undefined, 'an email address').describe(
    'The first administrator, made at the start when nobody has this address; the password must be given too. Without both, the log shows a link that works once.',
  ),
  PRESSROOM_ADMIN_PASSWORD: secret(12).describe(
    "The first administrator's password. Whoever exists already keeps their own.",
  ),
});

/** Throws ConfigError. */
export function readAdminConfig(e: z.output<typeof adminVariables>): FirstAdmin | undefined {
  // `text` without a fallback gives none, whatever its type says.
  const written = e.PRESSROOM_ADMIN_EMAIL as string | undefined;
  const password = e.PRESSROOM_ADMIN_PASSWORD;
  if (written === undefined && password === undefined) return undefined;
  if (written === undefined || password === undefined)
    throw new ConfigError(
      `PRESSROOM_ADMIN_EMAIL and PRESSROOM_ADMIN_PASSWORD (or PRESSROOM_ADMIN_PASSWORD_FILE) belong together: ${written === undefined ? 'the first' : 'the second'} is missing`,
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
