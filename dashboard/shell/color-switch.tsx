// Light, dark, or as the system says.
import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { Monitor, Moon, Sun } from 'lucide-react';

const CHOICES = [
  { value: 'light', label: 'Light', Icon: Sun },
  { value: 'dark', label: 'Dark', Icon: Moon },
  { value: 'auto', label: 'As the system', Icon: Monitor },
] as const;

export function ColorSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon, label } = CHOICES.find(({ value }) => value === colorScheme) ?? CHOICES[2];
  return (
    <Menu position="bottom-end" width={190} withinPortal={false}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={`Colours: ${label.toLowerCase()}`}
        >
          <Icon size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={value => setColorScheme(value as MantineColorScheme)}
        >
          {CHOICES.map(({ value, label: text }) => (
            <Menu.RadioItem key={value} value={value} closeMenuOnClick>
              {text}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
