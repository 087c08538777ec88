// What a person sees who clicks a link that gives no PDF: the same words as in the JSON answer, as a page.
import { ApiError } from '../../../common/contract/errors.ts';
import { markup } from '../../../common/contract/markup.ts';
import type { Context, Middleware } from '../../http/state.ts';
import { sendPage } from '../html/page.ts';

const TITLES: Partial<Record<ApiError['code'], string>> = {
  gone: 'The link has ended',
  not_found: 'There is no PDF here',
};

/** Programs, and what asks for anything, get JSON. */
const wantsPage = (ctx: Context) => ctx.accepts('json', 'html') === 'html';

/** Answers with a page what the rest throws, when a browser asks for one. */
export const linkPage: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof ApiError) || !wantsPage(ctx)) throw error;
    const { code, status, message, headers } = error;
    ctx.state.code = code;
    ctx.set(headers);
    const detail = markup`<p class="hint">Request id: ${ctx.state.requestId}</p>`;
    sendPage(ctx, { title: TITLES[code] ?? 'The PDF cannot be had now', error: message, body: detail }, status);
    // Nothing that loads here may tell anybody the address.
    ctx.set('Referrer-Policy', 'no-referrer');
  }
};
