// One alert, put together so that each has a severity, a summary, a description and its section of
// the runbook.
import type { Alert } from './rules.ts';

/** The series of this release and no other: two installations must not alarm for each other. */
export const OF_NAMESPACE = 'namespace="RELEASE_NAMESPACE"';
export const OF_RELEASE = `${OF_NAMESPACE},pool="RELEASE_POOL"`;
/** The labels of every alert about a pool. */
export const POOL = 'namespace, pool';

export const mine = (name: string, more = '') => `${name}{${OF_RELEASE}${more && `,${more}`}}`;

interface Wanted {
  name: string;
  expr: string;
  /** It must be so for as long as this. */
  lasting: string;
  severity: 'critical' | 'warning';
  labels?: Record<string, string>;
  summary: string;
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
}: Wanted): Alert => ({
  alert: name,
  expr,
  for: lasting,
  labels: { severity, ...labels },
  annotations: { summary, description, runbook_url: `RUNBOOK_URL#${name.toLowerCase()}` },
});
