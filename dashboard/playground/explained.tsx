// The description of an option, and what every control of one is given.
import { TextWithCode } from '../parts/text-with-code.tsx';
import type { RequestField } from './fields.ts';
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
