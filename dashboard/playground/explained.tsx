// The description of an option, and what every control of one is given.
import { Fieldset, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { labelOf, type RequestField } from './fields.ts';
import classes from './playground.module.css';
import type { Json } from './snippets.ts';

export interface FieldProps {
  field: RequestField;
  /** As the service names it; in a list with the row's number: `cookies.0.name`. */
  path: string;
  value: Json | undefined;
  onChange(value: Json | undefined): void;
  /** What the service said of fields, by path. */
  complaints: ReadonlyMap<string, string>;
}

/** The first sentence says what it is; the rest is for who wants to know. */
export function Explained({ description }: { description: string }) {
  const [first = '', ...rest] = description.split(/(?<=\.) (?=[A-Z`])/);
  return (
    <>
      <TextWithCode>{first}</TextWithCode>
      {rest.length > 0 && (
        <details className={classes.more}>
          <summary>More</summary>
          <TextWithCode>{rest.join(' ')}</TextWithCode>
        </details>
      )}
    </>
  );
}

/** The box of an option that has several inputs, with what the service said of the whole. */
export function DescribedFieldset({
  field,
  path,
  complaints,
  children,
}: Pick<FieldProps, 'field' | 'path' | 'complaints'> & { children: ReactNode }) {
  return (
    <Fieldset legend={labelOf(field.name)} className={classes.wide}>
      <Text component="div" size="xs" c="dimmed" mb="sm">
        <Explained description={field.description} />
      </Text>
      {complaints.has(path) && (
        <Text size="xs" c="var(--mantine-color-error)" mb="sm">
          {complaints.get(path)}
        </Text>
      )}
      {children}
    </Fieldset>
  );
}
