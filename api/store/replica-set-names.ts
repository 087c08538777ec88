// Names of the replica set of a managed mongod and of its user. Apart from the driver: a process
// that needs only the names does not load it.

export const SET_NAME = 'pressroom';
export const USER = 'pressroom';
