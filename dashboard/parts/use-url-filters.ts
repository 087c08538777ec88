// Filters of a list, kept in the URL: a filtered list can be shared, and Back undoes a filter.
import { useSearchParams } from 'wouter';

/** `read`: all filters, each empty when it is absent or invalid. */
export function useUrlFilters<F extends Record<string, string>>(
  read: (params: URLSearchParams) => F,
) {
  const [params, setParams] = useSearchParams();
  const filters = read(params);
  const change = (changed: Partial<F>) =>
    setParams(before => {
      const next = new URLSearchParams(before);
      for (const [name, value] of Object.entries(changed)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      return next;
    });
  return {
    filters,
    change,
    clear: () => setParams({}),
    filtered: Object.values(filters).some(value => value !== ''),
  };
}
