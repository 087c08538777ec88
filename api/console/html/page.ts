// The layout of the server-rendered pages: sign-in, setup, invitation, consent. They work without
// scripts. Owns their Content-Security-Policy and their form fields.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Markup, markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import { isInConsentFlow } from './consent-flow.ts';
import { pageStyle } from './page-style.ts';

const script = readFileSync(new URL('page-script.js', import.meta.url), 'utf8');
const source = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows one style and one script by hash, forms to the same origin, and no framing. */
const policy = (formAction: boolean) =>
  [
    "default-src 'none'",
    `style-src ${source(pageStyle)}`,
    `script-src ${source(script)}`,
    ...(formAction ? ["form-action 'self'"] : []),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
const POLICY = policy(true);
const POLICY_WITHOUT_FORM_ACTION = policy(false);

export interface FormPage {
  title: string;
  /** A sentence below the title. */
  lead?: string;
  /** Below the title and the error. */
  body: Markup;
  /** An error of the whole form; errors of a field are shown at the field. */
  error?: string | undefined;
}

const LOGO = markup`<svg viewBox="0 0 32 32" aria-hidden="true"><rect x="4" y="3" width="24" height="26" rx="4" fill="#4263eb"/><path d="M10 11h12M10 16h12M10 21h7" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>`;

/** The whole document. */
export const pageHtml = ({ title, lead, body, error }: FormPage): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Pressroom</title>
<style>${new Markup(pageStyle)}</style>
</head>
<body>
<main>
<p class="brand">${LOGO}Pressroom</p>
<h1>${title}</h1>
${lead === undefined ? undefined : markup`<p class="lead">${lead}</p>`}
${error === undefined ? undefined : markup`<p class="error" role="alert">${error}</p>`}
${body}
</main>
<script>${new Markup(script)}</script>
</body>
</html>
`.text;

/**
 * `formAction: false`: the form redirects to another site. `opener: true`: the page is in a window
 * that another site opened and observes; by default the path decides.
 */
export interface Loosened {
  formAction?: boolean;
  opener?: boolean;
}

/** The part of the context that a page needs; contexts of the OAuth library have it too. */
export interface PageContext extends Pick<Context, 'path' | 'query'> {
  status: number;
  type: string;
  body: unknown;
  set(name: string, value: string): void;
}

/** Sends the page. It is not cached or framed, and sends no referrer to other sites. */
export function sendPage(
  ctx: PageContext,
  shown: FormPage,
  status = 200,
  { formAction = true, opener = isInConsentFlow(ctx) }: Loosened = {},
): void {
  ctx.status = status;
  ctx.set('Content-Security-Policy', formAction ? POLICY : POLICY_WITHOUT_FORM_ACTION);
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'same-origin');
  // With this header on any page of the flow, the app would see its window as closed
  // (https://html.spec.whatwg.org/#cross-origin-opener-policies).
  if (!opener) ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = pageHtml(shown);
}

export interface FormField {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  /** The previous input. Never a password. */
  value?: string | undefined;
  autocomplete: string;
  inputmode?: 'numeric';
  hint?: string | undefined;
  /** A sentence. */
  error?: string | undefined;
  /** At most one per page. */
  focus?: boolean;
  minLength?: number;
  maxLength?: number;
}

const flag = (name: string, on: boolean | undefined) => (on ? new Markup(` ${name}`) : undefined);
const attribute = (name: string, value: string | number | undefined) =>
  value === undefined ? undefined : markup` ${new Markup(name)}="${value}"`;

/** A labelled field. Hint and error are linked to the input for screen readers. */
export function field({
  name,
  label,
  type = 'text',
  value,
  autocomplete,
  hint,
  error,
  focus,
  ...rest
}: FormField): Markup {
  const described = [...(hint ? [`${name}-hint`] : []), ...(error ? [`${name}-error`] : [])].join(
    ' ',
  );
  const more = [
    attribute('value', value),
    attribute('inputmode', rest.inputmode),
    attribute('minlength', rest.minLength),
    attribute('maxlength', rest.maxLength),
    attribute('aria-describedby', described || undefined),
    flag('aria-invalid="true"', error !== undefined),
    flag('required', true),
    flag('autofocus', focus),
  ].flatMap(part => part ?? []);
  return markup`<div class="field"><label for="${name}">${label}</label>
<div><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false"${more}></div>
${hint ? markup`<p class="hint" id="${name}-hint">${hint}</p>` : undefined}${error ? markup`<p class="wrong" id="${name}-error">${error}</p>` : undefined}</div>`;
}

/** Redirects to a GET, whatever the method of this request (RFC 9110 section 15.4.4). */
export function seeOther(ctx: Context, to: string): void {
  ctx.status = 303;
  ctx.redirect(to);
}

export const hidden = (name: string, value: string): Markup =>
  markup`<input type="hidden" name="${name}" value="${value}">`;

/** `action` is a path on this server. */
export const form = (action: string, fields: readonly Markup[], button: string): Markup =>
  markup`<form method="post" action="${action}">${fields}<button class="main-button">${button}</button></form>`;
