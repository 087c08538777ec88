// A change that a person makes: the call, a notice when it is done or has failed, and what is read
// again afterwards.
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { CallFailed } from '../session/api.ts';
import { notify } from './notices.tsx';

interface Action<I, O> {
  run(input: I): Promise<O>;
  /** The sentence of the notice. Absent: no notice, the screen itself shows it. */
  done?: string | ((output: O, input: I) => string);
  /** The queries that are old now. */
  refresh?: QueryKey[];
  after?(output: O, input: I): void;
  /** The screen shows the error itself (`action.error`), so no notice does. */
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
            : 'Something in this page failed. Load it again.',
          'error',
        );
    },
  });
}

/**
 * The server's sentence when it is about this field of the body, which it names in backticks:
 * without the name, to be shown at the field.
 */
export function fieldError(error: Error | null | undefined, field: string): string | undefined {
  if (!(error instanceof CallFailed) || error.code !== 'validation_error') return undefined;
  const named = `\`${field}(\\.[^\`]*)?\``;
  if (!new RegExp(named).test(error.message)) return undefined;
  const text = error.message.replace(new RegExp(`^${named}:? `), '').replaceAll('`', '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
