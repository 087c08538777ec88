// All rules of the chart in groups: recording rules, then alerts.
import { controllerAlerts, poolAlerts, serviceAlerts } from './alerts.ts';
import { burnAlerts, burnRates, objectives } from './objectives.ts';

export interface Recording {
  record: string;
  expr: string;
  labels?: Record<string, string>;
}

export interface Alert {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: 'critical' | 'warning' } & Record<string, string>;
  annotations: { summary: string; description: string; runbook_url: string };
}

export interface Group {
  name: string;
  rules: (Recording | Alert)[];
}

/**
 * Placeholders that the chart replaces with its values, with their defaults. Bare words, so that
 * the file is valid PromQL before the replacement as well.
 */
export const WORDS: Record<string, string> = {
  RELEASE_NAMESPACE: 'pressroom',
  RELEASE_POOL: 'pressroom',
  OBJECTIVE_AVAILABILITY: '0.999',
  OBJECTIVE_QUEUE_RATIO: '0.99',
  OBJECTIVE_QUEUE_SECONDS: '1',
  OBJECTIVE_LATENCY_RATIO: '0.95',
  OBJECTIVE_LATENCY_SECONDS: '10',
  RUNBOOK_URL: 'runbook.md',
};

/**
 * `pressroom-controller` covers the controller process; a release without a controller omits it.
 */
export const groups: Group[] = [
  { name: 'pressroom-objectives', rules: objectives },
  { name: 'pressroom-burn-rates', rules: burnRates },
  { name: 'pressroom-budgets', rules: burnAlerts },
  { name: 'pressroom-service', rules: serviceAlerts },
  { name: 'pressroom-pool', rules: poolAlerts },
  { name: 'pressroom-controller', rules: controllerAlerts },
];
