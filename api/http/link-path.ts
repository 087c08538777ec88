// Where the PDF behind a link is served. Every link has a path of its own, whose token stands in no log and no number. Pure.

export const LINK_PATH = '/files';
/** As the router names it. */
export const LINK_ROUTE = `${LINK_PATH}/:token`;

export const isLinkPath = (path: string): boolean => path.startsWith(`${LINK_PATH}/`);
