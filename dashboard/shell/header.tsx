// The header bar: navigation drawer on phones, account switcher, command palette, theme, user menu.
import { ActionIcon, Button, Drawer, Kbd } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { isDialogOpen } from '../parts/dialog.tsx';
import icon from '../parts/icon.svg';
import { AccountSwitcher } from './account-switcher.tsx';
import { ColorSwitch } from './color-switch.tsx';
import { MainNavigation } from './navigation.tsx';
import classes from './shell.module.css';
import { UserMenu } from './user-menu.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const isApple = /mac|iphone|ipad/i.test(navigator.platform);

export function Header() {
  const [drawer, { open: openDrawer, close: closeDrawer }] = useDisclosure(false);
  const [palette, { open: openPalette, close: closePalette }] = useDisclosure(false);
  // Works inside input fields too: no other shortcut uses these keys. Does nothing over a dialog,
  // which can hold typed text or a secret that is shown only once. The drawer holds neither.
  useHotkeys([['mod+K', () => (drawer || !isDialogOpen()) && openPalette()]], []);
  return (
    <header className={classes.header}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        className={classes.onlyNarrow}
        aria-label="Open navigation"
        aria-expanded={drawer}
        onClick={openDrawer}
      >
        <MenuIcon size={20} aria-hidden />
      </ActionIcon>
      <Link href="/" className={classes.brand} aria-label="Pressroom, home">
        <img className={classes.brandMark} src={icon} alt="" />
        <span className={classes.onlyWide}>Pressroom</span>
      </Link>
      <AccountSwitcher />
      <div className={classes.space} />
      <Button
        variant="default"
        size="xs"
        className={classes.onlyWide}
        leftSection={<Search size={14} aria-hidden />}
        rightSection={<Kbd size="xs">{isApple ? '⌘' : 'Ctrl'} K</Kbd>}
        onClick={openPalette}
      >
        Go to…
      </Button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        className={classes.onlyNarrow}
        aria-label="Go to…"
        onClick={openPalette}
      >
        <Search size={18} aria-hidden />
      </ActionIcon>
      <ColorSwitch />
      <UserMenu />
      <Drawer
        opened={drawer}
        onClose={closeDrawer}
        title="Pressroom"
        size="17rem"
        closeButtonProps={{ 'aria-label': 'Close navigation' }}
      >
        <MainNavigation after={closeDrawer} />
      </Drawer>
      {palette && (
        <Suspense>
          <Palette onClose={closePalette} />
        </Suspense>
      )}
    </header>
  );
}
