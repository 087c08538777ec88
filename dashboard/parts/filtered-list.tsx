// The parts of a page with a filtered list: the button that reloads it, what stands in its place while
// it has no rows, and inputs of its filters.
import { Button, TextInput, type TextInputProps } from '@mantine/core';
import { RefreshCw, SearchX, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';
import { QueryState } from './query-state.tsx';
import type { Pages } from './use-pages.ts';

export function RefreshList({ list: { query } }: { list: Pages }) {
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<RefreshCw size={14} aria-hidden />}
      aria-disabled={query.isFetching}
      onClick={() => void query.refetch()}
    >
      Refresh
    </Button>
  );
}

interface StatesProps {
  list: Pages;
  /** Plural, in lower case. */
  what: string;
  filtered: boolean;
  clear(): void;
  /** Shown when there is nothing to list without filters. */
  children: ReactNode;
}

export function ListStates({ list, what, filtered, clear, children }: StatesProps) {
  const { query, rows } = list;
  const isEmpty = query.isSuccess && rows?.length === 0;
  return (
    <>
      <QueryState query={query} title={`Could not load ${what}`} rows={8} height={44} />
      {isEmpty && !filtered && children}
      {isEmpty && filtered && (
        <Empty icon={SearchX} title="No renders match these filters">
          <Button variant="default" size="xs" mt="xs" onClick={clear}>
            Clear filters
          </Button>
        </Empty>
      )}
    </>
  );
}

interface TextFilterProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string;
  /** Called with another text when the field is left or Enter is pressed. */
  apply(text: string): void;
}

export function TextFilter({ value, apply, ...input }: TextFilterProps) {
  const applied = (text: string) => {
    if (text !== value) apply(text);
  };
  return (
    <TextInput
      key={value}
      size="xs"
      defaultValue={value}
      onBlur={event => applied(event.currentTarget.value)}
      onKeyDown={event => event.key === 'Enter' && applied(event.currentTarget.value)}
      {...input}
    />
  );
}

export function ClearFilters({ clear }: { clear(): void }) {
  return (
    <Button size="xs" variant="subtle" leftSection={<X size={14} aria-hidden />} onClick={clear}>
      Clear filters
    </Button>
  );
}
