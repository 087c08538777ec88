// A chart with a legend that shows the values of the hovered day. Screen readers get an image; the
// usage table has the same data.
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import classes from './chart.module.css';
import { type Drawing, draw, HEIGHT_PX } from './plot.ts';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

interface Props extends Drawing {
  /** The accessible name. */
  label: string;
}

/** Redraws when the identity of `days`, `series` or `format` changes. */
export default function Chart({ label, days, series, kind, format }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const [at, setAt] = useState<number | null>(null);
  useEffect(
    () => draw(container.current!, { days, series, kind, format }, scheme, setAt),
    [days, series, kind, format, scheme],
  );
  const day = at === null ? undefined : days[at];
  const figure = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : format(value);
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.legend}>
        {series.map(({ label: name, color, values }) => (
          <span key={name} className={classes.entry}>
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={color[scheme]} />
            </svg>
            {name}
            {day !== undefined && <b>{figure(values[at!])}</b>}
          </span>
        ))}
        <span className={classes.day}>{day === undefined ? '' : DAY.format(new Date(day))}</span>
      </figcaption>
      <div
        ref={container}
        role="img"
        aria-label={`${label}. The table “Usage by day” has the same data.`}
        style={{ minHeight: HEIGHT_PX }}
      />
    </figure>
  );
}
