// The pages of the company's sign-in: leaving for the provider, coming back, and showing once that an address of ours is one's own.

import type { ErrorCode } from '../../../common/contract/errors.ts';
import { type Markup, markup } from '../../../common/contract/markup.ts';
import type { Log } from '../../../common/log.ts';
import type { Context } from '../../http/state.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import type { People } from '../auth/auth.ts';
import { MAX_PASSWORD } from '../contract/users.ts';
import { leadsToConsent } from '../html/consent-way.ts';
import { nextPath, withNext } from '../html/next-path.ts';
import { field, form, seeOther, sendPage } from '../html/page.ts';
import { heldBack, type PageRoute, type pageRoutes } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';
import { createSeal } from '../security/encryption.ts';
import type { Begun, CompanyProvider } from '../sso/identity-provider.ts';
import type { CompanyConfig } from '../sso/sso-config.ts';
import { beginAgain, CompanyProblem } from '../sso/sso-error.ts';
import { createCompany } from '../sso/sso-users.ts';
import type { Teams } from '../users/teams.ts';
import type { Identity } from '../users/users.ts';

/** For who must look for a phone at the provider. */
const PASSING_MS = 10 * 60_000;
const LINK = '/app/sign-in/company/link';

/** What the sealed cookie says: who left for the provider, or who came back and has not shown yet whose address it is. */
type Passing = { untilMs: number; next: string } & (
  | ({ kind: 'begun' } & Begun)
  | { kind: 'unproven'; user: string; identity: Identity; id: string }
);
type Kind<K extends Passing['kind']> = Extract<Passing, { kind: K }>;

const CODES: Record<number, ErrorCode> = { 400: 'validation_error', 403: 'forbidden', 409: 'conflict' };

interface Deps {
  people: People;
  store: Store;
  teams: Teams;
  publicUrl: string;
  secret: string;
  log: Log;
  /** Without it there are no such pages. */
  company: CompanyConfig | undefined;
}

