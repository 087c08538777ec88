// The filters of the render log, kept in the URL: a filtered log can be shared, and Back undoes a
// filter.
import { useSearchParams } from 'wouter';
import type { RenderStatus } from '../../api/console/contract/accounts.ts';

export interface Filters {
  status: RenderStatus | '';
  code: string;
  key: string;
  reference: string;
  /** ISO 8601 or empty. */
  from: string;
  to: string;
}

const NAMES = ['status', 'code', 'key', 'reference', 'from', 'to'] as const;
const STATUSES = ['ok', 'failed', 'rejected', 'client_closed'];
const isoOf = (text: string | null) =>
  text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : '';

export function useFilters() {
  const [params, setParams] = useSearchParams();
  const status = params.get('status') ?? '';
  const filters: Filters = {
    status: STATUSES.includes(status) ? (status as Filters['status']) : '',
    code: params.get('code') ?? '',
    key: params.get('key') ?? '',
    reference: params.get('reference') ?? '',
    from: isoOf(params.get('from')),
    to: isoOf(params.get('to')),
  };
  const change = (changed: Partial<Filters>) =>
    setParams(before => {
      const next = new URLSearchParams(before);
      for (const [name, value] of Object.entries(changed)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      return next;
    });
  const clear = () => change(Object.fromEntries(NAMES.map(name => [name, ''])));
  return { filters, change, clear, filtered: NAMES.some(name => filters[name] !== '') };
}

/** The value of `<input type="datetime-local">`: local time, to the minute. */
export function localTime(iso: string): string {
  if (iso === '') return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
}

/** ISO 8601 from such a value; empty while the input is incomplete. */
export const timeOf = (local: string) =>
  local === '' || Number.isNaN(Date.parse(local)) ? '' : new Date(local).toISOString();
