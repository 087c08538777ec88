// The navigation: links to the screens, by section.
import { Link, useLocation } from 'wouter';
import { useSession } from '../session/session.tsx';
import classes from './shell.module.css';
import { ICONS, SECTION_TITLES, shownScreens } from './visible-screens.ts';

const isOpen = (location: string, path: string) =>
  path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);

/** Calls `after` when a link is clicked, so that a drawer can close. */
export function MainNavigation({ after }: { after?: () => void }) {
  const [location] = useLocation();
  const shown = shownScreens(useSession());
  return (
    <nav aria-label="Main">
      {(['account', 'settings', 'operator'] as const).map(section => {
        const ofSection = shown.filter(screen => screen.section === section);
        if (ofSection.length === 0) return null;
        return (
          <div key={section} className={classes.section}>
            <div id={`section-${section}`} className={classes.sectionTitle}>
              {SECTION_TITLES[section]}
            </div>
            <ul className={classes.links} aria-labelledby={`section-${section}`}>
              {ofSection.map(({ path, label }) => {
                const Icon = ICONS[path];
                return (
                  <li key={path}>
                    <Link
                      href={path}
                      className={classes.link}
                      aria-current={isOpen(location, path) ? 'page' : undefined}
                      {...(after && { onClick: after })}
                    >
                      {Icon && <Icon size={17} aria-hidden />}
                      {label}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
