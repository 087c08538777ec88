// The account switcher: a menu for a few accounts, a search dialog for many.
import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useSession } from '../session/session.tsx';
import classes from './shell.module.css';

const Palette = lazy(() => import('./palette.tsx'));

/** Above this number a search is faster than a list. */
const MAX_IN_MENU = 8;

export function AccountSwitcher() {
  const { me, account } = useSession();
  if (!account) return null;
  if (me.accounts.length === 1) return <span className={classes.accountName}>{account.name}</span>;
  return me.accounts.length > MAX_IN_MENU ? (
    <AccountSearch name={account.name} />
  ) : (
    <AccountMenu id={account.id} name={account.name} />
  );
}

const buttonProps = (name: string) =>
  ({
    variant: 'subtle',
    color: 'gray',
    size: 'sm',
    px: 'xs',
    className: classes.account,
    'aria-label': `Account: ${name}. Switch account`,
    rightSection: <ChevronsUpDown size={14} aria-hidden />,
  }) as const;

function AccountMenu({ id, name }: { id: string; name: string }) {
  const { me, openAccount } = useSession();
  return (
    <Menu position="bottom-start" width={260} withinPortal={false} alignItemsLabels="all">
      <Menu.Target>
        <Button {...buttonProps(name)}>{name}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={id} onChange={openAccount}>
          {me.accounts.map(account => (
            <Menu.RadioItem key={account.id} value={account.id} closeMenuOnClick>
              {account.name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountSearch({ name }: { name: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button {...buttonProps(name)} aria-haspopup="dialog" onClick={open}>
        {name}
      </Button>
      {opened && (
        <Suspense>
          <Palette onClose={close} accountsOnly />
        </Suspense>
      )}
    </>
  );
}
