// The filters of the render log.
import type { RenderStatus } from '../../api/console/contract/accounts.ts';
import { useUrlFilters } from '../parts/use-url-filters.ts';

export type Filters = {
  status: RenderStatus | '';
  code: string;
  key: string;
  reference: string;
  /** ISO 8601 or empty. */
  from: string;
  to: string;
};

const STATUSES = ['ok', 'failed', 'rejected', 'client_closed'];
const isoOf = (text: string | null) =>
  text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : '';

export const useFilters = () =>
  useUrlFilters<Filters>(params => {
    const status = params.get('status') ?? '';
    return {
      status: STATUSES.includes(status) ? (status as Filters['status']) : '',
      code: params.get('code') ?? '',
      key: params.get('key') ?? '',
      reference: params.get('reference') ?? '',
      from: isoOf(params.get('from')),
      to: isoOf(params.get('to')),
    };
  });

/** The value of `<input type="datetime-local">`: local time, to the minute. */
export function localTime(iso: string): string {
  if (iso === '') return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
}

/** ISO 8601 from such a value; empty while the input is incomplete. */
export const timeOf = (local: string) =>
  local === '' || Number.isNaN(Date.parse(local)) ? '' : new Date(local).toISOString();
