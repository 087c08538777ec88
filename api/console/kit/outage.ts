// The error message while the database is unavailable.

export const OUTAGE = {
  sentence: 'The database is temporarily unavailable. Try again in a few seconds.',
  retryAfterS: 5,
};