export function companyPages({ company: config, people, secret, log, ...deps }: Deps, route: ReturnType<typeof pageRoutes>): PageRoute[] {
  if (!config) return [];
  const { name } = config;
  const { users, passwords, passwordSignIn, limits, twoFactor, entrance, setup, cookies, audit } = people;
  let loading: Promise<CompanyProvider> | undefined;
  /** Its library is loaded by the first who signs in through the company. */
  const provider = () => {
    loading ??= import('../sso/identity-provider.ts').then(({ createCompanyProvider }) =>
      createCompanyProvider({ config, publicUrl: deps.publicUrl, log }),
    );
    return loading;
  };
  const company = createCompany({ config, store: deps.store, users, teams: deps.teams, audit, log });
  const seal = createSeal(secret, 'company sign-in');

  function remember(ctx: Context, passing: Kind<'begun'> | Kind<'unproven'>): void {
    cookies.setPassing(ctx, 'company', seal.seal(JSON.stringify(passing)), PASSING_MS);
  }

  function passingOf(ctx: Context): Passing | undefined {
    const text = seal.open(cookies.passing(ctx, 'company') ?? '');
    return text === undefined ? undefined : (JSON.parse(text) as Passing);
  }

  function remembered<K extends Passing['kind']>(ctx: Context, kind: K): Kind<K> {
    const passing = passingOf(ctx);
    if (passing?.kind !== kind || passing.untilMs < Date.now()) throw beginAgain();
    return passing as Kind<K>;
  }

  /** A problem as a page; what whoever runs this installation must mend goes to the log. */
  const orProblem =
    (handle: (ctx: Context) => Promise<void>) =>
    async (ctx: Context): Promise<void> => {
      try {
        await handle(ctx);
      } catch (error) {
        if (!(error instanceof CompanyProblem)) throw error;
        const { requestId } = ctx.state;
        if (error.told) log[error.status >= 500 ? 'error' : 'warn']({ requestId, ...error.told }, 'a sign-in through the company failed');
        if (CODES[error.status]) ctx.state.code = CODES[error.status]!;
        // The callback's address does not say where the person was going.
        const next = passingOf(ctx)?.next ?? nextPath(ctx.query['next']);
        const body = markup`<p><a class="main-button" href="${withNext('/app/sign-in/company', next)}">Try again</a></p>
<p class="below"><a href="${withNext('/app/sign-in', next)}">Other ways to sign in</a></p>
<p class="hint">Request ${requestId}</p>`;
        sendPage(ctx, { title: 'You are not signed in', error: error.message, body }, error.status, { opener: leadsToConsent(next) });
      }
    };

  async function leave(ctx: Context): Promise<void> {
    // Else the first of the company would close the setup without being able to run the installation.
    if (await setup.needed()) return ctx.redirect('/app/setup');
    const { url, begun } = await (await provider()).begin();
    remember(ctx, { kind: 'begun', ...begun, next: nextPath(ctx.query['next']), untilMs: Date.now() + PASSING_MS });
    seeOther(ctx, url.href);
  }

  async function enter(ctx: Context, user: UserDocument, next: string): Promise<void> {
    const isMember = await company.arrived(user, entrance.ipOf(ctx));
    await entrance.enter(ctx, user, 'company');
    // Who came by an invitation becomes a member there; whom an app sent must be able to go back to it.
    if (isMember || user.operator || next.startsWith('/app/invitation') || leadsToConsent(next)) return seeOther(ctx, next);
    const body = markup`<p>You are signed in as ${user.email}, and not a member of any account yet. Ask for an invitation to that address, then open its link in this browser.</p>
<p><a class="main-button quiet" href="/app">To the dashboard</a></p>`;
    sendPage(ctx, { title: `Welcome, ${user.name}`, body });
  }

  async function comeBack(ctx: Context): Promise<void> {
    const begun = remembered(ctx, 'begun');
    const query = new URLSearchParams(ctx.querystring);
    // Somebody else's callback, opened in this browser, must not end the sign-in that was begun here.
    if (query.get('state') !== begun.state) throw beginAgain();
    // The cookie is good for many calls, and each would have us ask the provider.
    await limits.company(entrance.ipOf(ctx));
    cookies.clear(ctx, 'company');
    const claims = await (await provider()).finish(query, begun);
    if (await setup.needed()) return ctx.redirect('/app/setup');
    const person = await company.personOf(claims, entrance.ipOf(ctx));
    if (person.kind === 'known') return enter(ctx, person.user, begun.next);
    const { user, identity } = person;
    remember(ctx, {
      kind: 'unproven',
      user: user._id,
      identity,
      id: begun.state,
      next: begun.next,
      untilMs: Date.now() + PASSING_MS,
    });
    seeOther(ctx, LINK);
  }

  interface Asked {
    error?: string | undefined;
    passwordError?: string | undefined;
    codeError?: string | undefined;
  }

  function ask(ctx: Context, user: UserDocument, next: string, { error, passwordError, codeError }: Asked = {}, status = 200): void {
    const fields: Markup[] = [
      field({
        name: 'password',
        label: `Password of ${user.email}`,
        type: 'password',
        autocomplete: 'current-password',
        error: passwordError,
        focus: codeError === undefined,
        maxLength: MAX_PASSWORD,
      }),
    ];
    if (user.twoFactor)
      fields.push(
        field({
          name: 'code',
          label: 'Code of your app, or a recovery code',
          autocomplete: 'one-time-code',
          error: codeError,
          focus: codeError !== undefined,
          maxLength: 40,
        }),
      );
    const body = markup`<p>Somebody with the address ${user.email} signs in here with a password. If that is you, type it this once; afterwards ${name} opens your account.</p>
${form(LINK, fields, 'Link and sign in')}
${passwordSignIn ? markup`<p class="below"><a href="${withNext('/app/sign-in', next)}">Sign in without linking</a></p>` : undefined}`;
    sendPage(ctx, { title: 'Is this you?', error, body }, status, { opener: leadsToConsent(next) });
  }

  async function asked(ctx: Context): Promise<{ passing: Kind<'unproven'>; user: UserDocument }> {
    const passing = remembered(ctx, 'unproven');
    const user = await users.byId(passing.user);
    if (!user || user.disabled) throw beginAgain();
    return { passing, user };
  }

  async function askForPassword(ctx: Context): Promise<void> {
    const { passing, user } = await asked(ctx);
    ask(ctx, user, passing.next);
  }

  /** Why not, or undefined when all is right. Throws ApiError `rate_limited`. */
  async function wrong(user: UserDocument, passingId: string, password: string, code: string): Promise<Asked | undefined> {
    if (password === '') return { passwordError: 'Type your password.' };
    if (user.twoFactor && code === '') return { codeError: 'Type the code that your app shows.' };
    await limits.again(user._id, 'password');
    if (!(await passwords.verify(user.password, password.slice(0, MAX_PASSWORD + 1), { who: 'stranger', id: user._id })))
      return { passwordError: 'This is not the password of that address.' };
    if (user.twoFactor) {
      if ((await limits.secondFactor({ user: user._id, passing: passingId, device: undefined })) === 'start over') throw beginAgain();
      if (!(await twoFactor.use(user, code))) return { codeError: 'This code is wrong, or was used before.' };
      await limits.secondFactorWasRight({ user: user._id, device: undefined });
    }
    await limits.againWasRight(user._id, 'password');
    return undefined;
  }

  async function link(ctx: Context): Promise<void> {
    const sent = await formBody(ctx.req);
    const { passing, user } = await asked(ctx);
    let why: Asked | undefined;
    try {
      why = await wrong(user, passing.id, sent.get('password'), sent.get('code'));
    } catch (error) {
      const { message, status } = heldBack(ctx, error);
      return ask(ctx, user, passing.next, { error: message }, status);
    }
    if (why) {
      ctx.state.code = 'unauthorized';
      return ask(ctx, user, passing.next, why, 401);
    }
    cookies.clear(ctx, 'company');
    await company.link(user, passing.identity, entrance.ipOf(ctx));
    await enter(ctx, user, passing.next);
  }

  return [
    route('get', '/app/sign-in/company', orProblem(leave)),
    route('get', '/app/sign-in/company/callback', orProblem(comeBack)),
    route('get', LINK, orProblem(askForPassword)),
    route('post', LINK, orProblem(link)),
  ];
}
