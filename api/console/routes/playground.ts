// The route for renders from the dashboard: the same use case as /v1/render, for a member instead of
// an API key, as a sandbox render by default.
import { z } from 'zod';
import { jsonSchema } from '../../../common/contract/json-schema.ts';
import {
  type InstallationRules,
  parseRenderRequest,
  renderRequestSchema,
} from '../../../common/contract/render-request.ts';
import { beginEntry, validated } from '../../history/render-entry.ts';
import type { RenderLog } from '../../history/render-log.ts';
import { untilClientDisconnects } from '../../http/errors.ts';
import type { Member } from '../../leases/leases.ts';
import type { RenderUseCase } from '../../render/render.ts';
import { answerWithPdf, withPhases } from '../../routes/render.ts';
import type { Store } from '../../store/store.ts';
import { mayReachIntranet } from '../kit/intranet.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';

export interface PlaygroundDeps {
  store: Store;
  render: RenderUseCase<Member>;
  renders: RenderLog;
  rules: InstallationRules;
  bodyMaxBytes: number;
}

/**
 * Documented like the body of /v1/render, and validated by the same function, since the schema
 * alone does not cover all rules.
 */
const body = z
  .unknown()
  .meta({ ...jsonSchema(renderRequestSchema, 'input'), title: 'RenderRequest' });

export const playgroundRoutes = ({
  store,
  render,
  renders,
  rules,
  bodyMaxBytes,
}: PlaygroundDeps): ConsoleRoute[] => {
  return [
    route({
      method: 'post',
      path: '/accounts/:account/playground/render',
      id: 'renderInPlayground',
      summary:
        'Render without an API key. Counts toward the concurrency limit; a sandbox render unless `sandbox` is false.',
      access: { permission: 'playground.render' },
      body,
      bodyMaxBytes,
      answer: 'application/pdf',
      handle: async ({ account, signedIn, body: given, ctx }) => {
        const { bodyBytes, requestId, reservation } = ctx.state;
        const intranet = await mayReachIntranet(store, account.id);
        const member: Member = { accountId: account.id, user: signedIn.user.id, requestId };
        const entry = beginEntry(ctx);
        entry.who = { account: account.id, user: signedIn.user.id };
        const work = async () => {
          const request = await validated(entry, given, () => {
            const asked = parseRenderRequest(given, { ...rules, intranet });
            return { ...asked, sandbox: asked.sandbox ?? true };
          });
          ctx.state.rendering = true;
          const rendered = await untilClientDisconnects(ctx, signal =>
            render(request, member, { bodyBytes, budget: reservation }, signal, entry.trace),
          );
          answerWithPdf(ctx, rendered, request.filename, entry);
        };
        await renders.logged(entry, 'playground', () => withPhases(ctx, entry, work));
      },
    }),
  ];
};
