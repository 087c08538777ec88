// The page's look: indigo on grey, small radii, shades dark enough for white words on them.
import { createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'indigo',
  // White on indigo 6 has a contrast of 4.4, just below what WCAG asks for.
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  components: {
    // Words as they are written everywhere else.
    Badge: { defaultProps: { tt: 'none' } },
    // Else each dialog would be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    // It would stand in the menu without being an item of it, and the focus finds its way in
    // without it.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
  headings: { fontFamily: 'inherit', fontWeight: '600' },
});
