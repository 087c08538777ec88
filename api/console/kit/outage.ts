// What people and apps hear while the database does not answer.

export const OUTAGE = {
  sentence: 'The database of this installation does not answer. Try again in a few seconds.',
  retryAfterS: 5,
};
