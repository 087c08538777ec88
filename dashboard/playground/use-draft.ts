// What the person is putting together: kept while the tab lives, for this person, and begun from
// `?url=…` when the address has it.
import { useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { EXAMPLES } from './examples.ts';
import { type Draft, EMPTY } from './request.ts';

const FIRST: Draft = { ...EXAMPLES[0]!.draft, sandbox: true };

function kept(storageKey: string): Draft {
  try {
    const draft = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Partial<Draft> | null;
    return draft ? { ...EMPTY, ...draft } : FIRST;
  } catch {
    return FIRST;
  }
}

function keep(storageKey: string, draft: Draft): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(draft));
  } catch {
    // Browsers keep about 5 MB. An old draft in place of the one that is too large would be a
    // surprise.
    sessionStorage.removeItem(storageKey);
  }
}

export function useDraft(userId: string): [Draft, (change: (draft: Draft) => Draft) => void] {
  const storageKey = `pressroom.playground.${userId}`;
  const url = new URLSearchParams(useSearch()).get('url');
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>(() =>
    url ? { ...EMPTY, html: kept(storageKey).html, source: 'url', url } : kept(storageKey),
  );
  useEffect(() => keep(storageKey, draft), [storageKey, draft]);
  useEffect(() => {
    // Else a reload would undo what was changed since.
    if (url) navigate('/playground', { replace: true });
  }, [url, navigate]);
  return [draft, setDraft];
}
