// A password input whose visibility button is reachable by keyboard.
import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** `showLabel`: the accessible name of the visibility button, such as “Show new password”. */
export const PasswordField = ({
  showLabel,
  ...props
}: PasswordInputProps & { showLabel: string }) => (
  <PasswordInput
    visibilityToggleButtonProps={{ 'aria-label': showLabel, tabIndex: 0 }}
    {...props}
  />
);
