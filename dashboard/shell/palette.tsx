// The command palette: search for screens, accounts and actions. The arrow keys select an option
// while the focus stays in the input.
import '@mantine/spotlight/styles.layer.css';
import { Text, useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight';
import { Search } from 'lucide-react';
import { useEffect, useId, useReducer, useState } from 'react';
import { useLocation } from 'wouter';
import { useFocusReturn } from '../parts/dialog.tsx';
import { useSession } from '../session/session.tsx';
import { signOut } from './sign-out.ts';
import { SECTION_TITLES, shownScreens } from './visible-screens.ts';

interface Choice {
  id: string;
  label: string;
  kind: string;
  go(): void;
}

function useChoices(accountsOnly: boolean): Choice[] {
  const session = useSession();
  const [, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const { me, account, openAccount } = session;
  const others = me.accounts
    .filter(({ id }) => id !== account?.id)
    .map(({ id, name }) => ({
      id,
      label: accountsOnly ? name : `Switch to ${name}`,
      kind: 'Accounts',
      go: () => openAccount(id),
    }));
  if (accountsOnly) return others;
  return [
    ...shownScreens(session).map(({ path, label, section }) => ({
      id: path,
      label: label!,
      kind: SECTION_TITLES[section] ?? '',
      go: () => navigate(path),
    })),
    { id: 'profile', label: 'Your profile', kind: 'Profile', go: () => navigate('/profile') },
    ...others,
    { id: 'docs', label: 'API reference', kind: 'Help', go: () => location.assign('/docs') },
    { id: 'light', label: 'Light theme', kind: 'Theme', go: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark theme', kind: 'Theme', go: () => setColorScheme('dark') },
    { id: 'sign-out', label: 'Sign out', kind: 'Profile', go: () => void signOut() },
  ];
}

interface Props {
  onClose(): void;
  /** Offers only the other accounts. */
  accountsOnly?: boolean;
}

/** Matches the words of the query in any order against kind and label. */
const matches = (query: string) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ label, kind }: Choice) =>
    words.every(word => `${kind} ${label}`.toLowerCase().includes(word));
};

export default function Palette({ onClose, accountsOnly = false }: Props) {
  const all = useChoices(accountsOnly);
  useFocusReturn(true);
  const [[store, { open }]] = useState(createSpotlight);
  useEffect(open, [open]);
  const { query, selected } = useSpotlight(store);
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const list = useId();
  const found = all.filter(matches(query));
  const optionId = (choice: Choice | undefined) => choice && `${list}-${choice.id}`;
  const title = accountsOnly ? 'Switch account' : 'Go to a page or account';

  return (
    <Spotlight.Root
      store={store}
      // The header binds the shortcut: it must work in input fields and before this module loads.
      shortcut={null}
      onSpotlightClose={onClose}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
      scrollable
      attributes={{ content: { 'aria-label': title } }}
    >
      {/* Spotlight does not expose its selection to screen readers: the roles are set here, and
          each key press renders again because the store does not notify. */}
      <Spotlight.Search
        aria-label={title}
        placeholder={title}
        leftSection={<Search size={18} aria-hidden />}
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={optionId(found[selected])}
        onKeyDown={() => queueMicrotask(renderAgain)}
      />
      <Spotlight.ActionsList id={list} role="listbox" aria-label="Results">
        {found.map((choice, index) => (
          <Spotlight.Action
            key={choice.id}
            ref={element => {
              // Spotlight.Action ignores the `id` property.
              if (element) element.id = optionId(choice)!;
            }}
            role="option"
            aria-selected={index === selected}
            label={choice.label}
            // Dimmed text has too little contrast on the selected option.
            dimmedSections={false}
            rightSection={<Text size="xs">{choice.kind}</Text>}
            onClick={choice.go}
          />
        ))}
      </Spotlight.ActionsList>
      <div role="status">{found.length === 0 && <Spotlight.Empty>No results</Spotlight.Empty>}</div>
    </Spotlight.Root>
  );
}
