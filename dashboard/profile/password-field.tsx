// A field for a password that can be shown, also by who has no mouse.
import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** `shows`: what the button in the field shows, such as “the new password”. */
export const PasswordField = ({ shows, ...props }: PasswordInputProps & { shows: string }) => (
  <PasswordInput
    visibilityToggleButtonProps={{ 'aria-label': `Show ${shows}`, tabIndex: 0 }}
    {...props}
  />
);
