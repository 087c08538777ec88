// The fields for a new user, shared by the pages of the setup and of an invitation.
import type { Markup } from '../../../common/contract/markup.ts';
import { MAX_PASSWORD, MIN_PASSWORD } from '../contract/users.ts';
import { type FormField, field } from '../html/page.ts';

type Shown = Pick<FormField, 'value' | 'error' | 'focus'>;

export const nameField = (shown: Shown): Markup =>
  field({ name: 'name', label: 'Your name', autocomplete: 'name', maxLength: 100, ...shown });

export const newPasswordField = (shown: Omit<Shown, 'value'>): Markup =>
  field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    hint: `Use at least ${MIN_PASSWORD} characters. A few random words work well.`,
    minLength: MIN_PASSWORD,
    maxLength: MAX_PASSWORD,
    ...shown,
  });
