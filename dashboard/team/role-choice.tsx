// The choice of a role, each with what it may do.
import { Radio, Stack } from '@mantine/core';
import { type Role, rolesToGive } from './roles.ts';

interface Props {
  /** The role of who chooses. */
  own: string;
  value: Role;
  onChange(role: Role): void;
}

export function RoleChoice({ own, value, onChange }: Props) {
  return (
    <Radio.Group label="Role" value={value} onChange={role => onChange(role as Role)}>
      <Stack gap="xs" mt={6}>
        {rolesToGive(own).map(({ role, label, may }) => (
          <Radio key={role} value={role} label={label} description={may} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
