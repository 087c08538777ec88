// The message while the database is unavailable.

export const OUTAGE = {
  sentence: 'The database of this installation does not answer. Try again in a few seconds.',
  retryAfterS: 5,
};
