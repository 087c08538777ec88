// The names of a managed mongod's replica set and user. A separate file, so that a process that needs
// only the names does not load the driver.

export const SET_NAME = 'pressroom';
export const USER = 'pressroom';
