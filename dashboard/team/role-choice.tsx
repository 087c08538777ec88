// Radio buttons to select a role, each with its permissions.
import { Radio, Stack } from '@mantine/core';
import { assignableRoles, type TeamRole } from './roles.ts';

interface Props {
  /** The role of the signed-in user. */
  own: string;
  value: TeamRole;
  onChange(role: TeamRole): void;
}

export function RoleChoice({ own, value, onChange }: Props) {
  return (
    <Radio.Group label="Role" value={value} onChange={role => onChange(role as TeamRole)}>
      <Stack gap="xs" mt={6}>
        {assignableRoles(own).map(({ role, label, description }) => (
          <Radio key={role} value={role} label={label} description={description} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
