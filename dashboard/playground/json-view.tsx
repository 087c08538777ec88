// The request as editable JSON. Invalid text stays in the editor and does not change the draft.
import { Textarea } from '@mantine/core';
import type { Ref } from 'react';
import classes from './playground.module.css';
import { type Draft, draftFrom, requestOf } from './request.ts';

export interface TypedJson {
  text: string;
  /** Set if the text is not a valid request. */
  error?: string;
}

interface Props {
  draft: Draft;
  /** The text as typed; undefined shows the draft. */
  typed: TypedJson | undefined;
  onChange(draft: Draft, typed: TypedJson): void;
  onInvalid(typed: TypedJson): void;
  editorRef: Ref<HTMLTextAreaElement>;
}

export function JsonView({ draft, typed, onChange, onInvalid, editorRef }: Props) {
  const type = (text: string) => {
    try {
      onChange(draftFrom(text, draft), { text });
    } catch (invalid) {
      onInvalid({ text, error: (invalid as Error).message });
    }
  };
  return (
    <Textarea
      ref={editorRef}
      label="Request JSON"
      description="The request body. The Sandbox switch controls the sandbox field."
      className={`${classes.editor} ${classes.tall}`}
      rows={18}
      value={typed?.text ?? JSON.stringify(requestOf(draft), undefined, 2)}
      error={typed?.error}
      spellCheck={false}
      autoComplete="off"
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
