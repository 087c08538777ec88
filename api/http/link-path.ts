// The path of links to PDFs. Here and not beside the route, since the access log and the metrics
// must leave out the token, and http/ imports nothing of console/.

export const LINK_PATH = '/files';
/** As the router names it. */
export const LINK_ROUTE = `${LINK_PATH}/:token`;

export const isLinkPath = (path: string): boolean => path.startsWith(`${LINK_PATH}/`);
