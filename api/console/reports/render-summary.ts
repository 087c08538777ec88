// A logged render as the management API returns it. Pure.
import type { z } from 'zod';
import { isRejection } from '../../../common/contract/errors.ts';
import type { KeyNames } from '../../history/key-names.ts';
import type { RenderDocument } from '../../store/store.ts';
import type { renderDetail, renderSummary } from '../contract/accounts.ts';

/** The projection of a summary. */
export const SUMMARY_FIELDS = {
  options: 0,
  timings: 0,
  console: 0,
  resourceErrors: 0,
  resources: 0,
  warnings: 0,
  message: 0,
} as const;
export type SummaryDocument = Omit<RenderDocument, keyof typeof SUMMARY_FIELDS>;

export const summaryOf = (
  render: SummaryDocument,
  nameOf: KeyNames,
): z.input<typeof renderSummary> => ({
  id: render._id,
  at: render.at.toISOString(),
  outcome: render.outcome,
  rejected: isRejection(render.code),
  code: render.code ?? null,
  reason: render.reason ?? null,
  times: render.times ?? 1,
  via: render.via,
  key: render.key === undefined ? null : nameOf(render.key),
  app: render.app ?? null,
  sandbox: render.sandbox,
  counted: render.counted,
  source: render.source ?? null,
  url: render.url ?? null,
  reference: render.reference ?? null,
  title: render.title ?? null,
  totalMs: render.totalMs,
  pages: render.pages ?? null,
  bytes: render.bytes ?? null,
});

/** `userName`: the member who rendered it in the dashboard. */
export const detailOf = (
  render: RenderDocument,
  nameOf: KeyNames,
  userName: string | null,
): z.input<typeof renderDetail> => ({
  ...summaryOf(render, nameOf),
  message: render.message ?? null,
  options: render.options,
  timings: render.timings,
  console: render.console ?? [],
  resourceErrors: render.resourceErrors ?? 0,
  resources: (render.resources ?? []).map(({ status = null, reason = null, ...each }) => ({
    ...each,
    status,
    reason,
  })),
  warnings: render.warnings ?? [],
  user: userName,
});
