// The draft of the playground: kept per user in the session storage of the tab. `?url=…` starts a
// new draft.
import { useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { EXAMPLES } from './examples.ts';
import { type Draft, EMPTY } from './request.ts';

const INITIAL: Draft = EXAMPLES[0]!.draft;

function readDraft(storageKey: string): Draft {
  try {
    const draft = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Partial<Draft> | null;
    return draft ? { ...EMPTY, ...draft } : INITIAL;
  } catch {
    return INITIAL;
  }
}

function saveDraft(storageKey: string, draft: Draft): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(draft));
  } catch {
    // Above the quota of about 5 MB: no draft is better than an old one.
    sessionStorage.removeItem(storageKey);
  }
}

export function useDraft(userId: string): [Draft, (change: (draft: Draft) => Draft) => void] {
  const storageKey = `pressroom.playground.${userId}`;
  const url = new URLSearchParams(useSearch()).get('url');
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>(() =>
    url
      ? { ...EMPTY, html: readDraft(storageKey).html, source: 'url', url }
      : readDraft(storageKey),
  );
  useEffect(() => saveDraft(storageKey, draft), [storageKey, draft]);
  useEffect(() => {
    // A reload with `?url=…` would discard later changes.
    if (url) navigate('/playground', { replace: true });
  }, [url, navigate]);
  return [draft, setDraft];
}
