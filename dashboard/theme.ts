// The Mantine theme: indigo on gray, with shades dark enough for white text.
import { createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'indigo',
  // White on indigo 6 has a contrast of 4.4; WCAG AA requires 4.5.
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  components: {
    // Mantine's default is upper case.
    Badge: { defaultProps: { tt: 'none' } },
    // A <header> in a dialog would count as a second banner landmark.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    // The placeholder is a child of role="menu" without a menu item role, and is not needed.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
  headings: { fontFamily: 'inherit', fontWeight: '600' },
});
