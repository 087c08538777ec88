// One line of `pressroom doctor`: what was found, how bad it is, and how to fix it.
export type CheckLevel = 'ok' | 'warning' | 'error';

export interface DoctorCheck {
  subject: string;
  level: CheckLevel;
  message: string;
  /** One sentence. Absent when there is nothing to do. */
  fix?: string;
}

export const checkPassed = (subject: string, message: string): DoctorCheck => ({
  subject,
  level: 'ok',
  message,
});

export const checkWarning = (subject: string, message: string, fix: string): DoctorCheck => ({
  subject,
  level: 'warning',
  message,
  fix,
});

export const checkError = (subject: string, message: string, fix: string): DoctorCheck => ({
  subject,
  level: 'error',
  message,
  fix,
});

/** Hides user and password of the URLs in a text. */
export const withoutUserInfo = (text: string): string =>
  text.replaceAll(/(\w:\/\/)[^\s/?#@]*@/g, '$1…@');

/** `ok       Public URL: https://pdf.example.com.` */
export const checkLine = ({ subject, level, message, fix }: DoctorCheck): string =>
  `${level.padEnd(7)}  ${subject}: ${message}${fix === undefined ? '' : ` ${fix}`}\n`;
