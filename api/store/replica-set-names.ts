// What the replica set of a managed mongod and its one user are called. A file of its own, so that who only needs the names does not load the driver.

export const SET_NAME = 'pressroom';
export const USER = 'pressroom';
