// A mutation with its notices and the queries to refetch afterwards.
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { CallFailed } from '../session/api.ts';
import { capitalize } from './format.ts';
import { notify } from './notices.tsx';

interface Action<I, O> {
  run(input: I): Promise<O>;
  /** The text of the success notice. Absent: no notice. */
  done?: string | ((output: O, input: I) => string);
  /** The queries to invalidate on success. */
  refresh?: QueryKey[];
  after?(output: O, input: I): void;
  /** The component shows `action.error` itself, so no error notice appears. */
  errorInPlace?: boolean;
}

/**
 * The mutation of react-query: `action.mutate(input)`, `action.isPending`, `action.error`,
 * `action.reset()`.
 */
export function useAction<I = void, O = unknown>({
  run,
  done,
  refresh = [],
  after,
  errorInPlace = false,
}: Action<I, O>) {
  const queries = useQueryClient();
  return useMutation<O, Error, I>({
    mutationFn: run,
    onSuccess: (output, input) => {
      for (const queryKey of refresh) void queries.invalidateQueries({ queryKey });
      if (done !== undefined) notify(typeof done === 'string' ? done : done(output, input));
      after?.(output, input);
    },
    onError: error => {
      if (!errorInPlace)
        notify(
          error instanceof CallFailed
            ? error.message
            : 'Something went wrong. Reload the page and try again.',
          'error',
        );
    },
  });
}

/**
 * The server's message if it names this field of the body in backticks: without the name, for
 * display at the field.
 */
export function fieldError(error: Error | null | undefined, field: string): string | undefined {
  if (!(error instanceof CallFailed) || error.code !== 'validation_error') return undefined;
  const named = `\`${field}(\\.[^\`]*)?\``;
  if (!new RegExp(named).test(error.message)) return undefined;
  const text = error.message.replace(new RegExp(`^${named}:? (is )?`), '');
  // A value in backticks is not capitalized.
  return capitalize(text).replaceAll('`', '');
}
