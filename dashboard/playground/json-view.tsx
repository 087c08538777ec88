// The request as editable JSON. Invalid text stays in the editor and does not change the draft.
import { Textarea } from '@mantine/core';
import { type Ref, useEffect, useState } from 'react';
import classes from './playground.module.css';
import { type Draft, draftFrom, requestOf } from './request.ts';

interface Props {
  draft: Draft;
  onChange(draft: Draft): void;
  /** Receives the error of the text; undefined when it is valid or the editor is closed. */
  onError(error: string | undefined): void;
  editorRef: Ref<HTMLTextAreaElement>;
}

const textOf = (draft: Draft) => JSON.stringify(requestOf(draft), undefined, 2);

export function JsonView({ draft, onChange, onError, editorRef }: Props) {
  const [text, setText] = useState(() => textOf(draft));
  const [error, setError] = useState<string>();
  const [known, setKnown] = useState(() => textOf(draft));
  const now = textOf(draft);
  // The draft changed outside of this editor, for example by selecting an example.
  if (now !== known) {
    setKnown(now);
    setText(now);
    setError(undefined);
  }
  useEffect(() => {
    onError(error);
    return () => onError(undefined);
  }, [error, onError]);
  const type = (next: string) => {
    setText(next);
    try {
      const changed = draftFrom(next, draft);
      setError(undefined);
      setKnown(textOf(changed));
      onChange(changed);
    } catch (invalid) {
      setError((invalid as Error).message);
    }
  };
  return (
    <Textarea
      ref={editorRef}
      label="Request JSON"
      description="The request body. The Sandbox switch controls the sandbox field."
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
