// Go anywhere by typing a few letters: screens, accounts, a few deeds. A list that the arrow keys walk while the focus stays in the field.
import { Modal, Text, TextInput, useMantineColorScheme } from '@mantine/core';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useFocusBack } from '../parts/dialog.tsx';
import { useSession } from '../session.tsx';
import classes from './palette.module.css';
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
    .map(({ id, name }) => ({ id, label: accountsOnly ? name : `Switch to ${name}`, kind: 'Accounts', go: () => openAccount(id) }));
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

export default function Palette({ onClose, accountsOnly = false }: Props) {
  const all = useChoices(accountsOnly);
  useFocusBack(true);
  const what = accountsOnly ? 'Switch to an account' : 'Go to a screen or an account';
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter(({ label, kind }) => words.every(word => `${kind} ${label}`.toLowerCase().includes(word)));
  const active = found[Math.min(at, found.length - 1)];

  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.go();
  };
  const move = (to: number) => {
    const next = (to + found.length) % found.length;
    setAt(next);
    document.getElementById(`${list}-${found[next]?.id}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') move(at + 1);
    else if (event.key === 'ArrowUp') move(at - 1);
    else if (event.key === 'Enter') choose(active);
    else return;
    event.preventDefault();
  };

  return (
    <Modal.Root opened returnFocus={false} onClose={onClose} yOffset="12vh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={what}>
        <TextInput
          data-autofocus
          aria-label={what}
          placeholder={what}
          leftSection={<Search size={16} aria-hidden />}
          variant="unstyled"
          size="md"
          className={classes.field}
          role="combobox"
          aria-expanded
          aria-controls={list}
          aria-activedescendant={active && `${list}-${active.id}`}
          value={text}
          onChange={event => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div id={list} role="listbox" aria-label="Where to" className={classes.list}>
          {found.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the keys are the field's, which names the active option
            <div
              key={choice.id}
              id={`${list}-${choice.id}`}
              role="option"
              aria-selected={choice === active}
              className={classes.option}
              onPointerMove={() => setAt(index)}
              onClick={() => choose(choice)}
            >
              <span>{choice.label}</span>
              <span className={classes.kind}>{choice.kind}</span>
            </div>
          ))}
        </div>
        <Text role="status" size="sm" c="dimmed" px="md" pb={found.length === 0 ? 'md' : 0}>
          {found.length === 0 ? 'Nothing has this name.' : ''}
        </Text>
      </Modal.Content>
    </Modal.Root>
  );
}
