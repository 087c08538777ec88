// The user menu: profile, API reference, sign out.
import { Avatar, Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { BookOpen, LogOut, UserRound } from 'lucide-react';
import { Link } from 'wouter';
import { useSession } from '../session/session.tsx';
import { roleLabel } from '../team/roles.ts';
import { signOut } from './sign-out.ts';

const initials = (name: string) =>
  name
    .split(/\s+/)
    .filter(Boolean)
    .map(word => [...word][0])
    .filter((_, index, all) => index === 0 || index === all.length - 1)
    .join('')
    .toUpperCase();

export function UserMenu() {
  const { me, account } = useSession();
  const { name, email } = me.user;
  return (
    <Menu position="bottom-end" width={240} withinPortal={false}>
      <Menu.Target>
        <UnstyledButton style={{ borderRadius: '50%' }}>
          <Avatar size={32} radius="xl" color="indigo">
            {initials(name)}
          </Avatar>
          <VisuallyHidden>: user menu of {name}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" truncate>
            {email}
          </Text>
          {account && <Text size="xs">Role: {roleLabel(account.role)}</Text>}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item
          component={Link}
          href="/profile"
          leftSection={<UserRound size={16} aria-hidden />}
        >
          Your profile
        </Menu.Item>
        <Menu.Item
          component="a"
          href="/docs"
          target="_blank"
          rel="noopener"
          leftSection={<BookOpen size={16} aria-hidden />}
        >
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
