// The request as JSON, in both directions. What does not parse stays in the editor and changes nothing.
import { Textarea } from '@mantine/core';
import { useState } from 'react';
import classes from './playground.module.css';
import { type Draft, draftFrom, requestOf } from './request.ts';

interface Props {
  draft: Draft;
  onChange(draft: Draft): void;
}

const textOf = (draft: Draft) => JSON.stringify(requestOf(draft), undefined, 2);

export function JsonView({ draft, onChange }: Props) {
  const [text, setText] = useState(() => textOf(draft));
  const [error, setError] = useState<string>();
  const [known, setKnown] = useState(() => textOf(draft));
  const now = textOf(draft);
  // Changed from elsewhere, by an example for instance.
  if (now !== known) {
    setKnown(now);
    setText(now);
    setError(undefined);
  }
  const type = (next: string) => {
    setText(next);
    try {
      const changed = draftFrom(next, draft);
      setError(undefined);
      setKnown(textOf(changed));
      onChange(changed);
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <Textarea
      label="Request as JSON"
      description="The body of the call. Whether it is sandboxed, the switch decides; a sandbox field that you put in here sets the switch."
      className={`${classes.editor} ${classes.tall}`}
      rows={18}
      value={text}
      error={error}
      spellCheck={false}
      autoComplete="off"
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
