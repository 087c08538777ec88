// The choice of a role, each with what it may do.
import { Radio, Stack } from '@mantine/core';
import { rolesToGive, type TeamRole } from './roles.ts';

interface Props {
  /** The role of who chooses. */
  own: string;
  value: TeamRole;
  onChange(role: TeamRole): void;
}

export function RoleChoice({ own, value, onChange }: Props) {
  return (
    <Radio.Group label="Role" value={value} onChange={role => onChange(role as TeamRole)}>
      <Stack gap="xs" mt={6}>
        {rolesToGive(own).map(({ role, label, may }) => (
          <Radio key={role} value={role} label={label} description={may} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
