// The routes for two-factor authentication. Each requires the password or a code; changes end the
// user's other sessions.
import { invalid } from '../../../common/contract/errors.ts';
import type { UserDocument } from '../../store/store.ts';
import type { Auth } from '../auth/auth.ts';
import { code, passwordAgain, recoveryCodes, twoFactorBegun } from '../contract/users.ts';
import { type ConsoleCall, type ConsoleRoute, route } from '../kit/route.ts';
import { checkPassword, storedUser } from './me.ts';

export function twoFactorRoutes(auth: Auth): ConsoleRoute[] {
  const { twoFactor, limits, sessions, audit } = auth;

  async function checkCode(user: UserDocument, typed: string): Promise<void> {
    await limits.again(user._id, 'code');
    if (!(await twoFactor.use(user, typed)))
      throw invalid(
        '`code` is incorrect or was already used. Try the next code or a recovery code.',
      );
    await limits.againWasRight(user._id, 'code');
  }

  async function changed(
    call: Pick<ConsoleCall, 'signedIn' | 'account' | 'clientIp'>,
    action: string,
  ): Promise<void> {
    const { user, sessionId } = call.signedIn;
    const ended = await sessions.endAll(user.id, sessionId);
    await audit.record(call, { action, details: { sessionsEnded: ended } }, 'installation');
  }

  return [
    route({
      method: 'post',
      path: '/me/two-factor',
      id: 'beginTwoFactor',
      summary:
        'Start the two-factor setup. Returns a secret for an authenticator app, which must be confirmed.',
      access: 'signed-in',
      body: passwordAgain,
      answer: twoFactorBegun,
      handle: async call => {
        const user = await storedUser(auth, call.signedIn.user.id);
        await checkPassword(auth, user, 'password', call.body.password);
        return twoFactor.begin(user);
      },
    }),
    route({
      method: 'post',
      path: '/me/two-factor/confirm',
      id: 'confirmTwoFactor',
      summary:
        'Turn on two-factor authentication with a code of the app. Returns the recovery codes once. Ends your other sessions.',
      access: 'signed-in',
      body: code,
      answer: recoveryCodes,
      handle: async call => {
        const codes = await twoFactor.confirm(
          await storedUser(auth, call.signedIn.user.id),
          call.body.code,
        );
        await changed(call, 'person.two_factor_on');
        return { recoveryCodes: codes };
      },
    }),
    route({
      method: 'post',
      path: '/me/two-factor/recovery-codes',
      id: 'renewRecoveryCodes',
      summary: 'Replace your recovery codes. The new ones are returned once.',
      access: 'signed-in',
      body: code,
      answer: recoveryCodes,
      handle: async call => {
        const user = await storedUser(auth, call.signedIn.user.id);
        await checkCode(user, call.body.code);
        const codes = await twoFactor.renewRecoveryCodes(user._id);
        await audit.record(call, { action: 'person.recovery_codes_renewed' }, 'installation');
        return { recoveryCodes: codes };
      },
    }),
    route({
      method: 'delete',
      path: '/me/two-factor',
      id: 'endTwoFactor',
      summary: 'Turn off two-factor authentication. Ends your other sessions.',
      access: 'signed-in',
      body: code,
      answer: 'none',
      handle: async call => {
        const user = await storedUser(auth, call.signedIn.user.id);
        await checkCode(user, call.body.code);
        await twoFactor.off(user._id);
        await changed(call, 'person.two_factor_off');
      },
    }),
  ];
}
