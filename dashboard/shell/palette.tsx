// Go anywhere by typing a few letters: screens, accounts, a few actions. The arrow keys select in
// the list while the focus stays in the field.
import '@mantine/spotlight/styles.layer.css';
import { Text, useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight';
import { Search } from 'lucide-react';
import { useEffect, useId, useReducer, useState } from 'react';
import { useLocation } from 'wouter';
import { useFocusBack } from '../parts/dialog.tsx';
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
    { id: 'profile', label: 'Your profile', kind: 'You', go: () => navigate('/profile') },
    ...others,
    { id: 'docs', label: 'API documentation', kind: 'Help', go: () => location.assign('/docs') },
    { id: 'light', label: 'Light colours', kind: 'You', go: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark colours', kind: 'You', go: () => setColorScheme('dark') },
    { id: 'sign-out', label: 'Sign out', kind: 'You', go: () => void signOut() },
  ];
}

interface Props {
  onClose(): void;
  /** Only to switch the account. */
  accountsOnly?: boolean;
}

/** Matches words in any order in a choice's kind and label. */
const matches = (query: string) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ label, kind }: Choice) =>
    words.every(word => `${kind} ${label}`.toLowerCase().includes(word));
};

export default function Palette({ onClose, accountsOnly = false }: Props) {
  const all = useChoices(accountsOnly);
  useFocusBack(true);
  const [[store, { open }]] = useState(createSpotlight);
  useEffect(open, [open]);
  const { query, selected } = useSpotlight(store);
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const list = useId();
  const found = all.filter(matches(query));
  const optionId = (choice: Choice | undefined) => choice && `${list}-${choice.id}`;
  const what = accountsOnly ? 'Switch to an account' : 'Go to a screen or an account';

  return (
    <Spotlight.Root
      store={store}
      // The header has its own, which also works while a field has the focus and before this is
      // loaded.
      shortcut={null}
      onSpotlightClose={onClose}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
      scrollable
      attributes={{ content: { 'aria-label': what } }}
    >
      {/* The roles are ours: the component does not expose the selection to screen readers, and its store does not notify of it. */}
      <Spotlight.Search
        aria-label={what}
        placeholder={what}
        leftSection={<Search size={18} aria-hidden />}
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={optionId(found[selected])}
        onKeyDown={() => queueMicrotask(renderAgain)}
      />
      <Spotlight.ActionsList id={list} role="listbox" aria-label="Where to">
        {found.map((choice, index) => (
          <Spotlight.Action
            key={choice.id}
            ref={element => {
              // The component does not pass on an `id` property.
              if (element) element.id = optionId(choice)!;
            }}
            role="option"
            aria-selected={index === selected}
            label={choice.label}
            // Dimmed text is not readable on the selected choice.
            dimmedSections={false}
            rightSection={<Text size="xs">{choice.kind}</Text>}
            onClick={choice.go}
          />
        ))}
      </Spotlight.ActionsList>
      <div role="status">
        {found.length === 0 && <Spotlight.Empty>No matches.</Spotlight.Empty>}
      </div>
    </Spotlight.Root>
  );
}
