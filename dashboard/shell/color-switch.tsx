// The theme menu: light, dark, or the setting of the system.
import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { Monitor, Moon, Sun } from 'lucide-react';

const CHOICES = [
  { value: 'light', label: 'Light', Icon: Sun },
  { value: 'dark', label: 'Dark', Icon: Moon },
  { value: 'auto', label: 'System', Icon: Monitor },
] as const;

export function ColorSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon, label } = CHOICES.find(({ value }) => value === colorScheme) ?? CHOICES[2];
  return (
    <Menu position="bottom-end" width={190} withinPortal={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Theme: ${label}`}>
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
