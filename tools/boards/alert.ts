// Builds an alert, so that each has a severity, a summary, a description and a section in the
// runbook.
import type { Alert } from './rules.ts';

/** Selects the series of this release, so that installations do not alert for each other. */
export const OF_NAMESPACE = 'namespace="RELEASE_NAMESPACE"';
export const OF_RELEASE = `${OF_NAMESPACE},pool="RELEASE_POOL"`;
/** The labels of every alert about a pool. */
export const POOL = 'namespace, pool';

export const mine = (name: string, more = '') => `${name}{${OF_RELEASE}${more && `,${more}`}}`;

interface AlertSource {
  name: string;
  expr: string;
  /** `for`: how long the expression must hold. */
  lasting: string;
  severity: 'critical' | 'warning';
  labels?: Record<string, string>;
  /** What is wrong. */
  summary: string;
  /** The impact and the next step. */
  description: string;
}

export const alert = ({
  name,
  expr,
  lasting,
  severity,
  labels = {},
  summary,
  description,
}: AlertSource): Alert => ({
  alert: name,
  expr,
  for: lasting,
  labels: { severity, ...labels },
  annotations: { summary, description, runbook_url: `RUNBOOK_URL#${name.toLowerCase()}` },
});
