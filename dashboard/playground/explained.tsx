// The description of an option, and the properties that all option inputs share.
import { Fieldset, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Json } from '../../common/contract/snippets.ts';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { labelOf, type RequestField } from './fields.ts';
import classes from './playground.module.css';

export interface FieldProps {
  field: RequestField;
  /** The field path in the API's error messages; with the row index in lists: `cookies.0.name`. */
  path: string;
  value: Json | undefined;
  onChange(value: Json | undefined): void;
  /** Error messages of the API by field path. */
  fieldErrors: ReadonlyMap<string, string>;
}

/** Shows the first sentence of a description and folds the rest under “More”. */
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

/** The box of an option with several inputs, with the error of the option as a whole. */
export function DescribedFieldset({
  field,
  path,
  fieldErrors,
  children,
}: Pick<FieldProps, 'field' | 'path' | 'fieldErrors'> & { children: ReactNode }) {
  return (
    <Fieldset legend={labelOf(field.name)} className={classes.wide}>
      <Text component="div" size="xs" c="dimmed" mb="sm">
        <Explained description={field.description} />
      </Text>
      {fieldErrors.has(path) && (
        <Text size="xs" c="var(--mantine-color-error)" mb="sm">
          {fieldErrors.get(path)}
        </Text>
      )}
      {children}
    </Fieldset>
  );
}
