// Which account is open, and the others: a menu of a few, a search among many.
import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useSession } from '../session/session.tsx';
import classes from './shell.module.css';

const Palette = lazy(() => import('./palette.tsx'));

/** With more than this a list is read slower than a name is typed. */
const SEARCHED_FROM = 8;

export function AccountSwitcher() {
  const { me, account } = useSession();
  if (!account) return null;
  if (me.accounts.length === 1) return <span className={classes.accountName}>{account.name}</span>;
  return me.accounts.length > SEARCHED_FROM ? (
    <Searched name={account.name} />
  ) : (
    <Few id={account.id} name={account.name} />
  );
}

const look = (name: string) =>
  ({
    variant: 'subtle',
    color: 'gray',
    size: 'sm',
    px: 'xs',
    className: classes.account,
    'aria-label': `Account: ${name}. Switch account`,
    rightSection: <ChevronsUpDown size={14} aria-hidden />,
  }) as const;

function Few({ id, name }: { id: string; name: string }) {
  const { me, openAccount } = useSession();
  return (
    <Menu position="bottom-start" width={260} withinPortal={false} alignItemsLabels="all">
      <Menu.Target>
        <Button {...look(name)}>{name}</Button>
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

function Searched({ name }: { name: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button {...look(name)} aria-haspopup="dialog" onClick={open}>
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
