// The bar at the top: the drawer's button on a phone, the open account, search, colours, the
// person.
import { ActionIcon, Button, Drawer, Kbd } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import icon from '../parts/icon.svg';
import { AccountSwitcher } from './account-switcher.tsx';
import { ColorSwitch } from './color-switch.tsx';
import { MainNavigation } from './navigation.tsx';
import { PersonMenu } from './person-menu.tsx';
import classes from './shell.module.css';

const Palette = lazy(() => import('./palette.tsx'));
const isApple = /mac|iphone|ipad/i.test(navigator.platform);

export function Header() {
  const [drawer, { open: openDrawer, close: closeDrawer }] = useDisclosure(false);
  const [palette, { open: openPalette, close: closePalette }] = useDisclosure(false);
  // Also while a field has the focus: nothing else is on these keys.
  useHotkeys([['mod+K', openPalette]], []);
  return (
    <header className={classes.header}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        className={classes.onlyNarrow}
        aria-label="Open the navigation"
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
      <PersonMenu />
      <Drawer
        opened={drawer}
        onClose={closeDrawer}
        title="Pressroom"
        size="17rem"
        closeButtonProps={{ 'aria-label': 'Close the navigation' }}
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
