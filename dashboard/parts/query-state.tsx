// What stands in for the data of a query: a skeleton while it loads, and its error with a button to
// try again.
import type { ComponentProps, ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Loading } from './loading.tsx';

interface Props extends ComponentProps<typeof Loading> {
  /** Of react-query: a query or an infinite query. */
  query: {
    isPending: boolean;
    error: Error | null;
    data: unknown;
    dataUpdatedAt: number;
    refetch(): Promise<unknown>;
  };
  /** Of the error. */
  title?: string;
  /** The screen still shows the data after an error, which then names the time of the data. */
  keepsData?: boolean;
  /** The skeleton, where it is not made of rows. */
  children?: ReactNode;
}

export function QueryState({ query, title, keepsData = false, children, ...skeleton }: Props) {
  const { isPending, error, data, dataUpdatedAt } = query;
  if (isPending) return children ?? <Loading {...skeleton} />;
  return (
    error && (
      <Failure
        error={error}
        retry={() => void query.refetch()}
        {...(title !== undefined && { title })}
        {...(keepsData && data !== undefined && { title: 'Could not refresh', dataUpdatedAt })}
      />
    )
  );
}
