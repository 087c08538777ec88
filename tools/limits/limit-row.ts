// The type of a row of docs/limits.md, and texts that rows share.
import type { z } from 'zod';
import { SharedBound } from '../../api/accounts/shared-bound.ts';
import { apiVariables } from '../../api/config.ts';
import { variableMeta } from '../../common/config.ts';
import { STATUS } from '../../common/contract/errors.ts';

export interface LimitRow {
  bound: string;
  whole: string;
  share: string;
  /** The response beyond the limit. */
  answer: string;
  /** The source file that enforces it, relative to `api/`. */
  source: string;
  /** Titles of the tests that reach the limit, by their file relative to `test/`. */
  proofs: Record<string, string[]>;
}

export const number = (value: number) => value.toLocaleString('en-US');
export const mib = (bytes: number) => `${number(bytes / 2 ** 20)} MiB`;
export const seconds = (ms: number) => `${ms / 1_000} s`;
export const quarter = (max: number, show = number) =>
  `${show(new SharedBound(max).share)}; more while the same amount stays free (at most ${show(new SharedBound(max).maxOfOne)})`;
export const A_QUARTER = 'a quarter; more while a quarter stays free';

export const variable = (name: keyof typeof apiVariables.shape) =>
  `\`${name}\` (${variableMeta(apiVariables.shape[name] as z.ZodType)!.fallback})`;
export const inverse = (share: number) => `1/${1 / share}`;
export const codeCell = (name: keyof typeof STATUS) => `\`${STATUS[name]} ${name}\``;
export const failed = (reason: string) =>
  `\`${STATUS.render_failed} render_failed\` (\`${reason}\`)`;
export const wholeAndShare = (whole: string, share = codeCell('concurrency_limit')) =>
  `total: ${whole}; share: ${share}`;
